"""Every published prompt, answer and score of MANGO that is at hand (shared/specs/mango.md, sections 4 to 7).

Where ours differ from the published evaluator, they do so on purpose: each such case has to belong to a `Difference`,
for a reason that the golden file itself gives. No set of golden files has to have every kind of them. An answer with a
move that is as close to one action as to another was scored by chance, and is not compared.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from tests.conftest import shared
from waybench._scoring import score_line
from waybench.core import Invalid, normalize_name
from waybench.envs.textmap._answers import (
    PAPER,
    SOUND,
    Trajectory,
    answer_success,
    is_reasoning_right,
    move_index,
    parse_published_answer,
    parse_sound_answer,
    path_length_weight,
    possible_destinations,
    read_trajectory,
)
from waybench.envs.textmap._instances import name_similarity
from waybench.envs.textmap._paths import routes
from waybench.envs.textmap._place_map import NEVER, PlaceMap, load_map
from waybench.envs.textmap._prefix import (
    PUBLISHED_STEPS,
    Labels,
    all_names,
    path_labels,
    places_after_steps,
    published_walkthrough_text,
)
from waybench.envs.textmap._wording import CHAT, COMPLETION, opening_text, question_text

Compared = Callable[[str, str, int], None]

FAMILIES = {"gpt": CHAT, "claude": CHAT, "llama": COMPLETION, "rwkv": COMPLETION}


class Difference(Enum):
    """Intended differences from the scores of the published evaluator (spec, sections 5 and 6)."""

    DESTINATION_READ = "the destination that was answered is read; the evaluator compared the true one with itself"
    VALIDATED_MOVES = "routes take only moves that were tried in the game; the evaluator added opposites unseen"
    ALL_OR_NOTHING = "a route reaches the destination or fails; the evaluator gave credit for a similar name"
    FIXED_TIES = "of equally close moves the one that leads on is taken; the evaluator's choice was one of chance"
    GIVEN_MOVES = "the reasoning of a destination has to make the moves given; the evaluator took any way there"
    CLOSEST_MOVES = "in such reasoning the closest valid move counts, as in a route; the evaluator wanted the same text"
    NO_CRASH = "a list of other things than objects is ill-structured; the evaluator stopped there"
    NO_EVAL = "an expression that is no literal is ill-structured; the evaluator evaluated it"
    BOUNDED = "an answer of more characters or moves than the parser's limits is ill-structured; there were no limits"
    NEVER_IS_NEVER = "a pair of places without a path is not answerable; the evaluator took never for step 9999"
    KEPT_APART = "answers to unanswerable questions are kept apart; the evaluator gave them zeros"
    OWN_QUESTIONS = "a question is scored from its own text; the evaluator gave zeros if its id was unknown"


class Ask(NamedTuple):
    source: str
    target: str
    actions: tuple[str, ...] = ()


class Case(NamedTuple):
    """A golden case with what we make of it."""

    golden: dict[str, Any]
    map: PlaceMap
    ask: Ask
    answer: Trajectory | Invalid

    @property
    def scored(self) -> bool:
        """Whether the published evaluator came to score it: it knew the id, and took the question for answerable."""
        golden = self.golden
        return bool(golden["parse_ok"] and golden["answerable"] and not golden["ref"]["id_error"])


def golden(*name: str) -> Path:
    return shared("WAYBENCH_GOLDEN", "golden", "mango", *name)


def load(name: str) -> Any:
    return json.loads(golden(name).read_text(encoding="utf-8"))


@cache
def place_map(name: str) -> PlaceMap:
    return load_map(shared("WAYBENCH_DATA", "data", "mango", name), name)


@cache
def questions(name: str) -> dict[str, dict[str, Any]]:
    """Return the published questions of a game by their ids."""
    folder = shared("WAYBENCH_DATA", "data", "mango", name)
    lines = [
        line
        for kind in ("all_pairs", "all2all")
        for line in (folder / f"{name}.{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return {record["id"]: record for record in map(json.loads, lines)}


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases of all files, each once."""
    found: dict[int, Case] = {}
    for path in sorted(golden().glob("cases*.json")):
        for record in json.loads(path.read_text(encoding="utf-8")):
            reply = record["response"]
            found[record["case_id"]] = Case(
                record,
                place_map(record["game"]),
                Ask(record["src_node"], record["dst_node"], tuple(record["action_list"] or ())),
                parse_published_answer(reply) if isinstance(reply, str) else read_trajectory(reply),
            )
    return tuple(found.values())


