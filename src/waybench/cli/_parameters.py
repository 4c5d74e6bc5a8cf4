"""Parameters of tasks on the command line: how they are written, and which of the chosen tasks each one is for."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

from waybench.cli._options import check_visible_key
from waybench.core import Json, UsageError
from waybench.evaluation.tasks import TaskEntry


def assignments(texts: Iterable[str], flag: str, form: str = "option=value") -> dict[str, Json]:
    """Read texts of the form option=value; the options themselves make the values' types.

    Args:
        texts: What the user gave, in order; the last value of an option counts.
        flag: The command's option that takes them, for the error.
        form: The form, in the words of the command's help.

    Raises:
        UsageError: If a text has another form, or bytes that are no UTF-8.
    """
    given: dict[str, Json] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {text[:80]!r}: write it as {form}")
        try:
            text.encode()
        except UnicodeEncodeError:  # how a command line gives the bytes that it could not read as text
            raise UsageError(f"{flag} {text[:80]!a}: this is not valid UTF-8") from None
        given[name] = value
    return given


def pairs(texts: Iterable[str], flag: str) -> dict[str, Json]:
    """Read texts of the form key=value, where a key may have "-" for "_".

    Raises:
        UsageError: If a text has another form, or is the key of a private set.
    """
    given = {name.replace("-", "_"): value for name, value in assignments(texts, flag, "key=value").items()}
    for name, value in given.items():
        for key in str(value).split(",") if name.rpartition(".")[2] == "key" else ():
            check_visible_key(key)
    return given


def task_parameters(texts: Iterable[str], **flags: float | str | None) -> dict[str, Json]:
    """Return the parameters that the command line gives to tasks.

    Args:
        texts: Values of -T; the tasks' declared options make their types.
        **flags: Parameters that have a flag of their own, with its value; None if it was not given.

    Raises:
        UsageError: If a text has another form, or a parameter is given in both ways.
    """
    given = pairs(texts, "-T")
    for name, value in flags.items():
        if value is not None and name in given:
            raise UsageError(f"--{name.replace('_', '-')} and -T {name} are the same parameter: give one of them")
    return given | {name: value for name, value in flags.items() if value is not None}


def combinations(each: Iterable[str], given: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the parameters of each run, of parameters of which every value is run.

    Args:
        each: Texts of the form key=value,value...
        given: Parameters of all runs.

    Raises:
        UsageError: If a text has another form, or a parameter is given in both ways.
    """
    several = {name: dict.fromkeys(str(values).split(",")) for name, values in pairs(each, "--each").items()}
    for name, values in several.items():
        if name in given:
            raise UsageError(f"--each {name} and -T {name} are the same parameter: give one of them")
        if "" in values:
            raise UsageError(f"--each {name}={','.join(values)[:60]}: a value is empty; write it as {name}=one,another")
    return [dict(zip(several, values, strict=True)) for values in product(*several.values())]


def runs_of(
    entries: Sequence[TaskEntry], given: Mapping[str, Json], each: Sequence[Mapping[str, Json]], prices: Path | None
) -> tuple[list[tuple[TaskEntry, dict[str, Any]]], list[str]]:
    """Return the tasks to run, each with its own parameters, checked.

    A parameter goes to those of the tasks that have it; one of the form TASK.parameter goes to that task alone.

    Args:
        entries: The tasks.
        given: Parameters of all runs.
        each: The parameters of each run, of those of which every value is run.
        prices: File of the prices, for tasks that take one.

    Returns:
        The runs, and a line for each parameter that went to a part of the tasks only.

    Raises:
        UsageError: For a parameter that no task has, or an unfit value.
    """
    names = dict.fromkeys([*given, *(name for some in each for name in some)])
    takers = {name: list(_takers(name, entries)) for name in names}
    for name, own in takers.items():
        if not own:
            raise UsageError(_unknown(name, entries))
    runs: list[tuple[TaskEntry, dict[str, Any]]] = []
    for entry in entries:
        for values in each:
            own = {
                _plain(name, entry): value
                for name, value in sorted({**given, **values}.items(), key=lambda pair: "." in pair[0])
                if entry in takers[name]
            }
            if prices and "prices" in _options(entry):
                own["prices"] = str(prices)
            checked = entry.resolve(own)
            run = entry, {name: checked[name] for name in own}
            if run not in runs:  # a parameter with several values may not be this task's
                runs.append(run)
    partial = [
        f"{name}: only for {', '.join(entry.name for entry in own)}"
        for name, own in takers.items()
        if len(own) < len(entries) and "." not in name
    ]
    return runs, partial


def task_args(entry: TaskEntry, given: dict[str, Any]) -> dict[str, Any]:
    """Return the given parameters of a task, checked; parameters left out keep their defaults.

    Raises:
        UsageError: For an unknown parameter or an unfit value.
    """
    checked = entry.resolve(given)
    return {name: checked[name] for name in given}


def _options(entry: TaskEntry) -> set[str]:
    return {option.name for option in entry.options}


def _task_of(name: str, entries: Sequence[TaskEntry]) -> TaskEntry | None:
    """Return the task that a parameter of the form TASK.parameter names; None if it names none."""
    return next((entry for entry in entries if name.startswith(f"{entry.name.replace('-', '_')}.")), None)


def _plain(name: str, entry: TaskEntry) -> str:
    return name.removeprefix(f"{entry.name.replace('-', '_')}.")


def _takers(name: str, entries: Sequence[TaskEntry]) -> Iterator[TaskEntry]:
    named = _task_of(name, entries)
    for entry in entries if named is None else [named]:
        if _plain(name, entry) in _options(entry) or len(entries) == 1:  # the task itself refuses what it does not know
            yield entry


def _unknown(name: str, entries: Sequence[TaskEntry]) -> str:
    named = _task_of(name, entries)
    if named is not None:
        named.resolve({_plain(name, named): ""})  # which says what there is
    known = sorted({option for entry in entries for option in _options(entry)})
    close = get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]}?" if close else "`waybench list TASK` shows a task's parameters"
    tasks = ", ".join(entry.name for entry in entries)
    return f"-T {name[:60]}: none of the tasks {tasks} has this parameter; {hint}"


def model_arguments(texts: Iterable[str]) -> dict[str, Json]:
    """Read the values of -M; nobody declares their types, so a value is JSON if it can be read so, otherwise text.

    Raises:
        UsageError: If a text has another form.
    """
    return {name: json_or_text(text) for name, text in pairs(texts, "-M").items()}


def json_or_text(text: str) -> Json:
    """Return the value of a text that is JSON; otherwise the text."""
    try:
        return json.loads(text, parse_constant=str)  # NaN and Infinity are no JSON, and no other file can have them
    except (ValueError, RecursionError):
        return text
