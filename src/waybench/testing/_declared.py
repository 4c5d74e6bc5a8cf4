"""Checks of what an environment declares: names, options, metrics, presentation, pictures."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any
from xml.etree import ElementTree

from waybench.core import (
    IMAGE,
    Episode,
    EpisodeRecord,
    Invalid,
    Option,
    Presentation,
    TurnRecord,
    UsageError,
    base_wording_name,
    evenly_spaced_values,
    policy,
)
from waybench.core import Message as ChatMessage
from waybench.core._images import IMAGE_OPTIONS
from waybench.core._play import IMAGE_WORDINGS, RESERVED_NAMES
from waybench.core._texts import CORE_TEXTS, ENGLISH, ENGLISH_NAME, check_text_table
from waybench.testing._walks import (
    FOCUS,
    AnyEnvironment,
    AnyEpisode,
    ContractError,
    LazyMessage,
    episode_of_player,
    first_items,
    report_as_breach,
    require,
    require_distinct,
    require_one_line_refusal,
)

_FRAMES = 5  # of an episode, that are drawn
_IRREGULAR_PLURAL = re.compile(r"(?:s|x|z|ch|sh|[^aeiou]y)$")  # the end of nouns whose plural is not formed with "s"
_LEAST_ABOUT = 80  # characters
_BOARD_ID = "contract-board"
_TURNS = 10  # played with and without pictures
_VIEW_BOX = re.compile(r"0 0 [0-9.]+ [0-9.]+")


def check_names(environment: AnyEnvironment) -> None:
    """Id, version, title, description, levels and players are declared and have the right form."""
    require(re.fullmatch(r"[a-z0-9_-]+/[a-z0-9_-]+", environment.id), f'id {environment.id!r}: give "family/variant"')
    require(environment.version >= 1, f"version {environment.version}: count from 1")
    require(environment.title.strip(), "the environment has no title")
    length = len(environment.about)
    too_short = "about says too little for a page of documentation: it has {} characters, and {} are enough"
    require(length >= _LEAST_ABOUT, too_short, length, _LEAST_ABOUT)
    require(environment.items.public_key, "the environment has no public key")
    levels = environment.items.sample_levels
    require(levels, "the environment has no sample levels")
    require(list(levels) == sorted(set(levels)), f"sample_levels {levels}: give each once, easiest first")
    missing = {"heuristic", "oracle"} - set(environment.players.policies)
    require(not missing, f"the environment lacks the players {sorted(missing)}")
    for name in environment.players.policies:
        require(re.fullmatch(r"[a-z][a-z0-9_-]*", name), f"player {name!r}: use small letters, digits, - and _")
    require("null" not in environment.players.policies, 'the player "null" is the same everywhere: leave it out')


def check_options(environment: AnyEnvironment) -> None:
    """Options are documented, their defaults pass their own check, and every choice can be played."""
    for kind, options in (("option", environment.playing.options), ("source option", environment.items.options)):
        require_distinct([option.name for option in options], f"{kind}s")
        for option in options:
            FOCUS.look_at(subject=option.name)
            reserved = f"{kind} {option.name!r}: a parameter of every task has this name: choose another one"
            require(option.name not in RESERVED_NAMES, reserved)
            _check_option(kind, option)
    taken = {option.name for option in (*environment.playing.options, *environment.extension_options)}
    for option in environment.items.options:
        FOCUS.look_at(subject=option.name)
        require(option.name not in taken, "source option {!r}: an option of play has this name", option.name)
    by_name = {option.name: option for option in environment.playing.options}
    for name in ("protocol", "wording"):
        require(by_name[name].choices, f"option {name}: list its choices")
    require(set(by_name["protocol"].choices) <= {"paper", "sound"}, 'protocol is "paper" or "sound"')
    item = first_items(environment, environment.items.smallest_level, 1)[0]
    for option in environment.playing.options:
        if option.name not in ("protocol", "wording"):
            for value in option.choices or (option.default,):
                needed_options = {"wording": IMAGE} if option.name in IMAGE_OPTIONS else {}
                FOCUS.look_at(subject=option.name)
                record = Episode(environment, item, {**needed_options, option.name: value}).record()
                require(record.options[option.name] == value, f"option {option.name}: {value!r} is not in the record")
    for option in environment.items.options:
        # Other choices than the default of an option with tables of its own may need programs that are not installed.
        values = option.choices if option.choices and not option.separate_tables else (option.default,)
        for value in values:
            environment.source(None, None, **{option.name: value}).item(0)


def check_languages(environment: AnyEnvironment) -> None:
    """Each language has the texts of the English table, with the same fields."""
    tables = environment.playing.texts
    require(not tables or next(iter(tables)) == ENGLISH_NAME, "Playing.texts: English, {!r}, is first", ENGLISH_NAME)
    for language, table in tables.items():
        FOCUS.look_at(subject=f"texts of {language}")
        require(language in CORE_TEXTS, "Playing.texts: waybench itself has no texts in {!r}", language)
        try:
            check_text_table(table, tables[ENGLISH_NAME], f"Playing.texts, {language}")
        except UsageError as error:
            raise ContractError(str(error)) from error


def _check_option(kind: str, option: Option) -> None:
    """Check name, description, type, default and choices of an option; `kind` names it in messages."""
    label = LazyMessage("{} {!r}", kind, option.name)
    _require_name_and_doc(option, label, "what it does")
    require(option.type in (bool, int, float, str), "{}: give kind, for the default is {!r}", label, option.default)
    try:
        require(option.check(option.default) == option.default, "{}: its default does not stay what it is", label)
        for choice in option.choices:
            require(option.check(choice) == choice, "{}: its choice {!r} does not stay what it is", label, choice)
    except UsageError as error:
        raise ContractError(f"{label}: its own values do not pass its check: {error}") from error
    bad_values: list[object] = [[], {}, float("nan"), "\ud800"]
    bad_values += [bound + step for bound, step in ((option.low, -1), (option.high, 1)) if bound is not None]
    for value in bad_values:
        with require_one_line_refusal(UsageError, label):
            option.check(value)
            takes_any_text = option.type is str and not option.choices
            require(takes_any_text and isinstance(value, str | float), "{} takes {!r}", label, value)


def _require_name_and_doc(part: Any, label: object, doc_subject: str) -> None:
    """Require a valid name, and a description that is a sentence; `doc_subject` is what it should say."""
    require(re.fullmatch(r"[a-z][a-z0-9_]*", part.name), "{}: a name has small letters, digits and _", label)
    require(part.doc.strip().endswith("."), "{}: say in a sentence {}", label, doc_subject)


def check_failures_declared(environment: AnyEnvironment) -> None:
    """Kinds of failure have names of their own, a title that completes "fails by ...", and a sentence."""
    require_distinct([kind.name for kind in environment.scoring.failures], "kinds of failure")
    for kind in environment.scoring.failures:
        label = f"kind of failure {kind.name!r}"
        FOCUS.look_at(subject=kind.name)
        _require_name_and_doc(kind, label, "which episodes fail so")
        require(kind.title.strip(), f'{label} has no title; give what completes "fails by ..."')
    require_distinct(sorted(kind.title for kind in environment.scoring.failure_kinds), "titles of kinds of failure")


def check_metrics_declared(environment: AnyEnvironment) -> None:
    """Metrics are documented, their ranges and directions make sense, and aggregates are made of them."""
    scoring = environment.scoring
    require(scoring.metrics, "the environment has no metric")
    names = [metric.name for metric in scoring.metrics]
    require_distinct(names, "metrics")
    series_names = {series.name for series in scoring.series}
    shared_names = sorted(series_names.intersection(names))  # `waybench score` writes both into one object
    require(not shared_names, f"metrics and series of one name: {shared_names}")
    for metric in scoring.metrics:
        label = LazyMessage("metric {!r}", metric.name)
        FOCUS.look_at(subject=metric.name)
        require(metric.title.strip() and metric.doc.strip().endswith("."), "{}: give a title and a sentence", label)
        _require_name_and_doc(metric, label, "what it measures")
        require(metric.better in ("higher", "lower", ""), "{}: better is {!r}", label, metric.better)
        low, high = metric.low, metric.high
        is_ordered = low is None or high is None or low < high
        require(is_ordered, "{}: its floor {} is not below its ceiling {}", label, low, high)
    for measure in (*scoring.metrics, *scoring.series):
        FOCUS.look_at(subject=measure.name)
        require(
            measure.range or measure.unbounded or None not in (measure.low, measure.high),
            f"{measure.name!r} has no bounds: give low and high, or a range, or say why there are none (unbounded)",
        )
    for measure in (*scoring.metrics, *scoring.aggregates):
        if (size := measure.sample_size) is not None:
            label = LazyMessage("{!r}: its sample size", measure.name)
            require(size.fewest > 1 and size.units.strip(), "{} has a number above 1 and units", label)
            require(size.doc.strip().endswith("."), "{}: say in a sentence what happens with fewer", label)
    for aggregate in scoring.aggregates:
        label = LazyMessage("aggregate {!r}", aggregate.name)
        _require_name_and_doc(aggregate, label, "what it measures")
        require(aggregate.name not in series_names.union(names), "{}: its name is taken", label)
        has_titles = aggregate.title.strip() and aggregate.part.strip()
        require(has_titles, "{}: give a title and say what its metrics are", label)
        require(aggregate.metrics, "{} is made of no metric", label)
        for metric in aggregate.metrics:
            name = metric.name
            require(metric in scoring.metrics, "{}: the environment has no metric {!r}", label, name)
            require(metric.per is None, "{}: {!r} is a share of something, whose mean is not over items", label, name)
    require_distinct([aggregate.name for aggregate in scoring.aggregates], "aggregates")


def check_presentation_declared(environment: AnyEnvironment, family: Sequence[AnyEnvironment] = ()) -> None:
    """Names have plurals, and every metric and every environment that is named exists.

    `family` are other environments that share the presentation, whose metrics may be named there too.
    """
    presentation = environment.presentation
    for noun in ("level", "item", "cluster"):
        singular, plural = getattr(presentation, noun), getattr(presentation, f"{noun}s")
        require(singular or noun == "cluster", f"presentation: give {noun}, the name of one")
        require(bool(singular) == bool(plural), f"presentation: give {noun} beside {noun}s")
        is_wrong = singular and plural == f"{singular}s" and _IRREGULAR_PLURAL.search(singular)
        require(not is_wrong, f"presentation: {plural!r} is not the plural of {singular!r}: give {noun}s")
    require(
        not presentation.cluster or environment.items.cluster is not None,
        "presentation: cluster has a name, and the environment declares no cluster",
    )
    metrics = _metric_and_aggregate_names(environment)
    all_metrics = metrics.union(*map(_metric_and_aggregate_names, family))
    for name in chain(
        presentation.metrics,
        *presentation.pairs.values(),
        *presentation.panels.values(),
        presentation.by_cluster,
        [presentation.shared],
    ):
        require(not name or name in all_metrics, f"presentation: there is no metric {name!r}")
    require(
        not presentation.metrics or metrics.intersection(presentation.metrics),
        f"presentation: {environment.id} has none of the metrics of its table",
    )
    ids = {environment.id, *(relative.id for relative in family)}
    for name in chain(*presentation.parts.values(), *presentation.modes.values()):
        require(name in ids, f"presentation: {name!r} is not an environment with this presentation")
    for name, required_name, problem in (
        ("draw_frames", "draw", "draw_frames without draw"),
        ("draw_cluster", "cluster", "draw_cluster without the name of a cluster"),
        ("cluster_legend", "draw_cluster", "there is a cluster_legend and no draw_cluster"),
        ("legend", "draw", "there is a legend and no drawing"),
        ("reference", "draw", "there is a reference and no drawing"),
    ):
        require(not getattr(presentation, name) or getattr(presentation, required_name), f"presentation: {problem}")
    for name in ("lead", "legend", "cluster_legend", "undefined"):
        text = getattr(presentation, name).strip()
        require(not text or text.endswith("."), f"presentation: write {name} in whole sentences")


def _metric_and_aggregate_names(environment: AnyEnvironment) -> set[str]:
    """Return the names of an environment's metrics and aggregates."""
    return {metric.name for metric in (*environment.scoring.metrics, *environment.scoring.aggregates)}


