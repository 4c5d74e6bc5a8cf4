"""Scoring stored replies and stored records."""

import difflib
import json
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, NoReturn, cast

from waybench.core import (
    NOTHING,
    DataError,
    End,
    Episode,
    EpisodeRecord,
    Json,
    Reply,
    TurnRecord,
    WaybenchError,
    check_json_bounds,
    replay,
    shorten_long_words,
    turns_without_prefix,
)
from waybench.core import unknown_name_message as unknown_name
from waybench.core._environment import AnyEnvironment
from waybench.core._episode import AnyEpisode
from waybench.core._user_files import object_without_duplicates
from waybench.data import locate_file
from waybench.envs import registry

STOPS = ("stop", "truncated", "overflow", "refused")
MOST_ATTEMPTS = 10**9
# The largest line within these limits takes about 3 GB of memory.
MOST_VALUES = 2_000_000  # of a line, counted by commas and opening brackets
MOST_CHARACTERS = 1 << 28  # of all messages to the player, whose sum grows by the square if each repeats the history
_FIELDS = ("instance", "replies", "options", "examples")  # fields without which a score would be wrong
_MISSPELLED_SIMILARITY = 0.85  # a misspelling of `_FIELDS` is as similar; a user's own field ("instance_id") is less
_MOST_COMPARED = 100  # unknown fields


def find_environment(name: str) -> AnyEnvironment:
    """Load an environment by any of its names (`waybench.evaluation.tasks.resolve_environment`).

    Raises:
        UsageError: If the name is unknown, or that of a task that plays several environments.
    """
    if any(entry.id == name.partition("@")[0] for entry in registry.built_in):
        return registry.load(name)  # fast: the list of tasks below imports all environments
    from waybench.evaluation.tasks import resolve_environment

    return resolve_environment(name)


def score_line(line: bytes, number: int) -> dict[str, Json]:
    """Return the score of one line of a file: stored replies or a record (see `episode_of_line`).

    The line may be anything; `number` is its number in the file, for an error.

    Returns:
        "id" (of the line, or of a record's item), "env", "metrics" (with series as lists; None after an infrastructure
        error), "end" (None if the replies ran out before the episode's end; the metrics are then those of the episode
        so far), "turns", "unused_replies" if the episode ended before the replies did, and "replayed" for a record;
        {"line": number, "error": why} if the line cannot be scored.
    """
    return score_and_record(line, number)[0]


def score_and_record(
    line: bytes, number: int, model: str = "", default_options: Mapping[str, Json] = NOTHING
) -> tuple[dict[str, Json], dict[str, Json] | None]:
    """Return the score of one line of a file (see `score_line`), and the record of its episode.

    `model` is the player's name where the line has no "model"; `default_options` are options of play for lines of
    replies that do not have them.

    Returns:
        What `score_line` returns, and the record; None if the line cannot be scored.
    """
    line_id: dict[str, Json] = {}
    try:
        data = _parse_line(line)
        if default_options and not _is_record(data) and isinstance(data.get("options", {}), dict):
            data["options"] = {**default_options, **data.get("options", {})}
        if "id" in data:
            line_id["id"] = _read_field(data, "id", str, int)
        episode = episode_of_line(data)
        return {**line_id, **_line_score(data, episode), **line_id}, _stored_record(data, episode, model)
    except WaybenchError as error:
        why = shorten_long_words(" ".join(str(error).split()))
    except RecursionError:
        why = "the line has too many nested brackets"
    except UnicodeEncodeError:
        why = "the line has an unpaired surrogate (\\ud800 to \\udfff) in a string"
    return {"line": number, **line_id, "error": why}, None


def episode_of_line(data: dict[str, Json]) -> AnyEpisode:
    """Return the episode of a line's replies, or of its record, simulated again.

    Args:
        data: "env", "instance", "replies" (texts, or objects with "text" and "stop"), and optionally "options",
            "attempt", "examples" (instances shown solved before), and "version" and "hash", which are checked; or an
            episode's record as JSON.

    Returns:
        The episode. With replies that ran out before its end it is not done.

    Raises:
        WaybenchError: If `data` is no such object, or if a record does not agree with its simulation.
    """
    if _is_record(data):
        record = EpisodeRecord.from_json(data)
        return replay(registry.load(record.env), record)
    _refuse_misspelled_fields(data)
    environment = find_environment(_read_field(data, "env", str))
    if data.get("version", environment.version) != environment.version:
        raise DataError(
            f"the line is for version {_value_excerpt(data['version'])} of {environment.id}, this is version "
            f'{environment.version}: drop "version" to score by today\'s rules'
        )
    replies = [_parse_reply(reply, number) for number, reply in enumerate(_read_field(data, "replies", list))]
    options: dict[str, Json] = _read_field(data, "options", dict) if data.get("options") is not None else {}
    attempt = _read_field(data, "attempt", int) if "attempt" in data else 1
    if not 1 <= attempt <= MOST_ATTEMPTS:
        raise DataError(f'"attempt" must be from 1 to {MOST_ATTEMPTS}')
    if "instance" not in data:
        raise DataError('"instance" is missing')
    examples: list[Json] = _read_field(data, "examples", list) if "examples" in data else []
    instance, resolve_references = data["instance"], environment.items.resolve_references
    if resolve_references is not None:
        instance = resolve_references(instance, locate_file)
    item = environment.item(instance, examples)
    if data.get("hash", item.instance.hash) != item.instance.hash:
        raise DataError('"hash" does not match this instance: one of them was changed')
    episode: AnyEpisode = Episode(environment, item, options, attempt=attempt)
    characters = 0
    for reply in replies:
        if episode.done:
            break
        characters += len(episode.step(reply).message)
        if characters > MOST_CHARACTERS:
            raise DataError(
                f"the messages to the player have more than {MOST_CHARACTERS >> 20} Mi characters: score fewer "
                'replies, or with a shorter "history"'
            )
    return episode


