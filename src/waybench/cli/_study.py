"""`waybench play --web`: several people in their browsers."""

import threading
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from waybench.cli._items import ItemChoice, ItemChoices
from waybench.cli._options import ItemSettings, option
from waybench.cli._output import to_stderr
from waybench.core import UsageError, is_array, is_object, json_values, plural, read_text, user_path

_LONGEST_TEXT = 100_000  # characters of an introduction
_LARGEST_TEXT = 4 * _LONGEST_TEXT  # bytes
_LARGEST_ITEMS = 1 << 30  # bytes
_MOST_CODES = 10_000
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class StudySettings:
    """A study of people, as the options of `waybench play` say."""

    web: bool = option("Play in the browser, on this machine alone; several people can.", default=False)
    attempts: int | None = option(
        "With --web: attempts at each item, one after the other.  [default: 1]", type=click.IntRange(1, 100)
    )
    items: int | None = option("With --web: number of items of each ENV.  [default: 1]", type=click.IntRange(min=1))
    codes: Path | None = option("With --web: file with a code in each line; nobody else can play.", type=_FILE)
    introduction: Path | None = option("With --web: text that people read and agree to first.", type=_FILE)
    text_only: bool = option("With --web: show the messages alone, without a board.", "--text", default=False)
    port: int | None = option("With --web: port; by default 7575 or the next free.", type=click.IntRange(0, 65535))
    open_browser: bool = option("With --web: open the page in the browser.", "--open", default=False)


def serve_study(
    envs: Sequence[str], settings: ItemSettings, index: int, record: str | None, study: StudySettings
) -> None:
    """Serve the items of some environments to people, until interrupted.

    Args:
        envs: Names of environments or tasks, or files of items.
        settings: Which items of each.
        index: Number of the first item of each.
        record: The file of records.
        study: The study.

    Raises:
        UsageError: If an option is unfit.
    """
    from waybench.people.web import Study, study_application
    from waybench.reporting.view import address, listen, new_token, serve_application

    if record is None or record == "-":
        raise UsageError("--web needs a file for the records: add --record FILE")
    chosen = [each for env in envs for each in _items(env, settings, index, study.items)]
    application = Study(
        chosen,
        Path(record),
        codes=None if study.codes is None else _codes(study.codes),
        introduction="" if study.introduction is None else _text(study.introduction),
        text_only=study.text_only,
        attempts=study.attempts or 1,
    )
    listener, token = listen(study.port), new_token()
    url = address(listener, token)
    click.echo(f"play: {url} (press Ctrl-C to stop)")
    attempts = f" with {study.attempts} attempts each" if (study.attempts or 1) > 1 else ""
    click.echo(f"{plural(len(chosen), 'item')}{attempts}; records go to {record}")
    if study.open_browser:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    try:
        serve_application(study_application(application, listener.getsockname()[1], token), listener)
    except KeyboardInterrupt:
        to_stderr(f"stopped; start again with the same options to go on, or run: waybench report {record}")


def _items(env: str, settings: ItemSettings, index: int, count: int | None) -> list[ItemChoice]:
    if env.endswith((".jsonl", ".json")) and user_path(env).is_file():
        source = ItemChoices(_environment_in(user_path(env)), replace(settings, parameters=(f"source={env}",)))
        count = source.space if count is None else count
    else:
        source = ItemChoices(env, settings)
    numbers = range(index, index + (count or 1))
    # A set such as the three disks of SmartPlay repeats its one item for each trial; a study repeats with --attempts.
    chosen: dict[str, ItemChoice] = {}
    for item in map(source.choose, numbers):
        chosen.setdefault(item.item.instance.hash, item)
    if len(chosen) < len(numbers):
        to_stderr(f"{env}: {plural(len(chosen), 'different item')} among the {len(numbers)}; each is taken once")
    return list(chosen.values())


def _environment_in(path: Path) -> str:
    """Return the environment that the items of a file are for."""
    what = "a file of `waybench generate`"
    _, value = next(json_values(read_text(path, _LARGEST_ITEMS, what), str(path), what), (0, None))
    value = value[0] if is_array(value) and value else value
    if not is_object(value) or not isinstance(value.get("env"), str):
        raise UsageError(f"{path}: its first line names no environment: give a file of `waybench generate`")
    return str(value["env"])


def _codes(path: Path) -> list[str]:
    lines = [" ".join(line.split()) for line in _text(path).splitlines()]
    codes = [line for line in lines if line]
    if not codes or len(codes) > _MOST_CODES or len(set(codes)) < len(codes):
        raise UsageError(f"{path}: give a code in each line, at most {_MOST_CODES}, none of them twice")
    for code in codes:
        if len(code) > 40 or not code.isprintable():
            raise UsageError(f"{path}: {code[:40]!a} is no code: use at most 40 printable characters")
    return codes


def _text(path: Path) -> str:
    text = read_text(path, _LARGEST_TEXT, "a text")
    if len(text) > _LONGEST_TEXT:
        raise UsageError(f"{path}: it has more than {_LONGEST_TEXT:,} characters: shorten it")
    return text.strip()
