"""Texts by language: the tables, the option, files of users, and records."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from waybench.core import (
    DataInstance,
    Episode,
    EpisodeRecord,
    Invalid,
    Question,
    ReplayError,
    Texts,
    ToolCall,
    UsageError,
    play_to_end,
    policy,
    question_environment,
    reply_of_calls,
)
from waybench.core import replay as confirm
from waybench.core._languages import language_toml, languages_of
from waybench.core._texts import CORE_TEXTS, check_text_table, texts_in
from waybench.core._wording import ActionTool
from waybench.envs import registry
from waybench.testing import check_environment

TRANSLATED = ("maze/alicia", "sokoban/rooms", "textmap/route", "textmap/destination")
SIDES = ("left", "right")
FIELD = re.compile(r"\{[a-z_]+\}")
SPANISH = {"language": "es"}


def first_item(env_id: str) -> Any:
    env = waybench.load(env_id)
    return env.source(level=env.items.smallest_level).item(0)


def played(env_id: str, player: str, options: dict[str, Any]) -> EpisodeRecord:
    return play_to_end(waybench.load(env_id), first_item(env_id), policy(player), options).record()


def wordings(env_id: str) -> list[str]:
    options = (option for option in waybench.load(env_id).playing.options if option.name == "wording")
    return list(option.choices if (option := next(options, None)) else ["plain"])


WAYS = [
    (env_id, {"wording": wording, "protocol": protocol, **interface})
    for env_id in TRANSLATED
    for wording in wordings(env_id)
    for protocol in ("sound", "paper")[: 1 if env_id == "sokoban/rooms" else 2]
    for interface in ({}, {"interface": "tools"})
]


@pytest.mark.parametrize("tables", [CORE_TEXTS, *(waybench.load(env_id).playing.texts for env_id in TRANSLATED)])
def test_every_english_text_is_there_in_spanish_with_its_fields(tables: Any) -> None:
    assert tables["en"].keys() == tables["es"].keys()
    for name, text in tables["en"].items():
        assert sorted(set(FIELD.findall(text))) == sorted(set(FIELD.findall(tables["es"][name]))), name
        if len(text.split()) > 3 and "{paths}" not in text:
            assert text != tables["es"][name], name


def test_the_environments_with_other_languages() -> None:
    found = [entry.id for entry in registry.built_in if languages_of(registry.load(entry.id)) != ("en",)]
    assert sorted(found) == sorted(TRANSLATED)
    assert languages_of(waybench.load("maze/alicia")) == ("en", "es")


@pytest.mark.parametrize(("env_id", "options"), WAYS)
def test_players_have_the_same_scores_in_spanish(env_id: str, options: dict[str, Any]) -> None:
    env = waybench.load(env_id)
    for player in ("oracle", "null"):
        spanish, english = (played(env_id, player, {**options, **more}) for more in (SPANISH, {}))
        assert env.measure(spanish)[env.scoring.metrics[0].name] == env.measure(english)[env.scoring.metrics[0].name]
        assert spanish.instance_hash == english.instance_hash
        assert spanish.opening[0].text != english.opening[0].text
        assert [turn.action for turn in spanish.turns] == [turn.action for turn in english.turns]
        confirm(env, spanish)
    assert {turn.outcome for turn in played(env_id, "oracle", {**options, **SPANISH}).turns} == {"ok"}
    assert env.measure(played(env_id, "oracle", {**options, **SPANISH}))[env.scoring.metrics[0].name] in (1, 100)
    assert env.measure(played(env_id, "null", {**options, **SPANISH}))[env.scoring.metrics[0].name] == 0


def test_english_is_in_no_record() -> None:
    for options in ({}, {"language": "en"}):
        record = played("maze/alicia", "oracle", options)
        assert not [name for name in record.options if "language" in name]
    assert played("maze/alicia", "oracle", SPANISH).options["language"] == "es"


def test_directions_are_read_in_the_language_alone() -> None:
    episode = Episode(waybench.load("maze/alicia"), first_item("maze/alicia"), SPANISH)
    state, wording = episode.state, episode.play.wording
    assert wording.parse('{"movements": [{"direction": "Abajo", "cells": 3}]}', state) == (("down", 3),)
    refused = wording.parse('{"movements": [{"direction": "down", "cells": 3}]}', state)
    assert refused == Invalid('Movimiento 1: la dirección debe ser arriba, abajo, derecha o izquierda, no "down".')
    english = Episode(waybench.load("maze/alicia"), first_item("maze/alicia")).play.wording
    assert isinstance(english.parse('{"movements": [{"direction": "abajo", "cells": 3}]}', state), Invalid)


@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_norte_is_the_map_s_north(protocol: str) -> None:
    env = waybench.load("textmap/route")
    words = {"north": "norte", "south": "sur", "east": "este", "west": "oeste"}
    items = [env.source(level=1).item(index) for index in range(20)]
    item, actions = next(
        (item, actions)
        for item in items
        if set(actions := [hop[1] for hop in play_to_end(env, item, policy("oracle")).turns[0].action]) <= words.keys()
    )
    reply = play_to_end(env, item, policy("oracle"), {"protocol": protocol, "wording": "plain"}).turns[0].reply
    for action in set(actions):
        reply = reply.replace(f'"action": "{action}"', f'"action": "{words[action]}"')
    spanish = Episode(env, item, {"protocol": protocol, "wording": "plain", **SPANISH})
    spanish.step(reply)
    assert (spanish.end_reason, [hop[1] for hop in spanish.turns[0].action]) == ("solved", actions)
    english = Episode(env, item, {"protocol": "sound", "wording": "plain"})
    english.step(reply)
    assert english.end_reason == "failed"


def test_reasons_of_all_kinds_are_in_the_language() -> None:
    env = waybench.load("maze/alicia")
    tools = Episode(env, first_item("maze/alicia"), {**SPANISH, "interface": "tools"})
    text = Episode(env, first_item("maze/alicia"), {**SPANISH, "requests": 1000})
    assert "Actúa llamando a una herramienta" in tools.messages[0].text
    (tool,) = tools.play.wording.tools(tools.state)
    assert isinstance(tool, ActionTool)
    enum = tool.parameters["movements"]["items"]["properties"]["direction"]["enum"]
    assert (tool.name, sorted(enum)) == ("move", ["abajo", "arriba", "derecha", "izquierda"])
    for reply, reason in (
        ("hola", "La respuesta no tiene ninguna llamada a una herramienta."),
        (reply_of_calls("", [ToolCall("go", {})]), 'No hay ninguna herramienta "go"; las herramientas son: move.'),
        (
            reply_of_calls("", [ToolCall("move", {"movements": [{"direction": "down", "cells": 1}]})]),
            "Argumentos incorrectos en la llamada a move: movements[0].direction debe ser uno de los valores "
            'indicados, no "down".',
        ),
    ):
        assert tools.play.wording.parse(reply, tools.state) == Invalid(reason)
    for reply, reason in (
        ("", 'La respuesta no tiene ningún objeto JSON con la clave "movements".'),
        ('{"movements": 1', 'El último objeto JSON con "movements" está mal formado.'),
        ('{"movements": {}}', '"movements" debe ser una lista de objetos, no un objeto.'),
    ):
        assert text.step(reply).reason == reason
    truncated = text.step(waybench.core.Reply("{", stop="truncated"))
    assert truncated.reason == CORE_TEXTS["es"]["stop.truncated"]


def test_pictures_contexts_and_templates_are_in_the_language(tmp_path: Path) -> None:
    env, item = waybench.load("maze/alicia"), first_item("maze/alicia")
    (picture,) = Episode(env, item, {**SPANISH, "wording": "image"}).messages
    assert "(véase la imagen)" in picture.text
    assert "Yo soy el punto naranja." in picture.text
    assert "orange" not in picture.text
    (among,) = Episode(env, item, {**SPANISH, "context_tokens": 2000}).messages
    assert "Haz ahora solo la tarea" in among.text
    path = tmp_path / "short.txt"
    path.write_text("{legend}\n{maze}")
    (short,) = Episode(env, item, {**SPANISH, "wording": f"file:{path}"}).messages
    assert short.text.startswith("El laberinto es una matriz")


def test_no_probes_in_another_language() -> None:
    assert Episode(waybench.load("maze/alicia"), first_item("maze/alicia")).beliefs
    assert not Episode(waybench.load("maze/alicia"), first_item("maze/alicia"), SPANISH).beliefs


@pytest.mark.parametrize("entry", [entry.id for entry in registry.built_in])
def test_an_unknown_language_is_refused_with_those_there_are(entry: str) -> None:
    environment = registry.load(entry)
    with pytest.raises(UsageError, match=r"language=xx: .*\ben\b") as error:
        environment.resolve_options({"language": "xx"})
    assert "\n" not in str(error.value)
    assert ("en, es;" in str(error.value)) == (entry in TRANSLATED)
    if entry not in TRANSLATED:
        with pytest.raises(UsageError, match=f"{entry} has its texts in one language only: en"):
            environment.resolve_options({"language": "es"})


def test_a_whole_language_from_a_file(tmp_path: Path) -> None:
    env, item, path = waybench.load("maze/alicia"), first_item("maze/alicia"), tmp_path / "mine.toml"
    path.write_text(language_toml(env, "es").replace('"es"', '"ca"', 1).replace("abajo", "avall"), "utf-8")
    option = {"language": f"file:{path}"}
    episode = play_to_end(env, item, policy("oracle"), option)
    assert "direction: arriba, avall, derecha o izquierda" in episode.record().opening[0].text
    assert episode.end_reason == "solved"
    assert "avall" in episode.turns[0].reply
    record = EpisodeRecord.from_json(episode.record().to_json())
    assert re.fullmatch("file:ca-[0-9a-f]{8}", record.options["language"])
    path.unlink()
    confirm(env, record)  # the record has the texts
    texts = {**record.options["language_texts"], "direction.down": "baix"}
    with pytest.raises(UsageError, match="its texts are not those of language=file:ca-"):
        confirm(env, replace(record, options={**record.options, "language_texts": texts}))
    without = {name: value for name, value in record.options.items() if name != "language_texts"}
    with pytest.raises(ReplayError, match="language names a file"):
        confirm(env, replace(record, options=without))


def test_a_file_with_a_base_has_some_texts_in_nested_tables(tmp_path: Path) -> None:
    env, path = waybench.load("maze/alicia"), tmp_path / "mine.toml"
    path.write_text('language = "es-MX"\nbase = "es"\n[feedback]\nsolved = "¡Llegué a {place}!"\n', "utf-8")
    episode = play_to_end(env, first_item("maze/alicia"), policy("oracle"), {"language": f"file:{path}"})
    assert episode.turns[0].message.startswith("¡Llegué a [")
    assert "Necesito atravesar un laberinto" in episode.record().opening[0].text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('base = "en"', "give language"),
        ('language = "FR!"', "give language"),
        ('language = "fr"\nbase = "de"', "unknown base 'de': choose from en, es"),
        ('language = "fr"', "texts are missing, such as"),
        ('language = "fr"\nbase = "en"\nnothing = "x"', "there is no text of the name 'nothing'"),
        ('language = "fr"\nbase = "en"\nhint = " "', "hint is empty"),
        ('language = "fr"\nbase = "en"\nhint = "ici"', r"hint: its fields are not those of the English text: \{exit\}"),
        ('language = "fr"\nbase = "en"\nhint = "{exit}{x.__class__} {size}"', "hint: its fields are not those"),
        ('language = "fr"\nbase = "en"\nhint = 3', "hint must be a text"),
        ('language = "fr"\nbase = "en"\ndirection.up = "down"', "two directions have the same word"),
        ("language", "not valid TOML"),
    ],
)
def test_an_unfit_file_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=why) as error:
        waybench.load("maze/alicia").resolve_options({"language": f"file:{path}"})
    assert str(error.value).startswith(f"language=file:{path}")


def test_braces_of_values_are_no_fields() -> None:
    texts = texts_in("en", {"en": {"said": "{reason} {other}"}})
    assert texts.fill("said", reason="{other}", other="{reason}") == "{other} {reason}"


def test_a_table_without_a_text() -> None:
    english = dict(CORE_TEXTS["en"])
    check_text_table(english, english, "mine")
    with pytest.raises(UsageError, match=r"mine: 1 texts are missing, such as call\.none"):
        check_text_table({name: text for name, text in english.items() if name != "call.none"}, english, "mine")


def test_an_environment_without_texts_writes_none() -> None:
    with pytest.raises(UsageError, match="search/dfs has no texts in 'en'"):
        language_toml(waybench.load("search/dfs"), "en")


@dataclass(frozen=True, slots=True)
class Hand(DataInstance):
    """Which hand is meant."""

    number: int


def ask(hand: Hand, texts: Texts) -> str:
    return texts.fill("prompt", number=hand.number)


HANDS = question_environment(
    Question(
        ask,
        lambda hand: SIDES[hand.number % 2],
        choices=lambda hand: SIDES,
        texts={
            "en": {"prompt": "On which side is {number}?", "choice.left": "left", "choice.right": "right"},
            "es": {"prompt": "¿De qué lado está {number}?", "choice.left": "izquierda", "choice.right": "derecha"},
        },
    ),
    Hand,
    lambda rng, level: Hand(2 * rng.below(10**6) + level),
    lambda hand: hand.number % 2,
    id="test/hands",
    title="Hands",
    about="A player says on which side a number is. It measures nothing, and is for tests of the kit alone.",
    sample_levels=(0, 1),
    highest_level=1,
    public_key="hands-v1",
)


@pytest.mark.slow
def test_a_question_of_the_kit_in_two_languages(tmp_path: Path) -> None:
    check_environment(HANDS, 1)
    assert languages_of(HANDS) == ("en", "es")
    item = HANDS.source(level=1).item(0)
    episode = Episode(HANDS, item, SPANISH)
    assert re.match(r"¿De qué lado está \d+\?\nLa última línea .*: izquierda, derecha\.$", episode.messages[0].text)
    parse, state = episode.play.wording.parse, episode.state
    replies = (
        "derecha",
        "Pienso.\nMi respuesta final es: **Derecha**",
        "Respuesta: derecha\nEso es.",
        "answer: derecha",
    )
    assert [parse(reply, state) for reply in replies] == ["right"] * 4
    assert [type(parse(reply, state)) for reply in ("right", "izquierda o derecha", "la pregunta: derecha")] == [
        Invalid
    ] * 3
    for interface in ({}, {"interface": "tools"}):
        oracle = play_to_end(HANDS, item, policy("oracle"), {**SPANISH, **interface})
        assert (oracle.end_reason, "derecha" in oracle.turns[0].reply) == ("solved", True)
        confirm(HANDS, oracle.record())
    assert Episode(HANDS, item).play.wording.parse("derecha", state) == Invalid(
        "The last line of your reply has to be one of these answers, and nothing else: left, right."
    )
    path = tmp_path / "mine.toml"
    path.write_text('language = "fr"\nbase = "en"\n[choice]\nleft = "gauche"\nright = "droite"\n')
    french = play_to_end(HANDS, item, policy("oracle"), {"language": f"file:{path}"})
    assert (french.end_reason, french.turns[0].reply) == ("solved", "droite")


def test_choices_of_the_kit_in_a_language_of_a_file(tmp_path: Path) -> None:
    environment, item, path = waybench.load("sokoban/rooms"), first_item("sokoban/rooms"), tmp_path / "mine.toml"
    path.write_text(language_toml(environment, "es").replace('"es"', '"ca"', 1).replace("arriba", "amunt"), "utf-8")
    episode = Episode(environment, item, {"language": f"file:{path}"})
    assert "una de estas acciones: amunt, abajo, izquierda, derecha." in episode.messages[0].text
    assert episode.messages[0].text.count("La sala:") == 1
    parse, state = episode.play.wording.parse, episode.state
    assert [parse(reply, state) for reply in ("¡Amunt!", "izquierda")] == ["up", "left"]
    assert parse("up", state) == Invalid("La respuesta no nombra ninguna acción de la lista.")
    assert parse("amunt o abajo", state) == Invalid("La respuesta nombra más de una acción: nombra exactamente una.")
    (tool,) = episode.play.wording.tools(state)
    assert isinstance(tool, ActionTool)
    assert (tool.doc, tool.parameters["action"]["enum"][0]) == ("Realiza una de las acciones.", "amunt")
    path.write_text('language = "fr"\nbase = "en"\n[action]\nup = "haut"\ndown = "haut"\n')
    with pytest.raises(UsageError, match="two actions have the same word"):
        environment.resolve_options({"language": f"file:{path}"})