def _is_record(data: Mapping[str, Json]) -> bool:
    """Return whether a line is a record of an episode, and not a line of replies."""
    return "schema" in data and "turns" in data


def _line_score(data: dict[str, Json], episode: AnyEpisode) -> dict[str, Json]:
    """Return the score of a line of replies, or of a record."""
    result = _episode_score(episode)
    if _is_record(data):
        return {"id": episode.item.id, **result, "replayed": True}
    if unused := len(data["replies"]) - len(turns_without_prefix(episode.turns)):
        result["unused_replies"] = unused
    return result


def _stored_record(data: dict[str, Json], episode: AnyEpisode, model: str) -> dict[str, Json]:
    """Return the record of a line's episode, with the line's set, task and player."""
    record = episode.record().to_json()
    kinds = {"id": (str, int), "level": int, "key": str, "index": int}
    fields = {name: data[name] for name, kind in kinds.items() if isinstance(data.get(name), kind)}
    if not _is_record(data):
        record["item"] |= {name: str(value) if name == "id" else value for name, value in fields.items()}
    name = data.get("model")
    record["player"] = name if isinstance(name, str) and name else model or record["player"]
    return record | {name: data[name] for name in ("task", "settings") if name in data}


def _episode_score(episode: AnyEpisode) -> dict[str, Json]:
    """Return the metrics, the end and the turns of an episode as JSON."""
    record, environment = episode.record(), episode.environment
    scoring = environment.scoring
    metrics: dict[str, Json] | None = None
    if record.end is not End.INFRASTRUCTURE:
        environment.measure(record)  # for its error, which names the metric, if one raises an exception
        metrics = {metric.name: metric.format_value(record) for metric in scoring.metrics}
        metrics |= {series.name: list(series.of(record)) for series in scoring.series}
    return {
        "env": record.env,
        "metrics": metrics,
        "end": None if record.end is None else str(record.end),
        "turns": [_turn_score(turn) for turn in record.turns],
    }


def _turn_score(turn: TurnRecord) -> dict[str, Json]:
    """Return the fields of a turn that `waybench score` prints."""
    result: dict[str, Json] = {"outcome": str(turn.outcome), "action": turn.action, "message": turn.message}
    optional_fields = {"reason": turn.reason, "executed": turn.executed}
    return result | {name: value for name, value in optional_fields.items() if value is not None}


def _parse_reply(data: Json, number: int) -> Reply:
    """Return the reply of this number in a line; raise a DataError for another form."""
    match data:
        case None:  # how logs store a reply without text
            return Reply("")
        case str(text):
            return Reply(text)
        case {"text": str() | None as text, **more} if more.keys() <= {"stop"} and isinstance(
            more.get("stop"), str | None
        ):
            stop = more.get("stop") or STOPS[0]
            if stop not in STOPS:
                raise DataError(f"reply {number}: {unknown_name('stop', stop, STOPS)}")
            return Reply(text or "", stop)
        case _:
            raise DataError(f'reply {number}: give a text, null, or {{"text": "...", "stop": "truncated"}}')


def _read_field(data: dict[str, Json], name: str, *kinds: type) -> Any:
    """Return a field of a line; raise a DataError if it is missing or of none of the types `kinds`."""
    if name not in data:
        raise DataError(f'"{name}" is missing')
    value = data[name]
    if not isinstance(value, kinds) or isinstance(value, bool):
        names = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
        raise DataError(f'"{name}" must be {" or ".join(names[kind] for kind in kinds)}, not {_value_excerpt(value)}')
    return value


def _value_excerpt(value: Json) -> str:
    """Return the beginning of a JSON value, or its kind, for error messages."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:40]


def _refuse_misspelled_fields(data: Collection[str]) -> None:
    """Raise a DataError for an unknown field whose name is like that of a missing one."""
    # Where the field itself is present, a field with a similar name is the user's own.
    missing = [name for name in _FIELDS if name not in data]
    for name in islice((name for name in data if name not in _FIELDS), _MOST_COMPARED):
        if near := difflib.get_close_matches(name[:20], missing, 1, _MISSPELLED_SIMILARITY):
            raise DataError(f'unknown field {name[:40]!r}: did you mean "{near[0]}"?')


def _parse_line(line: bytes) -> dict[str, Json]:
    """Return the JSON object in a line; raise a DataError if it has none."""
    try:
        text = line.decode("utf-8-sig")
        _check_line_bounds(line)
        data: Json = json.loads(text, parse_constant=_raise_for_constant, object_pairs_hook=object_without_duplicates)
    except UnicodeDecodeError as error:
        raise DataError(f"the line is not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        raise DataError(f"the line is not JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError:  # more digits than Python converts
        raise DataError("the line has a number with too many digits") from None
    if not isinstance(data, dict):
        raise DataError('the line must be an object: {"env": ..., "instance": ..., "replies": [...]}')
    return cast(dict[str, Json], data)


def _check_line_bounds(line: bytes) -> None:
    """Raise a DataError for a line that is too deep or has too many values."""
    try:
        check_json_bounds(line, MOST_VALUES)
    except DataError as error:
        raise DataError(f"the line {str(error).removeprefix('it ')}") from None


def _raise_for_constant(name: str) -> NoReturn:
    """Raise a DataError for NaN or Infinity, as `parse_constant` of the json module."""
    raise DataError(f"the line has {name}, which is not valid JSON")
