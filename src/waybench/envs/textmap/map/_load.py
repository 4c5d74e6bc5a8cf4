"""Maps in the published form: a folder with a game's edges, places, actions and walkthrough."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from waybench.core import DataError, Json, is_array, is_object, read_json, read_text
from waybench.envs.textmap.map._place_map import NEVER, Edge, PlaceMap, Step

LARGEST_FILE = 1 << 28  # bytes

_FILE = "a map's file: a map is four files with the same name"
_SEPARATOR = "===========\n"
_BLOCK = re.compile(r"==>STEP NUM: (\d{1,9})\n==>ACT: ([^\n]*)\n==>OBSERVATION: (.*)\n", re.DOTALL | re.ASCII)
_FIELDS = ("seen_in_forward", "seen_in_reversed", "seen_in_forward_answerable", "seen_in_reversed_answerable")


def load_map(folder: Path, name: str) -> PlaceMap:
    """Read a map from NAME.edges.json, NAME.locations.json, NAME.actions.json and NAME.walkthrough.

    Lists of questions in the same folder are not read, since they follow from these files.

    Args:
        folder: Where the files are.
        name: The game's name.

    Raises:
        UsageError: If a file is missing or cannot be read.
        DataError: If a file is invalid; the message names the file and the record.
    """
    places, actions = (
        read_names(_list(file), str(file))
        for file in (folder / f"{name}.{part}.json" for part in ("locations", "actions"))
    )
    path = folder / f"{name}.walkthrough"
    steps = read_walkthrough(_text(path).rstrip("\n") + "\n", str(path))  # editors drop or add the last line break
    file = folder / f"{name}.edges.json"
    edges = read_edges(_list(file), str(file), frozenset(places), frozenset(actions), steps[-1].number)
    _check_steps(edges, steps, str(file))
    return PlaceMap(name, places, actions, edges, steps)


def read_walkthrough(text: str, where: str) -> tuple[Step, ...]:
    """Read the text of a walkthrough: blocks between lines of eleven "=", their steps numbered from 0.

    Args:
        text: The whole walkthrough, with line feeds as line ends.
        where: Name of the walkthrough in messages.

    Raises:
        DataError: If a block is invalid; the message names it.
    """
    head, *blocks = re.split(f"^{_SEPARATOR}", text, flags=re.MULTILINE)
    if head or not blocks or blocks.pop():
        raise DataError(f"{where}: it must begin and end with a line of eleven '='")
    if not blocks:
        raise DataError(f"{where}: the file has no steps")
    steps: list[Step] = []
    for number, block in enumerate(blocks):
        match = _BLOCK.fullmatch(block)
        if match is None:
            raise DataError(
                f"{where}: block {number}: it is not '==>STEP NUM: ', '==>ACT: ' and '==>OBSERVATION: ', each in its "
                f"own line, but {block[:60]!r}"
            )
        if int(match[1]) != number or match[1] != str(number):
            raise DataError(f"{where}: block {number}: its step is {match[1]}; steps are numbered 0, 1, 2 and so on")
        steps.append(Step(number, match[2], match[3]))
    return tuple(steps)


def _check_steps(edges: Sequence[Edge], steps: Sequence[Step], where: str) -> None:
    """Check that the steps of the walkthrough in which moves are made are not those of other moves.

    A step can have words that are no action of the map, such as "again" and abbreviations.

    Raises:
        DataError: If a step is that of another move; the message names the record.
    """
    actions = {edge.action for edge in edges}
    first: dict[int, int] = {}
    for number, edge in enumerate(edges):
        if edge.forward == NEVER or (action := normalize_action(steps[edge.forward].action)) not in actions:
            continue
        position = f"{where}: record {number}: seen_in_forward: step {edge.forward} of the walkthrough"
        if action != edge.action:
            raise DataError(f"{position} is {action[:60]!r}, not {edge.action[:60]!r}")
        if first.setdefault(edge.forward, number) != number:
            raise DataError(f"{position} is already the move of record {first[edge.forward]}")


def normalize_action(action: str) -> str:
    """Return a command of a walkthrough in the form of the actions of maps."""
    return action.strip().lower()


def walkthrough_text(steps: Sequence[Step], upto: int | None = None) -> str:
    """Return a walkthrough exactly as in its file.

    Args:
        steps: All steps, from 0 on.
        upto: The last step to write, followed by a line of eleven "=" as in the file; None for all.
    """
    shown_steps = steps if upto is None else steps[: upto + 1]
    blocks = "".join(
        f"{_SEPARATOR}==>STEP NUM: {number}\n==>ACT: {action}\n==>OBSERVATION: {observation}\n"
        for number, action, observation in shown_steps
    )
    return blocks + _SEPARATOR


def _text(path: Path) -> str:
    return read_text(path, LARGEST_FILE, _FILE)


def _list(path: Path) -> list[Json]:
    data = read_json(path, LARGEST_FILE, _FILE)
    if not is_array(data):
        raise DataError(f"{path}: not a list")
    return data


def read_names(records: Sequence[Json], where: str) -> tuple[str, ...]:
    """Read a map's list of places or of actions.

    Args:
        records: The names.
        where: Name of the list in messages.

    Raises:
        DataError: If a name is invalid or duplicated.
    """
    positions: dict[str, int] = {}
    for number, value in enumerate(records):
        text = _name(value, f"{where}: record {number}")
        if text in positions:
            raise DataError(f"{where}: record {number}: {text[:60]!r} occurs twice, first as record {positions[text]}")
        positions[text] = number
    return tuple(positions)


def _name(value: Json, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: expected a name, found {str(value)[:60]!a}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError(f"{where}: {value[:60]!r} has an unpaired surrogate") from None
    return value


def read_edges(
    records: Sequence[Json], where: str, places: Collection[str], actions: Collection[str], last: int = NEVER - 1
) -> tuple[Edge, ...]:
    """Read the records of a map's moves.

    Args:
        records: The records, with the published fields.
        where: Name of the records in messages.
        places: The map's places.
        actions: The map's actions.
        last: The walkthrough's last step.

    Raises:
        DataError: If a record is invalid.
    """
    file, positions = where, dict[tuple[str, str, str], int]()
    edges: list[Edge] = []
    for number, record in enumerate(records):
        where = f"{file}: record {number}"
        edge = _edge(record, where, last)
        for place, key in ((edge.source, "src_node"), (edge.target, "dst_node")):
            if place not in places:
                raise DataError(f"{where}: {key}: {place[:60]!r} is not among the locations")
        if edge.action not in actions:
            raise DataError(f"{where}: action: {edge.action[:60]!r} is not among the actions")
        if edge[:3] in positions:
            raise DataError(
                f"{where}: {edge.action[:60]!r} from {edge.source[:60]!r} to {edge.target[:60]!r} occurs twice, "
                f"first as record {positions[edge[:3]]}"
            )
        positions[edge[:3]] = number
        edges.append(edge)
    return tuple(edges)


def _edge(record: Json, where: str, last: int) -> Edge:
    if not is_object(record):
        raise DataError(f"{where}: not an object")
    source, target, action = (
        _name(_field(record, key, where), f"{where}: {key}") for key in ("src_node", "dst_node", "action")
    )
    edge = Edge(source, target, action, *[_step(record, key, where, last) for key in _FIELDS])
    for key, least in (("edge_min_step", edge.known), ("edge_min_step_answerable", edge.known_named)):
        if _step(record, key, where, last) != least:
            raise DataError(f"{where}: {key}: it is {record[key]}, but the lesser of its two steps is {least}")
    if edge.known_named >= NEVER or edge.known >= NEVER:
        raise DataError(f"{where}: the move is never made or inferred: all steps are {NEVER}")
    return edge


def _step(record: dict[str, Json], key: str, where: str, last: int) -> int:
    value = _field(record, key, where)
    if type(value) is not int or not (1 <= value <= last or value == NEVER):
        raise DataError(
            f"{where}: {key}: {ascii(str(value)[:60])[1:-1]} is neither a step from 1 to {last} nor {NEVER}"
        )
    return value


def _field(record: dict[str, Json], key: str, where: str) -> Json:
    if key not in record:
        raise DataError(f"{where}: {key} is missing")
    return record[key]