def parsed() -> Iterator[tuple[dict[str, Any], Case, Trajectory]]:
    for case in cases():
        if not isinstance(case.answer, Invalid):
            yield case.golden, case, case.answer


def note(kind: str, found: Counter[Difference], compared: Compared) -> None:
    """Tell how many cases of a kind differ on purpose, by the name of the difference."""
    for difference, count in found.items():
        compared("mango", f"{kind} that differ by {difference.name}", count)


def test_edit_distances(compared: Compared) -> None:
    pairs = load("edit_distance.json")
    for pair in pairs:
        assert name_similarity(pair["a"], pair["b"]) == pytest.approx(pair["score"], rel=0, abs=1e-12), pair
    compared("mango", "edit distances", len(pairs))


def test_answers_are_read_as_published(compared: Compared) -> None:
    crashed = 0
    for case in cases():
        reply = case.golden["response"]
        assert isinstance(case.answer, Invalid) != case.golden["parse_ok"], reply
        if not isinstance(case.answer, Invalid):
            assert len(case.answer) == case.golden["answer_len"]
        crashed += case.golden["ref_crash"] is not None
    compared("mango", "answers", len(cases()))
    note("answers", Counter({Difference.NO_CRASH: crashed}), compared)


def test_sound_reads_what_is_well_formed(compared: Compared) -> None:
    """What is published as ill-structured and is read all the same, by the kind of answer."""
    read: Counter[str] = Counter()
    count = 0
    for case in cases():
        reply = case.golden["response"]
        if not isinstance(reply, str):
            continue
        found = parse_sound_answer(reply)
        count += 1
        if case.golden["parse_ok"]:
            assert not isinstance(found, Invalid), reply
            if "two_lists" not in case.golden["origin"]:  # of two lists the first was published, the last one counts
                assert found == case.answer
        elif not isinstance(found, Invalid):
            read[case.golden["origin"].removeprefix("synthetic:")] += 1
    assert set(read) <= {"bracket_in_name", "nested_bracket"}
    compared("mango", "answers read by sound", count)


def test_destinations(compared: Compared) -> None:
    count = 0
    differences: Counter[Difference] = Counter()
    for record, case, answer in parsed():
        if record["task"] != "df":
            continue
        count += 1
        # The question's own place, and all that the moves can reach: both are given for every answer that was read.
        own = answer_success(case.map, case.ask, answer, PAPER, any_reached=False)
        best = answer_success(case.map, case.ask, answer, PAPER)
        assert own == pytest.approx(record["paper_df_score"], rel=0, abs=1e-12), record["case_id"]
        assert own == pytest.approx(record["expected_success_paper"], rel=0, abs=1e-12)
        # The golden file reaches places by opposite moves that were never tried, too.
        reached = possible_destinations(case.map, case.ask)
        assert case.ask.target in reached <= set(record["reached_nodes"])
        if best != pytest.approx(record["paper_df_score_best_of_reached"], rel=0, abs=1e-12):
            assert reached < set(record["reached_nodes"])
            assert best == max(name_similarity(answer[-1].after, place) for place in reached)
            differences[Difference.VALIDATED_MOVES] += 1
        assert answer_success(case.map, case.ask, answer, SOUND) == (
            normalize_name(answer[-1].after) in map(normalize_name, reached)
        )
        if case.scored:
            assert record["ref"]["loose_score"] == 1  # whatever was answered
            differences[Difference.DESTINATION_READ] += own != 1
        else:
            assert record["ref"]["loose_score"] == 0
    compared("mango", "destinations", count)
    assert differences.keys() <= {Difference.DESTINATION_READ, Difference.VALIDATED_MOVES}
    note("destinations", differences, compared)


