"""The game of extractions, and its reference players."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.core import End, Facts, Game, Outcome, Player, Stream, Transition, normal_name
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction
from waybench.envs.textmap.extract._triplet_graph import PlayerTriplets, expected_triplets, result, same_triplet
from waybench.envs.textmap.map import seen_names
from waybench.envs.textmap.questions import Hop, Rules, Trajectory, TrajectoryAnswers, move_index

MODES = ("steps", "whole")
BEFORE = ("told", "own")


@dataclass(frozen=True, slots=True)
class ExtractionState:
    """An extraction and the triplets so far.

    Attributes:
        task: The extraction.
        mode: "steps": one triplet in each turn, the first five being examples; "whole": all in one answer.
        before: The place that the prompt gives as the place before a step: "told" for the true place, "own" for the end
            of the player's last triplet.
        triplets: The triplets so far; None for a step whose triplet could not be read.
        end: None before the last triplet.
    """

    task: Extraction
    mode: str
    before: str
    triplets: PlayerTriplets = ()
    end: End | None = None

    @property
    def step(self) -> int:
        """Number of the next step; of the first step in mode "whole"."""
        return 1 + len(self.triplets) + (EXAMPLES if self.mode == "steps" else 0)

    @property
    def place(self) -> str:
        """The place that the prompt gives as the place before the next step."""
        last = next((hop.after for hop in reversed(self.triplets) if hop is not None), None)
        if self.before == "own" and last is not None:
            return last
        # Before the first triplet, the place is the end of the examples.
        return self.task.truth[self.step - 1 - (len(self.triplets) if self.before == "own" else 0)].before


class ExtractionRules(TrajectoryAnswers, Game[Extraction, ExtractionState, Trajectory]):
    """The player gives triplets, one for each step or all at once; then their graph answers the questions.

    The reward of a right triplet is one divided by the number of triplets. The game is solved if the graph answers all
    questions.

    Args:
        mode: "steps" or "whole".
        before: "told" or "own"; see `ExtractionState`.
        rules: The scoring rules.
    """

    def __init__(self, mode: str, before: str, rules: Rules) -> None:
        self.facts = Facts(deterministic=True, turns=None if mode == "steps" else 1)
        self._mode, self._before, self._rules = mode, before, rules

    def start(self, instance: Extraction) -> ExtractionState:
        """Return the extraction before the first triplet."""
        return ExtractionState(instance, self._mode, self._before)

    def legal(self, state: ExtractionState) -> Sequence[Trajectory]:
        """Return one triplet for each place that the next step could lead to."""
        if state.end is not None:
            return ()
        true = state.task.truth[state.step - 1]
        return [(Hop(true.before, true.action, place),) for place in state.task.map.places]

    def apply(self, state: ExtractionState, action: Trajectory, rng: Stream) -> Transition[ExtractionState]:
        """Score a triplet, or all of them."""
        if state.mode == "steps" and len(action) != 1:
            return Transition(self.forfeit(state), outcome=Outcome.ILLEGAL)
        after = self._with(state, action)
        truth = expected_triplets(state.task, state.mode)
        if state.mode == "steps":
            share = float(same_triplet(action[0], truth[len(state.triplets)]))
            reward = share / len(truth)
        else:
            share = reward = result(state.task, action, state.mode, self._rules).triplets
        places = move_index(state.task.map)
        strange = any(places.find_place(hop.before) is None or places.find_place(hop.after) is None for hop in action)
        wrong = Outcome.ILLEGAL if strange else Outcome.UNPRODUCTIVE
        return Transition(after, reward, {"right": share}, Outcome.OK if share == 1 else wrong)

    def forfeit(self, state: ExtractionState) -> ExtractionState:
        """Continue without a triplet for the step, or end without any."""
        return self._with(state, (None,) if state.mode == "steps" else ())

    def _with(self, state: ExtractionState, more: PlayerTriplets) -> ExtractionState:
        triplets = (*state.triplets, *more)
        if state.mode == "steps" and len(triplets) < len(expected_triplets(state.task, state.mode)):
            return replace(state, triplets=triplets)
        solved = result(state.task, triplets, state.mode, self._rules).success == 1
        return replace(state, triplets=triplets, end=End.SOLVED if solved else End.FAILED)

    def terminal(self, state: ExtractionState) -> End | None:
        """Return whether the graph answers all questions, after the last triplet."""
        return state.end

    def perturb(self, state: ExtractionState, action: Trajectory, rate: float, rng: Stream) -> Trajectory:
        """Replace the end of each triplet by a random place with the given probability."""
        places = state.task.map.places
        return tuple(hop._replace(after=rng.choice(places)) if rng.random() < rate else hop for hop in action)


def _predict(state: ExtractionState, after: Callable[[int, str], str]) -> Trajectory:
    """Return triplets whose end is a function of the step number and the place before, as the player knows it."""
    truth, before = state.task.truth, state.place
    triplets: list[Hop] = []
    for number in range(state.step, state.step + 1 if state.mode == "steps" else len(truth) + 1):
        triplets.append(Hop(before, truth[number - 1].action, after(number, before)))
        before = triplets[-1].after
    return tuple(triplets)


def oracle(state: ExtractionState, rng: Stream) -> Trajectory:
    """Give the true triplets."""
    truth = state.task.truth
    return (truth[state.step - 1],) if state.mode == "steps" else truth


def headings(state: ExtractionState, rng: Stream) -> Trajectory:
    """Take the first line of an observation as the place if it is a name; otherwise assume no move."""
    task = state.task
    names = {normal_name(place): place for place in seen_names(task.map, task.cutoff).places}

    def after(number: int, before: str) -> str:
        lines = task.map.steps[number].observation.strip().splitlines()
        return names.get(normal_name(lines[0]), before) if lines else before

    return _predict(state, after)


def staying(state: ExtractionState, rng: Stream) -> Trajectory:
    """Assume that no step leads anywhere."""
    return _predict(state, lambda number, before: before)


def random(state: ExtractionState, rng: Stream) -> Trajectory:
    """Choose a random place after each step."""
    return _predict(state, lambda number, before: rng.choice(state.task.map.places))


PLAYERS: Mapping[str, Player[ExtractionState, Trajectory]] = {
    "heuristic": headings,
    "oracle": oracle,
    "headings": headings,
    "staying": staying,
    "random": random,
}