def check_presentation(environment: AnyEnvironment, level: int) -> None:
    """The drawings and the board work on records of played episodes, before the first turn and after the last."""
    presentation = environment.presentation
    for item in first_items(environment, level, 1):
        for player in ("null", "random", "oracle"):
            episode = episode_of_player(environment, item, player)
            with report_as_breach(f"item {item.id}, {player}: the presentation"):
                record = EpisodeRecord.from_json(episode.record().to_json())
                _check_drawings(presentation, environment.items.decode(record.instance), record.turns)
                _check_board(environment, episode)


def _check_board(environment: AnyEnvironment, episode: Episode[Any, Any, Any]) -> None:
    """Check that the board of a state shows something, and that every listed action can be typed."""
    if environment.presentation.board is not None:
        board = environment.presentation.board(episode.state, episode.turns)
        contents = [tile.text + tile.colour for row in board.rows for tile in row] + [*board.notes]
        require("".join(contents).strip(), "presentation: its board is empty")
    if environment.typing.actions is None or episode.done:
        return
    typed_actions = environment.typing.actions(episode.state)
    for attribute in ("typed", "key"):
        values = [value for action in typed_actions if (value := getattr(action, attribute))]
        require(len(set(values)) == len(values), f"typed_actions: two actions have the same {attribute}")
    for action in typed_actions:
        parsed = environment.typing.parse and environment.typing.parse(action.typed, episode.state)
        if parsed is None:  # what is typed can be a whole reply, too
            parsed = episode.play.wording.parse(action.typed, episode.state)
        require(not isinstance(parsed, Invalid), f"typed_actions: {action.typed!r} is not understood")