def test_routes(compared: Compared) -> None:
    count = 0
    differences: Counter[Difference] = Counter()
    for record, case, answer in parsed():
        if record["task"] != "rf" or not case.scored:
            continue
        got = answer_success(case.map, case.ask, answer, PAPER)
        expected = record["expected_success_paper"]
        if expected is None or tied(case, answer):
            differences[Difference.FIXED_TIES] += 1
            continue
        count += 1
        assert got == expected, record["case_id"]
        # How similar the places reached are, as the evaluator gave credit, on the moves that were tried.
        reached = move_index(case.map).places_after_actions(case.ask.source, [hop.action for hop in answer], PAPER)
        credit = max((name_similarity(case.ask.target, place) for place in reached), default=0)
        assert credit == pytest.approx(record["rf_loose_on_validated_edges_only"], rel=0, abs=1e-12)
        if got != record["ref"]["loose_score"]:
            unseen = record["rf_loose_on_validated_edges_only"] != record["ref"]["loose_score"]
            assert unseen or 0 < credit < 1
            differences[Difference.VALIDATED_MOVES if unseen else Difference.ALL_OR_NOTHING] += 1
    compared("mango", "routes", count)
    kinds = {Difference.VALIDATED_MOVES, Difference.ALL_OR_NOTHING, Difference.FIXED_TIES}
    assert differences.keys() <= kinds
    note("routes", differences, compared)


def tied(case: Case, answer: Trajectory) -> bool:
    """Whether some move of an answer is equally close to several actions of the map.

    Runs of the evaluator disagree then, by the order in which they meet these: the success of such a route, and the
    credit that it gave in part, is one of several. In reasoning it took words as they were.
    """
    scores = [sorted(name_similarity(hop.action, action) for action in case.map.actions) for hop in answer]
    return any(near[-1] == near[-2] for near in scores if len(near) > 1)


def test_sound_routes(compared: Compared) -> None:
    """A route succeeds in `sound` if it does by the moves that were tried and each of its moves is named as it is."""
    count = 0
    for record, case, answer in parsed():
        published = record["expected_success_paper"] is not None and not tied(case, answer)
        if record["task"] == "rf" and case.scored and published:
            named = all(normalize_name(hop.action) in case.map.actions for hop in answer)
            expected = named and record["rf_loose_on_validated_edges_only"] == 1
            assert answer_success(case.map, case.ask, answer, SOUND) == expected, record["case_id"]
            count += 1
    compared("mango", "routes of sound", count)


def test_reasoning(compared: Compared) -> None:
    count = 0
    differences: Counter[Difference] = Counter()
    for record, case, answer in parsed():
        if not case.scored:
            continue
        count += 1
        got = is_reasoning_right(case.map, case.ask, answer, PAPER)
        published = record["expected_reasoning_reference"]
        said = tuple(hop.action for hop in answer)
        if record["task"] == "rf" and "rf_reasoning_on_validated_edges_only" in record:
            assert got == record["rf_reasoning_on_validated_edges_only"], record["case_id"]
        if got == published:
            continue
        if record["task"] == "rf":
            assert record["rf_reasoning_on_validated_edges_only"] != published
            differences[Difference.VALIDATED_MOVES] += 1
        elif got:
            # Only the words of the moves are others, and they mean the moves given.
            assert said != case.ask.actions and len(said) == len(case.ask.actions)
            assert [hop.before for hop in answer] == [case.ask.source, *(hop.after for hop in answer[:-1])]
            differences[Difference.CLOSEST_MOVES] += 1
        else:
            assert record["df_reasoning_1_but_moves_differ"]
            assert said != case.ask.actions
            differences[Difference.GIVEN_MOVES] += 1
    compared("mango", "trajectories", count)
    assert differences.keys() <= {Difference.VALIDATED_MOVES, Difference.CLOSEST_MOVES, Difference.GIVEN_MOVES}
    note("trajectories", differences, compared)


def test_weights(compared: Compared) -> None:
    count = 0
    differences: Counter[Difference] = Counter()
    for record, case, answer in parsed():
        got = path_length_weight(case.map, case.ask, answer)
        if not record["answerable"]:
            assert record["expected_spl_weight"] == 0
            differences[Difference.KEPT_APART] += 1
        elif record["ref"]["id_error"]:
            assert record["expected_spl_weight"] == 0 < got
            differences[Difference.OWN_QUESTIONS] += 1
        elif got != pytest.approx(record["expected_spl_weight"], rel=0, abs=1e-12):
            # There is no way, of which the evaluator supposes that it is one move long.
            assert questions(record["game"])[record["sample_id"]]["num_paths"] == got == 0
            differences[Difference.NEVER_IS_NEVER] += 1
        else:
            count += 1
    compared("mango", "weights", count)
    expected = {Difference.KEPT_APART, Difference.OWN_QUESTIONS, Difference.NEVER_IS_NEVER}
    assert differences.keys() <= expected
    note("weights", differences, compared)


