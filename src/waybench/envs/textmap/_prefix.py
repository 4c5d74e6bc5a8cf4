"""Prefixes of walkthroughs in prompts, and the steps from which questions are answerable."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from waybench.core import DataError, EpisodeRecord, Json, UsageError, is_array, is_object, read_json_file
from waybench.envs.textmap._instances import DATA_SET, MARK
from waybench.envs.textmap._place_map import (
    LARGEST_FILE,
    NEVER,
    Edge,
    PlaceMap,
    WalkthroughStep,
    normalize_action,
    walkthrough_text,
)

EasyOrHard = Literal["easy", "hard"]
DIFFICULTIES: tuple[EasyOrHard, ...] = ("easy", "hard")
Rule = Literal["released", "tables"]
"""How labels are derived from steps.

"released" is the rule of the published data and program: a move is answerable from the step at which it was made or can
be inferred and the names of both places are known. "tables" is the rule that reproduces Tables 5 to 8 of the paper,
which does not state it: a move that is made at some step counts from that step only and never as inferred before, names
play no part, and a pair of places is easy if some shortest path of the whole map has only moves that are made.
"""
PUBLISHED_STEPS = 70  # the published maps cover the moves of this number of steps
_PUBLISHED_ID = re.compile(r"\((obj\d+)\)\s*\Z")


class Labels(NamedTuple):
    """Steps of a move; of a path, the maximum over its moves; of a pair of places, the minimum over its paths.

    Each label is computed separately: two labels of a pair can come from two paths.

    Attributes:
        forward: See `Edge`, also for the other labels.
        known: `min_step_total` of the published files.
        forward_named: `min_step_forward_answerable`, the published label of an easy question.
        known_named: `min_step_total_answerable`, the published label of an answerable question.
        counted: The counterpart of `known` in the rule "tables".
    """

    forward: int
    known: int
    forward_named: int
    known_named: int
    counted: int

    def answerable_from(self, rule: Rule = "released") -> int:
        """Return the step from which the question is answerable; `NEVER` if it never is."""
        return self.known_named if rule == "released" else self.counted

    def easy_from(self, rule: Rule = "released") -> int:
        """Return the step from which the question is easy, since all moves were made; `NEVER` if it never is."""
        return self.forward_named if rule == "released" else self.forward

    def difficulty(self, cutoff: int, rule: Rule = "released", *, walked: bool | None = None) -> EasyOrHard | None:
        """Return the difficulty for a reader of the steps 0 to `cutoff`; None if the question is not answerable.

        By the rule "tables", a route is easy if it is `walked`: if a shortest path of the whole map consists of moves
        that are made at some step.
        """
        if not is_reached(self.answerable_from(rule), cutoff):
            return None
        if walked is None or rule == "released":
            walked = is_reached(self.easy_from(rule), cutoff)
        return "easy" if walked else "hard"


def is_reached(step: int, cutoff: int) -> bool:
    """Return whether a step is one of 0 to `cutoff`; `NEVER` is not, for any cutoff."""
    return step <= cutoff and step < NEVER


def edge_labels(edge: Edge) -> Labels:
    """Return the labels of one move."""
    return Labels(edge.forward, edge.known_step, edge.forward_named, edge.named_step, edge.counted_step)


def path_labels(edges: Iterable[Edge]) -> Labels:
    """Return the labels of a path of at least one move."""
    return Labels(*map(max, zip(*map(edge_labels, edges), strict=True)))


class Tokenizer(Protocol):
    """Converts text to tokens and back, such as an encoding of `tiktoken`, which is not a dependency."""

    def encode(self, text: str, /) -> Sequence[Any]:
        """Return the tokens of a text."""
        ...

    def decode(self, tokens: Any, /) -> str:
        """Return the text of tokens."""
        ...


def published_walkthrough_text(steps: Sequence[WalkthroughStep], last_step: int | None = None) -> str:
    """Return a walkthrough up to step `last_step` (None for all), as the published program shows it (spec, section 4).

    If steps follow, the text ends with an extra empty line.
    """
    text = _text_without_separators(steps, last_step)
    has_later_steps = last_step is not None and last_step < steps[-1].number
    return text if has_later_steps else text.removesuffix("\n")


def _text_without_separators(steps: Sequence[WalkthroughStep], last_step: int | None = None) -> str:
    """Return the steps of a walkthrough up to `last_step` without lines of "=" and blanks at the ends."""
    return walkthrough_text(steps, last_step).strip().replace("=" * 11, "")


def last_step_by_published_rule(steps: Sequence[WalkthroughStep], tokenizer: Tokenizer, tokens: int) -> int | None:
    """Return the last step that the published program shows within a number of tokens; None if all steps fit.

    The program takes the last but one step number in the text of the first tokens. So the last step is left out even if
    it fits completely. Raises a UsageError if no step fits.
    """
    encoded = tokenizer.encode(_text_without_separators(steps))
    if len(encoded) <= tokens:
        return None
    _, *texts_from_number = tokenizer.decode(encoded[:tokens]).split("NUM: ")
    if len(texts_from_number) < 2:
        raise UsageError(f"{tokens} tokens are too few for one step of the walkthrough")
    return int(texts_from_number[-2].split("\n", 1)[0])


def last_step_that_fits(steps: Sequence[WalkthroughStep], tokenizer: Tokenizer, tokens: int) -> int | None:
    """Return the last step that fits into a number of tokens; None if all steps fit, a UsageError if none fits."""
    numbers = [step.number for step in steps]
    n_steps = bisect_right(
        numbers, tokens, key=lambda last: len(tokenizer.encode(published_walkthrough_text(steps, last)))
    )
    if n_steps == 0:
        raise UsageError(f"{tokens} tokens are too few for one step of the walkthrough")
    return None if n_steps == len(steps) else numbers[n_steps - 1]


class PromptNames(NamedTuple):
    """The lists of names that a prompt shows."""

    places: tuple[str, ...]
    actions: tuple[str, ...]


def all_names(place_map: PlaceMap) -> PromptNames:
    """Return all places and actions of a map, as published; they include those that come after the prefix."""
    return PromptNames(place_map.places, place_map.actions)


def seen_names(place_map: PlaceMap, last_step: int) -> PromptNames:
    """Return the places and actions of the moves that a reader of the steps to `last_step` can know, in map order."""
    edges = [edge for edge in place_map.edges if is_reached(edge.named_step, last_step)]
    places = {place for edge in edges for place in (edge.source, edge.target)}
    actions = {edge.action for edge in edges}
    return PromptNames(
        tuple(place for place in place_map.places if place in places),
        tuple(action for action in place_map.actions if action in actions),
    )


def steps_with_place_names(place_map: PlaceMap, last_step: int = PUBLISHED_STEPS) -> tuple[WalkthroughStep, ...]:
    """Return the walkthrough with the name of the place in place of each observation (the paper's "-S").

    `last_step` is the last step whose moves are on the map; later positions are unknown.
    """
    steps = (step for step in place_map.steps if step.number <= last_step)
    return tuple(
        WalkthroughStep(step.number, step.action, f"{place}\n")
        for step, place in zip(steps, places_after_steps(place_map, last_step), strict=True)
    )


def places_after_steps(place_map: PlaceMap, last_step: int = PUBLISHED_STEPS) -> tuple[str, ...]:
    """Return the place of the player after each step of the walkthrough up to `last_step`.

    The map has the step at which each move is made for the first time. Between these steps, an action that has led
    somewhere before leads there again, and any other action leads nowhere. If it has led to several places, the result
    is the one from which the next new move starts. If the game itself moves the player, the map shows that only at the
    next new move, so the result has it one step before. Raises a UsageError if the map has no move that is made.
    """
    edge_by_first_step = {edge.forward: edge for edge in place_map.edges if edge.forward < NEVER}
    if not edge_by_first_step:
        raise UsageError(f"map {place_map.name}: no move of the walkthrough is known")
    start = edge_by_first_step[min(edge_by_first_step)].source
    edges_by_command: dict[tuple[str, str], list[Edge]] = {}  # place and action -> moves
    for edge in place_map.edges:
        edges_by_command.setdefault((edge.source, edge.action), []).append(edge)
    layers: list[dict[str, str]] = []  # for each step: possible place after it -> place before it
    for number, action, _ in place_map.steps[: last_step + 1]:
        new_edge = edge_by_first_step.get(number)
        if new_edge is not None:
            if layers and new_edge.source not in layers[-1] and number - 1 not in edge_by_first_step:
                layers[-1][new_edge.source] = next(iter(layers[-1].values()))  # the game itself moved the player
            layers.append({new_edge.target: new_edge.source})
            continue
        layer: dict[str, str] = {}
        for place in layers[-1] if layers else (start,):
            edges = edges_by_command.get((place, normalize_action(action)), ())
            targets = [edge.target for edge in edges if edge.forward < number]
            layer |= dict.fromkeys(targets or (place,), place)
        layers.append(layer)
    reversed_places: list[str] = []
    expected_place: str | None = None
    for layer in reversed(layers):
        place = expected_place if expected_place in layer else next(iter(layer))
        reversed_places.append(place)
        expected_place = layer[place]
    return tuple(reversed(reversed_places))


def with_machine_ids(place_map: PlaceMap, ids: Mapping[str, str]) -> PlaceMap:
    """Return a map whose places have machine ids in their names (paper, section A.2).

    The id follows the name in parentheses, as in "in debris room (obj59)", and replaces a remark in parentheses at the
    end of the name: "hall (1st floor)" becomes "hall (obj66)". The published files have no ids. Raises a UsageError if
    a place has no id, or two places would have the same name.
    """
    for place in place_map.places:
        if not ids.get(place):
            raise UsageError(f"map {place_map.name}: the place {place[:80]!r} has no id")
    names = {place: f"{MARK.sub('', place)} ({ids[place]})" for place in place_map.places}
    if len(set(names.values())) < len(names):
        raise UsageError(f"map {place_map.name}: two places would have the same name")
    edges = tuple(edge._replace(source=names[edge.source], target=names[edge.target]) for edge in place_map.edges)
    return replace(place_map, places=tuple(names.values()), edges=edges)


def with_machine_ids_from_file(place_map: PlaceMap, folder: Path) -> PlaceMap:
    """Return a map whose places have machine ids in their names, by NAME.anno2code.json (place -> ids) in a folder.

    Raises a UsageError if there is no such file, or a place has no id; a DataError if the file is invalid.
    """
    path = folder / f"{place_map.name}.anno2code.json"
    data = read_json_file(path, LARGEST_FILE, "a file of ids; places have no ids without it")
    if not is_object(data) or not all(is_array(ids) and ids for ids in data.values()):
        raise DataError(f"{path}: not an object of lists, place -> ids")
    machine_ids = {place: " ".join(map(_machine_id, ids)) for place, ids in data.items()}
    # MANGO's own files have the names as annotated, and its maps have them in lower case.
    ids_by_lower_name = {place.lower(): ids for place, ids in machine_ids.items()}
    return with_machine_ids(
        place_map, {place: machine_ids.get(place) or ids_by_lower_name.get(place, "") for place in place_map.places}
    )


def _machine_id(code: Json) -> str:
    """Return the id in a code written by `waybench textmap build` ("27") or by MANGO ("hole (obj102)")."""
    published = _PUBLISHED_ID.search(str(code))
    return published[1] if published else str(code)


def default_prefix_steps(record: EpisodeRecord, options: Mapping[str, Json]) -> dict[str, Json]:
    """Return the option `prefix_steps` for a published walkthrough that no option limits; otherwise no option."""
    is_published = dict(record.item).get("key") == DATA_SET and not options.get("prefix_tokens")
    # A minigame shows what comes before its step, and has no last step of its own; a short walkthrough is shown whole.
    cutoff, place_map = record.instance.get("cutoff", PUBLISHED_STEPS), record.instance.get("map")
    # A record that no simulation confirms may have anything in the map's place.
    n_steps = len(place_map.get("steps", ())) if is_object(place_map) else 0
    is_default = is_published and cutoff in (PUBLISHED_STEPS, min(PUBLISHED_STEPS, n_steps - 1))
    return {"prefix_steps": PUBLISHED_STEPS} if is_default else {}
