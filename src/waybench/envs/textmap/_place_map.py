"""Maps of places, and reading them in the published form."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from waybench.core import DataError, Json, UsageError, is_array, is_object, read_json_file, read_text_file

NEVER = 9999  # step of an event that never happens, as in the published files
LARGEST_FILE = 1 << 28  # bytes
_FILE = "a map's file: a map is four files with the same name"
_SEPARATOR = "===========\n"
_BLOCK = re.compile(r"==>STEP NUM: (\d{1,9})\n==>ACT: ([^\n]*)\n==>OBSERVATION: (.*)\n", re.DOTALL | re.ASCII)
STEP_KEYS = ("seen_in_forward", "seen_in_reversed", "seen_in_forward_answerable", "seen_in_reversed_answerable")


class Edge(NamedTuple):
    """One move from one place to another.

    Attributes:
        source: The place where it starts.
        target: The place where it ends.
        action: The command.
        forward: First step of the walkthrough that makes the move; `NEVER` if none does.
        reverse: First step that makes the opposite move, so that this one can be inferred; `NEVER` if none does.
        forward_named: As `forward`, but the first step at which a reader also knows both names.
        reverse_named: As `reverse`, but the first step at which a reader also knows both names.
    """

    source: str
    target: str
    action: str
    forward: int
    reverse: int
    forward_named: int
    reverse_named: int

    @property
    def known_step(self) -> int:
        """First step at which the move was made or can be inferred."""
        return min(self.forward, self.reverse)

    @property
    def named_step(self) -> int:
        """First step at which the move and the names of both places are known."""
        return min(self.forward_named, self.reverse_named)

    @property
    def counted_step(self) -> int:
        """First step at which the move is made or, if it never is, can be inferred, as in the tables of the paper."""
        return self.forward if self.forward < NEVER else self.reverse


class WalkthroughStep(NamedTuple):
    """One block of a walkthrough: a command and the answer of the game; number 0 has the action "Init"."""

    number: int
    action: str
    observation: str


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """A directed multigraph of places, with the walkthrough that it was learned from.

    Attributes:
        name: The game's name.
        places: All places, in the order in which prompts list them.
        actions: All actions of edges, in the order in which prompts list them.
        edges: All moves. Two places can have several moves between them, by different actions, and one action can lead
            from a place to several places.
        steps: The walkthrough, by number.
    """

    name: str
    places: tuple[str, ...]
    actions: tuple[str, ...]
    edges: tuple[Edge, ...]
    steps: tuple[WalkthroughStep, ...]

    def __hash__(self) -> int:
        """Hash the names alone: maps are looked up often, and their steps are long."""
        return hash((self.name, self.places, self.actions))

    @property
    def last_step(self) -> int:
        """Number of the walkthrough's last step; 0 if it has none."""
        return self.steps[-1].number if self.steps else 0

    def find_edge(self, source: str, action: str, target: str) -> Edge:
        """Return the move with these names; a UsageError if there is none."""
        for edge in self.edges:
            if (edge.source, edge.action, edge.target) == (source, action, target):
                return edge
        raise UsageError(f"map {self.name}: no move {action[:80]!r} leads from {source[:80]!r} to {target[:80]!r}")


Move = tuple[str, str, str]
"""Source, action, target."""


class Traversal(NamedTuple):
    """One time that the walkthrough makes a move; `stays` number the player's stays at places before and after it."""

    step: int
    move: Move
    stays: tuple[int, int]


