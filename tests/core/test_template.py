"""Wordings from a file: fields, what is left to the base wording, identity, and one clear line for each mistake."""

from dataclasses import replace
from pathlib import Path

import pytest

import waybench
from waybench.core import Episode, EpisodeRecord, UsageError, base_wording_name, replay
from waybench.core._template import TemplateWording

MAZE = waybench.load("maze/alicia")
GTB = waybench.load("tilemap/gtb")


def write(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return f"file:{path}"


def opening(reference: str, env: str = "maze/alicia") -> str:
    environment = waybench.load(env)
    episode = Episode(environment, environment.source().item(0), {"wording": reference})
    return "\n---\n".join(message.text for message in episode.messages)


def test_a_text_file_is_the_template_of_the_rules(tmp_path: Path) -> None:
    text = 'From {entrance}, {dimension} wide, as {"movements": [{"direction": "up", "cells": 1}]} or {{maze}}.\n'
    assert opening(write(tmp_path / "mine.txt", text)) == (
        'From [3,0], 5 wide, as {"movements": [{"direction": "up", "cells": 1}]} or {maze}.'
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["mine.txt", "mine.toml"])
def test_a_template_of_any_editor_is_the_same(tmp_path: Path, name: str, encoding: str) -> None:
    text = "Übung:\n{maze}\n" if name.endswith("txt") else 'rules = """\nÜbung:\n{maze}\n"""\n'
    plain = opening(write(tmp_path / name, text))
    assert plain.startswith("Übung:\n")
    (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode(encoding))
    assert opening(f"file:{tmp_path / name}") == plain


def test_observations_stay_those_of_the_base_wording(tmp_path: Path) -> None:
    reference = write(tmp_path / "mine.txt", "The maze: {maze}")
    mine, own = (
        Episode(MAZE, MAZE.source().item(0), options) for options in ({"wording": reference}, {"wording": "matrix"})
    )
    assert mine.step("no JSON").message == own.step("no JSON").message


def test_a_toml_file_can_have_all_texts_and_a_base(tmp_path: Path) -> None:
    reference = write(
        tmp_path / "mine.toml",
        'base = "ascii"\nrules = """\n{maze}\n"""\nfirst = "Go!"\nobservation = "{turn}: {feedback} At {position}."\n',
    )
    episode = Episode(MAZE, MAZE.source().item(0), {"wording": reference})
    assert base_wording_name(episode.options) == "ascii"
    drawing, go = episode.messages[0].text.rsplit("\n\n", 1)
    assert set(drawing) == set("#.X\n")
    assert go == "Go!"
    message = episode.step('{"movements": [{"direction": "up", "cells": 1}]}').message
    assert message.startswith("1: Movement 1 (direction: up, cells: 1) is not viable: it leaves the maze.")
    assert message.endswith(" At [3,0].")


def test_without_a_first_text_the_observation_stands_where_the_base_has_a_first_one(tmp_path: Path) -> None:
    reference = write(tmp_path / "mine.toml", 'observation = "To {target} from {position}."')
    assert opening(reference, "tilemap/gtb").splitlines()[-1] == "To ['S', 3, 3] from (2, 6)."
    assert opening(write(tmp_path / "maze.toml", 'observation = "At {position}."')) == opening_of_matrix()


def opening_of_matrix() -> str:
    return Episode(MAZE, MAZE.source().item(0), {"wording": "matrix"}).messages[0].text


def test_a_line_of_empty_fields_is_left_out(tmp_path: Path) -> None:
    text = 'observation = """A\n\n{beings}\n\nB {target_row}\n{beings}\nC"""'
    assert opening(write(tmp_path / "mine.toml", text), "tilemap/gtb").split("\n---\n")[1] == "A\n\nB 3\nC"


def test_a_template_of_observations_that_says_nothing_leaves_them_as_they_are(tmp_path: Path) -> None:
    reference = write(tmp_path / "mine.toml", 'observation = "{beings}"')
    own = Episode(GTB, GTB.source().item(0)).messages[-1].text
    assert opening(reference, "tilemap/gtb").endswith(own)


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        (
            "a.txt",
            "{mase}",
            r"file:a-[0-9a-f]{8}: rules: unknown field {mase}: choose from columns, dimension, entrance, .*{{mase}}",
        ),
        ("a.txt", "Solve it.", "rules: no field in it says what the problem is: choose from columns, dimension"),
        ("a.toml", 'observation = "Again, {turn}"', "observation: no field in it says what the problem is"),
        ("a.toml", 'base = "picture"\nrules = "{maze}"', "unknown base 'picture': choose from matrix, ascii"),
        ("a.toml", 'base = "file:x"\nrules = "{maze}"', "unknown base 'file:x'"),
        ("a.toml", "rules = ", "it is not valid TOML: Invalid value"),
        ("a.toml", 'rule = "{maze}"', "unknown key 'rule': choose from base, rules, first, observation"),
        ("a.toml", "rules = 3", "rules must be a text"),
        ("a.toml", 'base = "ascii"', "it has no template: give at least one of rules, first, observation"),
        ("a.txt", "{maze}" * 200_000, "larger than 1 MiB"),
    ],
)
def test_mistakes_are_named_in_one_line(tmp_path: Path, name: str, text: str, wanted: str) -> None:
    with pytest.raises(UsageError, match=wanted) as raised:
        opening(write(tmp_path / name, text))
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"wording=file:.*none\.txt: cannot read .*No such file or directory"):
        opening(f"file:{tmp_path}/none.txt")
    (tmp_path / "bytes.txt").write_bytes(b"\xe9{maze}")
    with pytest.raises(UsageError, match=r"is not UTF-8 \(byte 0xe9 at position 0, line 1\)"):
        opening(f"file:{tmp_path}/bytes.txt")


def test_a_record_needs_the_file_no_more(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    episode = Episode(MAZE, MAZE.source().item(0), {"wording": write(file, "The maze: {maze}")})
    while not episode.done:
        episode.step("nothing")
    file.unlink()
    record = EpisodeRecord.from_json(episode.record().to_json())
    assert record.options["wording"].startswith("file:mine-")
    assert record.options["template"] == {"base": "matrix", "rules": "The maze: {maze}"}
    assert replay(MAZE, record).record() == record
    assert waybench.score(record.to_json()).record == record


def test_a_changed_text_is_another_wording(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    first, second, third = (
        MAZE.resolve_options({"wording": write(file, text)}) for text in ("{maze}", "{maze}!", "{maze}\n")
    )
    assert first["wording"] != second["wording"]
    assert first == third, "a line break at the end is no other text"
    episode = Episode(MAZE, MAZE.source().item(0), first)
    spoilt = replace(episode.record(), options={**first, "template": second["template"]})
    with pytest.raises(UsageError, match="its text is not that of wording=file:mine-"):
        replay(MAZE, spoilt)
    with pytest.raises(UsageError, match=r"option template: for wording=file:\.\.\. only"):
        MAZE.resolve_options({"template": first["template"]})


def test_equal_templates_are_one_wording_of_an_environment(tmp_path: Path) -> None:
    options = GTB.resolve_options({"wording": write(tmp_path / "mine.toml", 'observation = "{map}"')})
    wording = GTB.play_with(options).wording
    assert isinstance(wording, TemplateWording)
    assert GTB.play_with(options).wording is wording
