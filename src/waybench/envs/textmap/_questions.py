"""All questions about a map, their numbers at a cutoff, and the writer of maps in the published format."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from waybench.core import Json, UsageError
from waybench.envs.textmap._place_map import Edge, PlaceMap, walkthrough_text
from waybench.envs.textmap._prefix import EasyOrHard, Labels, Rule, edge_labels, is_reached

MOST_PATHS = 100_000  # some hundred megabytes, at 300 bytes for each move of a path
_ENDINGS = {"walkthrough": "walkthrough", "all_pairs": "all_pairs.jsonl", "all2all": "all2all.jsonl"}


class DestinationQuestion(NamedTuple):
    """The question where given moves lead; there is one for each simple path.

    `shortest` is the number of moves of a shortest path between the same places, on the whole map.
    """

    id: str
    edges: tuple[Edge, ...]
    shortest: int
    labels: Labels

    @property
    def source(self) -> str:
        """The place where the path starts."""
        return self.edges[0].source

    @property
    def target(self) -> str:
        """The place where it ends: the answer."""
        return self.edges[-1].target

    @property
    def step_count(self) -> int:
        """Number of moves."""
        return len(self.edges)

    @property
    def diff_shortest(self) -> int:
        """Number of moves in excess of a shortest path."""
        return self.step_count - self.shortest


class RouteQuestion(NamedTuple):
    """The question which moves lead from one place to another; there is one for each ordered pair of places.

    `num_paths` counts simple paths. `shortest` is the number of moves of a shortest path on the whole map; None if
    there is none. `walked` says whether some shortest path has only moves that are made in the labelled part of the
    walkthrough.
    """

    id: str
    source: str
    target: str
    num_paths: int
    shortest: int | None
    labels: Labels
    walked: bool

    def difficulty(self, cutoff: int, rule: Rule = "released") -> EasyOrHard | None:
        """Return the difficulty for a reader of the steps 0 to `cutoff`; None if the question is not answerable."""
        return self.labels.difficulty(cutoff, rule, walked=self.walked)


def destination_questions(place_map: PlaceMap) -> Iterator[DestinationQuestion]:
    """Yield the questions of all simple paths, in constant memory."""
    import numpy as np

    from waybench.envs.textmap._paths import Paths, routes

    edges, all_routes = place_map.edges, routes(place_map)
    texts = [json.dumps({"action": edge.action, "node": edge.target, "prev_node": edge.source}) for edge in edges]
    edge_steps = np.array([edge_labels(edge) for edge in edges], dtype=np.int64)
    for block in Paths(place_map).blocks():
        for path, labels in zip(block, block.maximum_over_moves(edge_steps).tolist(), strict=True):
            numbers: list[int] = path.tolist()
            moves = tuple(edges[number] for number in numbers)
            shortest = all_routes.shortest(moves[0].source, moves[-1].target)
            assert shortest is not None, "the path itself is a way"
            path_json = f"[{', '.join(texts[number] for number in numbers)}]"  # the same separator as `json.dumps`
            yield DestinationQuestion(_sha256_hex(path_json), moves, shortest, Labels(*labels))


def route_questions(place_map: PlaceMap) -> Iterator[RouteQuestion]:
    """Yield the questions of all ordered pairs of different places, in the order of the map's places."""
    from waybench.envs.textmap._paths import Paths, routes

    counts = Paths(place_map).count_paths().pairs
    all_routes = routes(place_map)
    for source, row in zip(place_map.places, counts, strict=True):
        for target, count in zip(place_map.places, row.tolist(), strict=True):
            if source != target:
                question_id = _sha256_hex(json.dumps({"dst_node": target, "src_node": source}))
                shortest, labels = all_routes.shortest(source, target), all_routes.labels(source, target)
                walked = all_routes.has_walked_shortest_path(source, target)
                yield RouteQuestion(question_id, source, target, count, shortest, labels, walked)