def edges_of_traversals(
    traversals: Sequence[Traversal], named_at: Sequence[int], inferred: Mapping[Move, int]
) -> tuple[Edge, ...]:
    """Return the moves of a map, in the order in which they become known.

    Args:
        traversals: Each time that the walkthrough goes from one place to another, in its order.
        named_at: For each stay at a place, the step that shows the place's name; `NEVER` if none does.
        inferred: For each move that follows from the opposite one, the index of the first traversal that shows it.
    """
    named_steps = _named_steps(traversals, list(named_at))
    indices_by_move: dict[Move, list[int]] = {}
    for index, traversal in enumerate(traversals):
        indices_by_move.setdefault(traversal.move, []).append(index)

    def first_and_first_named_step(indices: Sequence[int]) -> tuple[int, int]:
        """Return the first step of these traversals, and the first at which the names of both places are known."""
        if not indices:
            return NEVER, NEVER
        return traversals[indices[0]].step, min(named_steps[index] for index in indices)

    edges: list[Edge] = []
    for move in indices_by_move.keys() | inferred.keys():
        forward, forward_named = first_and_first_named_step(indices_by_move.get(move, ()))
        opposite_indices: list[int] = []
        if (first_index := inferred.get(move)) is not None:
            opposite_move = traversals[first_index].move
            opposite_indices = [index for index in indices_by_move[opposite_move] if index >= first_index]
        reverse, reverse_named = first_and_first_named_step(opposite_indices)
        source, action, target = move
        edges.append(Edge(source, target, action, forward, reverse, forward_named, reverse_named))
    return tuple(sorted(edges, key=lambda edge: (edge.known_step, edge.forward, edge[:3])))


def _named_steps(traversals: Sequence[Traversal], named_at: list[int]) -> list[int]:
    """Return for each traversal the step at which the names of both places are known.

    A name that is not shown during a stay is still known if the move to the place was known before; `named_at`, the
    step at which each stay's place is named, is changed accordingly.
    """
    named_steps: list[int] = []
    known_at: dict[Move, int] = {}
    for step, move, (left_stay, entered_stay) in traversals:
        named_at[entered_stay] = min(named_at[entered_stay], max(step, known_at.get(move, NEVER)))
        named_steps.append(max(step, named_at[left_stay], named_at[entered_stay]))
        known_at[move] = min(known_at.get(move, NEVER), named_steps[-1])
    return named_steps


def load_map(folder: Path, name: str) -> PlaceMap:
    """Read a map from NAME.edges.json, NAME.locations.json, NAME.actions.json and NAME.walkthrough in a folder.

    Lists of questions in the same folder are not read, since they follow from these files. Raises a UsageError if a
    file is missing or cannot be read, and a DataError, which names the file and the record, if it is invalid.
    """
    places, actions = (
        read_names(_read_json_list(file), str(file))
        for file in (folder / f"{name}.{part}.json" for part in ("locations", "actions"))
    )
    path = folder / f"{name}.walkthrough"
    text = read_text_file(path, LARGEST_FILE, _FILE)
    steps = read_walkthrough(text.rstrip("\n") + "\n", str(path))  # editors drop or add the last line break
    file = folder / f"{name}.edges.json"
    edges = read_edges(_read_json_list(file), str(file), frozenset(places), frozenset(actions), steps[-1].number)
    _check_steps(edges, steps, str(file))
    return PlaceMap(name, places, actions, edges, steps)


def read_walkthrough(text: str, where: str) -> tuple[WalkthroughStep, ...]:
    """Read the text of a walkthrough: blocks between lines of eleven "=", their steps numbered from 0."""
    text_before, *blocks = re.split(f"^{_SEPARATOR}", text, flags=re.MULTILINE)
    if text_before or not blocks or blocks.pop():  # the last block is what follows the last separator
        raise DataError(f"{where}: it must begin and end with a line of eleven '='")
    if not blocks:
        raise DataError(f"{where}: the file has no steps")
    steps: list[WalkthroughStep] = []
    for number, block in enumerate(blocks):
        match = _BLOCK.fullmatch(block)
        if match is None:
            raise DataError(
                f"{where}: block {number}: it is not '==>STEP NUM: ', '==>ACT: ' and '==>OBSERVATION: ', each in its "
                f"own line, but {block[:60]!r}"
            )
        if int(match[1]) != number or match[1] != str(number):
            raise DataError(f"{where}: block {number}: its step is {match[1]}; steps are numbered 0, 1, 2 and so on")
        steps.append(WalkthroughStep(number, match[2], match[3]))
    return tuple(steps)