def line_of(record: dict[str, Any]) -> bytes:
    """Return a case as a line of stored replies."""
    reply = record["response"]
    instance = {
        "game": record["game"],
        "src": record["src_node"],
        "dst": record["dst_node"],
        "cutoff": record["cutoff"],
        **({"actions": record["action_list"]} if record["task"] == "df" else {}),
    }
    env = {"rf": "textmap/route", "df": "textmap/destination"}[record["task"]]
    replies = [reply if isinstance(reply, str) else json.dumps(reply)]
    return json.dumps({"env": env, "instance": instance, "replies": replies}).encode()


def test_stored_replies_are_scored_by_the_name_of_the_game(compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `waybench score` prints of each case; where it differs, it does so for one of the reasons above."""
    monkeypatch.setenv("WAYBENCH_DATA", str(shared("WAYBENCH_DATA", "data")))
    differences: Counter[Difference] = Counter()
    count = 0
    for case in cases():
        record = case.golden
        result = score_line(line_of(record), 1)
        assert "error" not in result, result
        found = result["metrics"]
        known = record["sample_id"] in questions(record["game"])
        never = record["min_step_total_answerable"] == NEVER <= record["cutoff"]
        assert found["parsed"] == record["parse_ok"]
        if never:
            assert found["answerable"] == 0
            differences[Difference.NEVER_IS_NEVER] += 1
            continue
        assert found["answerable"] == record["answerable"]
        if known:
            assert found["difficulty"] == record["difficulty"]
        else:  # a real question under another id
            assert record["difficulty"] is None
            differences[Difference.OWN_QUESTIONS] += 1
        expected = record["expected_success_paper"]
        tie = not isinstance(case.answer, Invalid) and tied(case, case.answer)
        if record["task"] == "rf" and found["mango_success"] is not None and (expected is None or tie):
            differences[Difference.FIXED_TIES] += 1
            continue
        assert found["mango_success"] == (None if expected is None else pytest.approx(expected, rel=0, abs=1e-12))
        assert found["mango_left_out"] == (not record["parse_ok"])
        if found["mango_success"] is None:
            assert found["success"] == (None if record["parse_ok"] else 0)
        else:
            assert found["success"] == found["mango_success"]
        if found["mango_success"] is not None and case.scored:
            weight = record["expected_spl_weight"]
            assert found["mango_spl"] == pytest.approx(found["success"] * weight, rel=0, abs=1e-12)
            assert found["mango_reasoning"] == is_reasoning_right(case.map, case.ask, case.answer, PAPER)
        count += 1
    compared("mango", "scored lines", count)
    note("scored lines", differences, compared)


def labels(case: Case) -> Labels:
    """Return the labels of a case's question, made from the moves alone."""
    if not case.ask.actions:
        return routes(case.map).labels(case.ask.source, case.ask.target)
    path = questions(case.golden["game"])[case.golden["sample_id"]]["path_details"]
    return path_labels(case.map.find_edge(move["prev_node"], move["action"], move["node"]) for move in path)


def test_answerable_and_difficulty(compared: Compared) -> None:
    count = never = 0
    for case in cases():
        record = case.golden
        if record["sample_id"] not in questions(record["game"]):
            assert record["difficulty"] is None
            continue
        found = labels(case)
        assert found.known_named == record["min_step_total_answerable"]
        assert found.forward_named == record["min_step_forward_answerable"]
        difficulty = found.difficulty(record["cutoff"])
        if found.known_named == NEVER <= record["cutoff"]:
            assert record["difficulty"] == "easy" and difficulty is None
            never += 1
            continue
        assert difficulty == record["difficulty"]
        assert (difficulty is not None) == record["answerable"]
        count += 1
    compared("mango", "difficulties", count)
    note("difficulties", Counter({Difference.NEVER_IS_NEVER: never}), compared)


def test_prompts(compared: Compared) -> None:
    prompts = load("prompts.json")
    openings: dict[tuple[str, ...], set[str]] = {}
    for record in prompts:
        case = place_map(record["game"])
        asked = questions(record["game"])[record["sample_id"]]
        actions = tuple(move["action"] for move in asked.get("path_details", ()))
        template = FAMILIES[record["family"]]
        shown = published_walkthrough_text(case.steps, record["max_step_num"])
        begin = opening_text(template, shown, all_names(case))
        text = begin + question_text(template, Ask(asked["src_node"], asked["dst_node"], actions))
        assert text == record["head"] + shown + record["after_walkthrough"]
        assert shown.endswith(record["walkthrough_tail"])
        assert (len(shown), len(text)) == (record["walkthrough_chars"], record["prompt_chars"])
        assert hashlib.sha256(text.encode()).hexdigest() == record["prompt_sha256"]
        assert (template.lead + " X ".strip() if template.lead else " X ") == record["answer_for_raw_X"]
        openings.setdefault((record["game"], str(record["max_step_num"])), set()).add(begin)
    assert all(len(begins) == 1 for begins in openings.values())  # the same for both kinds of questions
    compared("mango", "prompts", len(prompts))


EXAMPLES = {  # game 905, claude-instant-1: successes and questions, easy and hard
    "route_finding": {"easy": (8, 11), "hard": (3, 5)},
    "desti_finding": {"easy": (11, 11), "hard": (3.3651, 5)},
}


@pytest.mark.parametrize("task", EXAMPLES)
def test_published_example_answers(task: str, compared: Compared) -> None:
    folder = shared("WAYBENCH_DATA", "data", "mango_examples", f"claude-instant-1_{task}_debug", "905")
    case = place_map("905")
    scores: dict[str, list[float]] = {"easy": [], "hard": []}
    weighted: dict[str, list[float]] = {"easy": [], "hard": []}
    unanswerable = 0
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        assert record["walkthrough_text"] == published_walkthrough_text(case.steps, record["model_cutoff_num"])
        ask = Ask(record["src_node"], record["dst_node"], tuple(record.get("action_list") or ()))
        kept = Case({"game": "905", "sample_id": record["sample_id"]}, case, ask, ())
        difficulty = labels(kept).difficulty(record["model_cutoff_num"])
        if difficulty is None:
            assert not record["answerable"] and record["response"] == ""
            unanswerable += 1
            continue
        assert question_text(CHAT, ask) == record["question"]
        answer = parse_published_answer(record["response"])
        assert not isinstance(answer, Invalid)
        scores[difficulty].append(answer_success(case, ask, answer, PAPER))
        weighted[difficulty].append(scores[difficulty][-1] * path_length_weight(case, ask, answer))
    assert unanswerable == (4 if task == "route_finding" else 0)
    for difficulty, (right, asked) in EXAMPLES[task].items():
        assert len(scores[difficulty]) == asked
        assert sum(scores[difficulty]) == pytest.approx(right, abs=0.005)
    if task == "route_finding":
        assert fmean(weighted["easy"]) == pytest.approx(0.7273, abs=5e-5)
        assert fmean(weighted["hard"]) == pytest.approx(0.6, abs=5e-5)
    compared("mango", "example answers", sum(map(len, scores.values())))


def test_where_the_player_is_on_every_published_walkthrough(compared: Compared) -> None:
    """Every move of a map is made from where the player is said to be, but for one: its step before leads elsewhere."""
    count = 0
    strange: list[tuple[str, int]] = []
    for folder in sorted(shared("WAYBENCH_DATA", "data", "mango").iterdir()):
        case = place_map(folder.name)
        assert len({normalize_name(place) for place in case.places}) == len(case.places)
        places = places_after_steps(case, min(PUBLISHED_STEPS, case.last_step))
        for edge in case.edges:
            if edge.forward < NEVER:
                count += 1
                if (places[edge.forward - 1], places[edge.forward]) != (edge.source, edge.target):
                    strange.append((case.name, edge.forward))
    assert strange == [("murdac", 70)]
    compared("mango", "moves of simplified walkthroughs", count)
