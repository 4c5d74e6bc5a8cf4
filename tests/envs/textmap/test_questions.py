import hashlib
import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from tests.envs.textmap import HOUSE, all_paths, edge, maps, of_edges, square
from waybench.core import Stream
from waybench.envs.textmap._paths import Paths, PathSelection, routes
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap
from waybench.envs.textmap._prefix import DIFFICULTIES, Labels, Rule, path_labels
from waybench.envs.textmap._questions import (
    Counts,
    DestinationQuestion,
    RouteQuestion,
    count_questions,
    destination_questions,
    route_questions,
)

RULES: tuple[Rule, ...] = ("released", "tables")


def destination_question(place_map: PlaceMap, edges: Iterable[Edge]) -> DestinationQuestion:
    (found,) = (question for question in destination_questions(place_map) if question.edges == tuple(edges))
    return found


def route_question(place_map: PlaceMap, source: str, target: str) -> RouteQuestion:
    (found,) = (each for each in route_questions(place_map) if (each.source, each.target) == (source, target))
    return found


def published_id(records: object) -> str:
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def test_published_ids() -> None:
    # Of the published game 905.
    path = [edge("bedroom", "south", "bathroom", 3, 10)]
    place_map = of_edges("905", path)
    assert destination_question(place_map, path).id == (
        "294beb47c5ff764ce0bde567f7cf8f8b40de61550724b201cda3df0dc1dc7317"
    )
    assert route_question(place_map, "bedroom", "bathroom").id == (
        "25263dd09aab39cd4bdb45c07057aa09fa6b6fab216e3f954034e052ecd05293"
    )


def test_ids_are_of_the_json_of_the_moves() -> None:
    path = [edge("Küche", "„geh“", "Bad \U0001f6c1", 1), edge("Bad \U0001f6c1", 'say "hi"', "yard", 2)]
    place_map = of_edges("ids", path)
    records = [{"prev_node": each.source, "node": each.target, "action": each.action} for each in path]
    assert destination_question(place_map, path).id == published_id(records)
    assert route_question(place_map, "Küche", "yard").id == published_id({"src_node": "Küche", "dst_node": "yard"})


def test_a_destination_question() -> None:
    found = destination_question(
        HOUSE, [HOUSE.find_edge("attic", "jump", "hall"), HOUSE.find_edge("hall", "out", "garden")]
    )
    assert (found.source, found.target) == ("attic", "garden")
    assert (found.step_count, found.shortest, found.diff_shortest) == (2, 2, 0)
    assert found.labels == Labels(forward=6, known=6, forward_named=6, known_named=6, counted=6)
    assert [found.labels.difficulty(cutoff) for cutoff in (5, 6, 10**6)] == [None, "easy", "easy"]
    long = destination_question(
        HOUSE, [HOUSE.find_edge("hall", "out", "garden"), HOUSE.find_edge("garden", "up", "attic")]
    )
    assert (long.step_count, long.shortest, long.diff_shortest) == (2, 1, 1)
    assert [long.labels.difficulty(cutoff) for cutoff in (6, 7, 10**6)] == [None, "hard", "hard"]


def test_a_route_question() -> None:
    found = route_question(HOUSE, "hall", "attic")
    assert (found.num_paths, found.shortest, found.walked) == (2, 1, True)
    assert found.labels == Labels(forward=1, known=1, forward_named=1, known_named=1, counted=1)
    none = route_question(HOUSE, "cellar", "attic")
    assert (none.num_paths, none.shortest, none.walked, set(none.labels)) == (0, None, False, {NEVER})
    assert [none.difficulty(10**6, rule) for rule in RULES] == [None, None]
    # The garden's way in was inferred at step 3, made at step 5, and its names are known two steps later.
    way_in = route_question(HOUSE, "garden", "hall")
    assert way_in.labels == Labels(forward=5, known=3, forward_named=7, known_named=5, counted=5)
    assert [way_in.difficulty(cutoff) for cutoff in (4, 5, 6, 7)] == [None, "hard", "hard", "easy"]
    assert [way_in.difficulty(cutoff, "tables") for cutoff in (4, 5)] == [None, "easy"]