def _check_drawings(presentation: Presentation, instance: Any, turns: Sequence[TurnRecord]) -> None:
    """Check that the drawings of an episode, and of its start, are SVG."""
    if presentation.draw_cluster is not None:
        _require_svg(presentation.draw_cluster(instance), "draw_cluster")
    if presentation.draw is None:
        return
    for drawn_turns in (turns[:0], turns):
        _require_svg(presentation.draw(instance, drawn_turns), "draw")
        _require_svg(presentation.draw(instance, drawn_turns, board_id=_BOARD_ID, reuse=True), "draw with reuse")
    if presentation.draw_frames is not None:
        counts = evenly_spaced_values(range(len(turns) + 1), _FRAMES)
        frames = list(presentation.draw_frames(instance, turns, counts))
        require(len(frames) == len(counts), f"draw_frames gave {len(frames)} drawings for {len(counts)} counts")
        for frame in frames:
            _require_svg(frame, "draw_frames")


def _require_svg(text: object, label: str) -> None:
    """Require that a drawing is well-formed XML with the root element `<svg>`."""
    require(isinstance(text, str), "{} gave no text", label)
    try:
        tag = ElementTree.fromstring(str(text)).tag
    except ElementTree.ParseError as error:
        raise ContractError(f"{label} gave no SVG: {error}") from None
    require(tag.rpartition("}")[2] == "svg", "{} gave <{}>, not <svg>", label, tag)