def _sha256_hex(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class Counts(NamedTuple):
    """One row of Tables 3 and 5 to 8: the places and moves that are known at a cutoff, and the answerable questions.

    `average_length` is the mean number of moves of the answerable paths; 0 if there is none.
    """

    places: int
    edges: int
    average_length: float
    steps: int
    destination_easy: int
    destination_hard: int
    route_easy: int
    route_hard: int


def count_questions(place_map: PlaceMap, cutoff: int, rule: Rule) -> Counts:
    """Count the questions that are answerable from the steps 0 to `cutoff`; a UsageError beyond `BUDGET` paths."""
    from waybench.envs.textmap._paths import Paths

    edges = [edge for edge in place_map.edges if is_reached(edge_labels(edge).answerable_from(rule), cutoff)]
    path_counts = Paths(place_map, cutoff, rule).count_paths()
    easy, hard = path_counts.lengths.sum(axis=1).tolist()
    routes = Counter(question.difficulty(cutoff, rule) for question in route_questions(place_map))
    places = {place for edge in edges for place in (edge.source, edge.target)}
    return Counts(
        len(places), len(edges), path_counts.average_length, cutoff, easy, hard, routes["easy"], routes["hard"]
    )


class Shares(NamedTuple):
    """Numbers of questions that are answerable from the whole walkthrough."""

    easy: int
    hard: int


class WriteResult(NamedTuple):
    """The result of `write_map`.

    Attributes:
        files: The files, in the order of writing.
        left_out: For each file that was not written, a line with its name and the reason.
        destinations: Number of destination questions; None if there are too many paths to count.
        routes: Number of route questions; None if there are too many paths to count.
    """

    files: tuple[Path, ...]
    left_out: tuple[str, ...]
    destinations: Shares | None
    routes: Shares | None


def write_map(
    folder: Path, place_map: PlaceMap, codes: Mapping[str, Sequence[str]] | None = None, *, most_paths: int = MOST_PATHS
) -> WriteResult:
    """Write the files of a map that `load_map` reads, and all questions; existing files are overwritten.

    Args:
        folder: Output folder; created if it does not exist.
        place_map: The map; file names start with its name.
        codes: Place -> its ids in the game, which are written to two more files, one for each direction.
        most_paths: The destination questions are not written if there are more simple paths than this.
    """
    writer = _FileWriter(folder, place_map.name)
    writer.write_text("walkthrough", [walkthrough_text(place_map.steps)])
    writer.write_json("locations", place_map.places)
    writer.write_json("actions", place_map.actions)
    writer.write_json(
        "edges",
        [
            {"src_node": edge.source, "dst_node": edge.target, "action": edge.action, **_step_record(edge)}
            for edge in place_map.edges
        ],
    )
    if codes is not None:
        writer.write_json("anno2code", {name: list(ids) for name, ids in codes.items()})
        writer.write_json("code2anno", {code: name for name, ids in codes.items() for code in ids})
    return _write_questions(writer, place_map, most_paths)


def _write_questions(writer: "_FileWriter", place_map: PlaceMap, most_paths: int) -> WriteResult:
    """Write the questions of all pairs of places and, up to `most_paths`, of all simple paths."""
    from waybench.envs.textmap._paths import BUDGET, Paths

    try:
        easy, hard = Paths(place_map).count_paths().lengths.sum(axis=1).tolist()
    except UsageError:
        reason = f"not written: there are more than {BUDGET:,} simple paths; label fewer steps for a smaller map"
        left_out = tuple(f"{writer.path_of_kind(kind).name} {reason}" for kind in ("all_pairs", "all2all"))
        return WriteResult(tuple(writer.paths), left_out, None, None)
    difficulties: Counter[str | None] = Counter()

    def pair_record_lines() -> Iterator[str]:
        """Yield a line of JSON for each pair of places, and count their difficulties."""
        for question in route_questions(place_map):
            difficulties[question.difficulty(place_map.last_step)] += 1
            ends: dict[str, Json] = {"src_node": question.source, "dst_node": question.target}
            record = {**ends, "num_paths": question.num_paths, "id": question.id, **_label_record(question.labels)}
            yield f"{json.dumps(record)}\n"

    writer.write_text("all_pairs", pair_record_lines())
    left_out = ()
    if easy + hard <= most_paths:
        writer.write_text("all2all", _path_record_lines(place_map))
    else:
        left_out = (
            f"{writer.path_of_kind('all2all').name} not written: it would have {easy + hard:,} lines, one for each "
            f"simple path; the limit is {most_paths:,}",
        )
    return WriteResult(
        tuple(writer.paths), left_out, Shares(easy, hard), Shares(difficulties["easy"], difficulties["hard"])
    )


def _path_record_lines(place_map: PlaceMap) -> Iterator[str]:
    """Yield one line for each simple path; the text of each move is computed once."""
    move_texts = {
        edge: json.dumps({"prev_node": edge.source, "node": edge.target, "action": edge.action, **_step_record(edge)})
        for edge in place_map.edges
    }
    for question in destination_questions(place_map):
        ends = {"src_node": question.source, "dst_node": question.target, "diff_shortest": question.diff_shortest}
        last_fields = {"step_count": question.step_count, "id": question.id, **_label_record(question.labels)}
        details = ", ".join(move_texts[edge] for edge in question.edges)
        yield f'{json.dumps(ends)[:-1]}, "path_details": [{details}], {json.dumps(last_fields)[1:]}\n'


def _step_record(edge: Edge) -> dict[str, Json]:
    """Return the steps of a move by the published names."""
    return {
        "seen_in_forward": edge.forward,
        "seen_in_reversed": edge.reverse,
        "edge_min_step": edge.known_step,
        "seen_in_forward_answerable": edge.forward_named,
        "seen_in_reversed_answerable": edge.reverse_named,
        "edge_min_step_answerable": edge.named_step,
    }


def _label_record(labels: Labels) -> dict[str, Json]:
    """Return the labels of a question by the published names."""
    return {
        "min_step_forward": labels.forward,
        "min_step_total": labels.known,
        "min_step_forward_answerable": labels.forward_named,
        "min_step_total_answerable": labels.known_named,
    }


class _FileWriter:
    """Writer of the files of one map; each file is renamed to its name when it is complete."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self.paths: list[Path] = []

    def path_of_kind(self, kind: str) -> Path:
        """Return the path of the map's file of a kind, such as "edges"."""
        return self._folder / f"{self._name}.{_ENDINGS.get(kind, f'{kind}.json')}"

    def write_json(self, kind: str, value: Json) -> None:
        """Write a value as indented JSON."""
        self.write_text(kind, [json.dumps(value, indent=4) + "\n"])

    def write_text(self, kind: str, texts: Iterable[str]) -> None:
        """Write the parts of a text as they come; a UsageError if that fails."""
        path = self.path_of_kind(kind)
        unfinished = path.with_name(f"{path.name}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with unfinished.open("w", encoding="utf-8", newline="") as stream:
                    stream.writelines(texts)
                os.replace(unfinished, path)
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}; choose another folder") from None
        self.paths.append(path)