def _check_steps(edges: Sequence[Edge], steps: Sequence[WalkthroughStep], where: str) -> None:
    """Check that the step at which an edge is first walked has the edge's action, and that no two edges share a step.

    Steps whose words are no action of the map, such as "again" and abbreviations, are not checked.
    """
    actions = {edge.action for edge in edges}
    number_by_step: dict[int, int] = {}
    for number, edge in enumerate(edges):
        if edge.forward == NEVER or (action := normalize_action(steps[edge.forward].action)) not in actions:
            continue
        position = f"{where}: record {number}: seen_in_forward: step {edge.forward} of the walkthrough"
        if action != edge.action:
            raise DataError(f"{position} is {action[:60]!r}, not {edge.action[:60]!r}")
        if number_by_step.setdefault(edge.forward, number) != number:
            raise DataError(f"{position} is already the move of record {number_by_step[edge.forward]}")


def normalize_action(action: str) -> str:
    """Return a command of a walkthrough in the form of the actions of maps."""
    return action.strip().lower()


def walkthrough_text(steps: Sequence[WalkthroughStep], upto: int | None = None) -> str:
    """Return the steps of a walkthrough from 0 to `upto` (None for all), exactly as in its file."""
    blocks = "".join(
        f"{_SEPARATOR}==>STEP NUM: {number}\n==>ACT: {action}\n==>OBSERVATION: {observation}\n"
        for number, action, observation in (steps if upto is None else steps[: upto + 1])
    )
    return blocks + _SEPARATOR


def _read_json_list(path: Path) -> list[Json]:
    """Read a file with a JSON list."""
    records = read_json_file(path, LARGEST_FILE, _FILE)
    if not is_array(records):
        raise DataError(f"{path}: not a list")
    return records


def read_names(records: Sequence[Json], where: str) -> tuple[str, ...]:
    """Read a map's list of places or of actions."""
    positions: dict[str, int] = {}
    for number, value in enumerate(records):
        text = _read_name(value, f"{where}: record {number}")
        if text in positions:
            raise DataError(f"{where}: record {number}: {text[:60]!r} occurs twice, first as record {positions[text]}")
        positions[text] = number
    return tuple(positions)


def _read_name(value: Json, where: str) -> str:
    """Read the name of a place or an action."""
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: expected a name, found {str(value)[:60]!a}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError(f"{where}: {value[:60]!r} has an unpaired surrogate") from None
    return value


def read_edges(
    records: Sequence[Json],
    source_name: str,
    places: Collection[str],
    actions: Collection[str],
    last_step: int = NEVER - 1,
) -> tuple[Edge, ...]:
    """Read the records of a map's moves, with the published fields.

    `source_name`, such as the file's path, begins error messages; `last_step` is the walkthrough's last step.
    """
    positions: dict[tuple[str, str, str], int] = {}
    edges: list[Edge] = []
    for number, record in enumerate(records):
        where = f"{source_name}: record {number}"
        edge = _read_edge(record, where, last_step)
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


def _read_edge(record: Json, where: str, last_step: int) -> Edge:
    """Read the record of a move, with the published fields."""
    if not is_object(record):
        raise DataError(f"{where}: not an object")
    source, target, action = (
        _read_name(_require_field(record, key, where), f"{where}: {key}") for key in ("src_node", "dst_node", "action")
    )
    edge = Edge(source, target, action, *[_read_step_number(record, key, where, last_step) for key in STEP_KEYS])
    for key, earlier_step in (("edge_min_step", edge.known_step), ("edge_min_step_answerable", edge.named_step)):
        if _read_step_number(record, key, where, last_step) != earlier_step:
            raise DataError(f"{where}: {key}: it is {record[key]}, but the lesser of its two steps is {earlier_step}")
    if edge.named_step >= NEVER or edge.known_step >= NEVER:
        raise DataError(f"{where}: the move is never made or inferred: all steps are {NEVER}")
    return edge


def _read_step_number(record: dict[str, Json], key: str, where: str, last_step: int) -> int:
    """Read a step of a record: from 1 to `last_step`, or `NEVER`."""
    value = _require_field(record, key, where)
    if type(value) is not int or not (1 <= value <= last_step or value == NEVER):
        raise DataError(
            f"{where}: {key}: {ascii(str(value)[:60])[1:-1]} is neither a step from 1 to {last_step} nor {NEVER}"
        )
    return value


def _require_field(record: dict[str, Json], key: str, where: str) -> Json:
    """Return a field of a record; a DataError if it is missing."""
    if key not in record:
        raise DataError(f"{where}: {key} is missing")
    return record[key]