def check_pictures(environment: AnyEnvironment, level: int) -> None:
    """Pictures replace texts of the messages, and the same replies lead to the same turns with and without pictures.

    Pictures of different texts differ (`Picture.texts`).
    """
    if environment.playing.images is None:
        return
    item = first_items(environment, level, 1)[0]
    for protocol in next(option for option in environment.playing.options if option.name == "protocol").choices:
        for wording in IMAGE_WORDINGS:
            texts_by_svg: dict[str, tuple[tuple[str, str], ...]] = {}
            for player in ("oracle", "random"):
                options = {**environment.playing.check_options, "protocol": protocol, "wording": wording}
                for message in _messages_with_pictures(environment, item, options, player):
                    assert message.picture is not None
                    svg, label = message.picture.svg, f"{options}, {player}"
                    root = ElementTree.fromstring(svg)
                    require(root.tag == "svg", "{}: a picture is no <svg>", label)
                    has_view_box = _VIEW_BOX.fullmatch(root.get("viewBox", ""))
                    require(has_view_box, "{}: a picture has no view box from 0 0", label)
                    texts = message.picture.texts
                    require(texts_by_svg.setdefault(svg, texts) == texts, "{}: one picture of two descriptions", label)
                    for name, text in texts:
                        is_in_message = bool(text) and text in message.text
                        require(wording != "image" or not is_in_message, "{}: {!r} is in the text, too", label, name)


def _messages_with_pictures(
    environment: AnyEnvironment, item: Any, options: dict[str, Any], player: str
) -> Iterator[ChatMessage]:
    """Play an episode with and without pictures, require the same turns, and yield messages with pictures."""
    pictured: AnyEpisode = Episode(environment, item, options)
    plain: AnyEpisode = Episode(environment, item, {**options, "wording": base_wording_name(pictured.options)})
    require(pictured.messages[-1].picture is not None, "{}: the opening has no picture", options)
    replying_policy = policy(player)
    for _ in range(_TURNS):
        if pictured.done:
            break
        if pictured.messages[-1].picture is not None:
            yield pictured.messages[-1]
        if options["wording"] == "image":
            refers_to_picture = any(ENGLISH["picture.place"] in message.text for message in pictured.messages)
            replaces_text = refers_to_picture or pictured.messages[0] != plain.messages[0]
            require(replaces_text, "{}: the picture takes the place of nothing", options)
        reply = replying_policy.reply(pictured)
        turn, plain_turn = (episode.step(reply)._replace(message="") for episode in (pictured, plain))
        require(turn == plain_turn, "{}: with a picture the same reply has another outcome", options)
    opening = pictured.record().opening
    require(all(message.picture is None for message in opening), "{}: a record has a picture", options)