@given(maps(), st.integers(0, 9), st.sampled_from(RULES))
def test_the_pairs_of_a_difficulty_are_those_that_have_it_one_by_one(
    place_map: PlaceMap, cutoff: int, rule: Rule
) -> None:
    each = list(route_questions(place_map))
    for difficulty in DIFFICULTIES:
        wanted = [(one.source, one.target) for one in each if one.difficulty(cutoff, rule) == difficulty]
        known = routes(place_map)
        assert [known.pair_of_number(number) for number in known.pair_numbers(difficulty, cutoff, rule)] == wanted


def test_the_rule_of_the_tables_looks_at_the_shortest_ways_of_the_whole_map() -> None:
    up = route_question(HOUSE, "garden", "attic")
    assert up.labels == Labels(forward=5, known=3, forward_named=7, known_named=5, counted=5)
    assert not up.walked  # the shortest one is never made
    assert up.difficulty(7) == "easy"
    assert up.difficulty(7, "tables") == "hard"


@given(maps())
def test_questions_agree_with_the_definition(place_map: PlaceMap) -> None:
    every = list(all_paths(place_map, range(len(place_map.edges))))
    of = {path: tuple(place_map.edges[number] for number in path) for path in every}
    ends = {path: (edges[0].source, edges[-1].target) for path, edges in of.items()}
    shortest = {pair: min(len(path) for path in every if ends[path] == pair) for pair in ends.values()}

    found = {question.edges: question for question in destination_questions(place_map)}
    assert set(found) == set(of.values())
    for path, edges in of.items():
        question = found[edges]
        records = [{"prev_node": each.source, "node": each.target, "action": each.action} for each in edges]
        assert question.id == published_id(records)
        assert question.labels == path_labels(edges)
        assert question.shortest == shortest[ends[path]]

    routes = list(route_questions(place_map))
    assert [(each.source, each.target) for each in routes] == [
        (source, target) for source in place_map.places for target in place_map.places if source != target
    ]
    for route in routes:
        pair = (route.source, route.target)
        labels = [path_labels(edges) for path, edges in of.items() if ends[path] == pair]
        best = [edges for path, edges in of.items() if ends[path] == pair and len(edges) == shortest[pair]]
        assert route.num_paths == len(labels)
        assert route.shortest == shortest.get(pair)
        assert route.labels == Labels(*map(min, zip(Labels(*[NEVER] * 5), *labels, strict=True)))
        assert route.walked == any(all(each.forward < NEVER for each in edges) for edges in best)


@given(maps(), st.integers(0, 12), st.sampled_from(RULES))
def test_counts_agree_with_the_questions(place_map: PlaceMap, cutoff: int, rule: Rule) -> None:
    paths = list(destination_questions(place_map))
    answerable = [each for each in paths if each.labels.difficulty(cutoff, rule)]
    kinds = [each.labels.difficulty(cutoff, rule) for each in answerable]
    routes = [each.difficulty(cutoff, rule) for each in route_questions(place_map)]
    known = [
        each for each in place_map.edges if (each.named_step if rule == "released" else each.counted_step) <= cutoff
    ]
    assert count_questions(place_map, cutoff, rule) == Counts(
        len({place for each in known for place in (each.source, each.target)}),
        len(known),
        sum(each.step_count for each in answerable) / len(answerable) if answerable else 0,
        cutoff,
        kinds.count("easy"),
        kinds.count("hard"),
        routes.count("easy"),
        routes.count("hard"),
    )


def test_samples_are_of_the_difficulty_that_was_asked_for() -> None:
    for difficulty in ("easy", "hard"):
        choice = PathSelection(difficulty=difficulty, longest=2)
        sample = Paths(HOUSE, 7).sample_paths(3, Stream("some"), choice)
        drawn = [destination_question(HOUSE, [HOUSE.edges[number] for number in path]) for path in sample]
        assert len({question.id for question in drawn}) == 3
        assert {(question.labels.difficulty(7), question.step_count <= 2) for question in drawn} == {(difficulty, True)}
        assert sample == Paths(HOUSE, 7).sample_paths(3, Stream("some"), choice)


def test_questions_are_a_stream() -> None:
    questions = destination_questions(square(12))  # which nobody could list
    assert [next(questions).step_count for _ in range(3)] == [1, 2, 3]


def test_maps_without_moves_have_questions_all_the_same() -> None:
    place_map = of_edges("islands", [], ["here", "there"])
    assert list(destination_questions(place_map)) == []
    assert [(each.source, each.num_paths) for each in route_questions(place_map)] == [("here", 0), ("there", 0)]
    assert count_questions(place_map, 5, "released") == Counts(0, 0, 0.0, 5, 0, 0, 0, 0)
