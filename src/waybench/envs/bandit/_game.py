"""Slot machines whose chances are unknown: instances, rules, wording, players and sets by key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from waybench.core import HARDER, DataError, Instance, Json, KeyedSource, Option, Stream, UsageError, is_array
from waybench.envs.smartplay import ActionEffect, Rules, best_action_and_gaps, field_values, is_within

MOST_ARMS = 1_000
LARGEST_PAYOFF = 1_000.0
LARGEST_DRAW = 2**53

Arm = tuple[float, float]

# The registered settings (shared/specs/smartplay.md, 2) as (probability, payoff) of each arm, by our names.
SETTINGS: dict[str, tuple[Arm, ...]] = {
    "deterministic": ((1.0, 1.0), (0.0, 1.0)),
    "high_low": ((0.8, 1.0), (0.2, 1.0)),
    "high_high": ((0.8, 1.0), (0.9, 1.0)),
    "low_low": ((0.1, 1.0), (0.2, 1.0)),
}
PUBLISHED = {
    "deterministic": "BanditTwoArmedDeterministicFixed",
    "high_low": "BanditTwoArmedHighLowFixed",
    "high_high": "BanditTwoArmedHighHighFixed",
    "low_low": "BanditTwoArmedLowLowFixed",
}


@dataclass(frozen=True, slots=True)
class Bandit(Instance):
    """Some slot machines.

    Attributes:
        arms: (probability, payoff) of each machine: it pays its payoff with its probability, and otherwise takes as
            much.
        drift: The most by which a probability changes in one step; 0 if all stay as they are.
        draw: A number that tells apart instances with the same machines but other random results.
    """

    arms: tuple[Arm, ...]
    drift: float = 0.0
    draw: int = 0

    @property
    def level(self) -> int:
        return len(self.arms)

    @property
    def setting(self) -> str | None:
        """The name of the registered setting with these machines, in any order; None without such a setting."""
        if self.drift:
            return None
        return next((name for name, arms in SETTINGS.items() if sorted(arms) == sorted(self.arms)), None)

    def canonical(self) -> str:
        arms = " ".join(f"{chance!r}:{payoff!r}" for chance, payoff in self.arms)
        return f"{arms} drift {self.drift!r} draw {self.draw}"

    def to_json(self) -> Json:
        """Return {"arms": [[probability, payoff], ...], "drift": ..., "draw": ...}."""
        return {"arms": [list(arm) for arm in self.arms], "drift": self.drift, "draw": self.draw}


def decode(data: Json) -> Bandit:
    """Read {"arms": [[0.8, 1], [0.2, 1]], "drift": 0, "draw": 7}; raise DataError for anything else."""
    form = 'instance: give {"arms": [[0.8, 1], [0.2, 1]], "drift": 0, "draw": 7}'
    arms_data, drift, draw = field_values(data, ("arms", "drift", "draw"), form)
    if not is_array(arms_data):
        raise DataError(form)
    if not 2 <= len(arms_data) <= MOST_ARMS:
        raise DataError(f"instance: give 2 to {MOST_ARMS} arms")
    arms: list[Arm] = []
    for arm in arms_data:
        match arm:
            case [chance, payoff] if is_within(chance, 0, 1) and is_within(payoff, 0, LARGEST_PAYOFF) and payoff > 0:
                arms.append((float(chance), float(payoff)))
            case _:
                raise DataError(
                    f"instance: an arm is [probability, payoff], from 0 to 1 and from above 0 to {LARGEST_PAYOFF:g}"
                )
    if not is_within(drift, 0, 1):
        raise DataError("instance: drift is a number from 0 to 1")
    if type(draw) is not int or not 0 <= draw < LARGEST_DRAW:
        raise DataError("instance: draw is a whole number from 0 to 2**53 - 1")
    return Bandit(tuple(arms), float(drift), draw)


# Protocol text: the published program's, with {count} for its 2.
MANUAL = (
    "You are in the casino with {count} slot machines in front of you. "
    "Your goal is to try to earn the most from those slot machines."
)
ACTION = "Pull slot machine {number}."
BEGIN = "A new round begins."
PULLED = "You pulled slot machine {number}, you received reward {reward:g}."

# Ours.
DRIFTS = " The chances of each slot machine change slowly as you play."


class Machines(NamedTuple):
    """The machines after some steps.

    Attributes:
        chances: The probability of each machine now.
        best: The machine with the highest expected reward; the first of several.
        gaps: How much less the expected reward of each machine is than that of the best.
        counts: For each machine two numbers: how often it has paid, and how often not.
        score: Steps in which the best machine was pulled.
        arm: The machine pulled last; -1 at the start.
        reward: What the last pull paid; negative if the machine took it.
    """

    bandit: Bandit
    chances: tuple[float, ...]
    best: int
    gaps: tuple[float, ...]
    counts: tuple[int, ...]
    score: int = 0
    arm: int = -1
    reward: float = 0.0


def best_machine_and_gaps(bandit: Bandit, chances: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return the machine with the highest expected reward, and how much less the expected reward of each machine is.

    The expected reward is p r - (1 - p) r, as the paper has payoffs of r and -r. The published program has -1 in place
    of -r, which is the same in every registered setting, as all their payoffs are 1.
    """
    return best_action_and_gaps(
        [chance * payoff - (1 - chance) * payoff for chance, (_, payoff) in zip(chances, bandit.arms, strict=True)]
    )


class BanditRules(Rules[Bandit, Machines]):
    """Each pull pays a machine's payoff with its probability, and otherwise takes as much; the game never ends.

    Events: `optimal`, whether the best machine was pulled; `regret`, how much less the pulled one's expected reward is.
    """

    deterministic = False

    def begin(self, instance: Bandit) -> Machines:
        chances = tuple(chance for chance, _ in instance.arms)
        return Machines(instance, chances, *best_machine_and_gaps(instance, chances), (0, 0) * len(chances))

    def actions(self, instance: Bandit) -> Sequence[str]:
        return _action_names(len(instance.arms))

    def step(self, world: Machines, action: int, rng: Stream) -> ActionEffect[Machines]:
        """Pull a machine; with a drift, all probabilities change afterwards."""
        bandit, chances, best, gaps, counts, score, _, _ = world
        payoff = bandit.arms[action][1]
        paid = rng.random() < chances[action]
        reward, index = (payoff, 2 * action) if paid else (-payoff, 2 * action + 1)
        optimal = action == best
        events = {"optimal": optimal, "regret": gaps[action]}
        if bandit.drift:
            drifted = (chance + bandit.drift * (2 * rng.random() - 1) for chance in chances)
            # A probability that would leave the range from 0 to 1 is reflected at its end.
            chances = tuple(-chance if chance < 0 else 2 - chance if chance > 1 else chance for chance in drifted)
            best, gaps = best_machine_and_gaps(bandit, chances)
        counts = counts[:index] + (counts[index] + 1,) + counts[index + 1 :]  # noqa: RUF005  unpacking takes longer
        world = Machines._make((bandit, chances, best, gaps, counts, score + optimal, action, reward))
        return ActionEffect(world, reward, events)

    def score(self, world: Machines) -> float:
        return world.score

    def manual(self, instance: Bandit) -> str:
        """Return the manual, which mentions a drift of the chances."""
        return MANUAL.format(count=len(instance.arms)) + (DRIFTS if instance.drift else "")

    def observe(self, world: Machines) -> str:
        return BEGIN if world.arm < 0 else _pulled_text(world.arm, world.reward)


@lru_cache(maxsize=64)
def _action_names(count: int) -> tuple[str, ...]:
    """Return the names of the actions of so many machines."""
    return tuple(ACTION.format(number=number) for number in range(1, count + 1))


@lru_cache(maxsize=256)  # two for each machine
def _pulled_text(arm: int, reward: float) -> str:
    return PULLED.format(number=arm + 1, reward=reward)


_MOST_COUNTED = 200  # pulls of a machine; of more pulls only the share that paid counts


def oracle(bandit: Bandit, world: Machines, rng: Stream) -> int:
    """Pull the machine with the highest expected reward, which it knows."""
    return world.best


def thompson(bandit: Bandit, world: Machines, rng: Stream) -> int:
    """Learn by Thompson sampling (Beta-Bernoulli, uniform prior): pull what is best under beliefs drawn by chance."""
    # A payoff is known once the machine was pulled.
    arms = [
        (payoff if paid or lost else None, paid, lost)
        for (_, payoff), paid, lost in zip(bandit.arms, world.counts[::2], world.counts[1::2], strict=True)
    ]
    highest = max((payoff for payoff, _, _ in arms if payoff), default=1.0)
    samples = [(payoff or highest) * (2 * draw_beta(paid + 1, lost + 1, rng) - 1) for payoff, paid, lost in arms]
    return samples.index(max(samples))


def stay_or_shift(bandit: Bandit, world: Machines, rng: Stream) -> int:
    """Stay with a machine that has paid, otherwise go on to the next one."""
    return world.arm if world.reward > 0 else (world.arm + 1) % len(bandit.arms)  # at the start the arm is -1


def draw_beta(a: int, b: int, rng: Stream) -> float:
    """Return a random number of the Beta(a, b) distribution: the a-th smallest of a + b - 1 uniform numbers.

    Large parameters are scaled down to a sum of 200, which bounds the work; the distribution is wider then.
    """
    if a + b > _MOST_COUNTED:
        share = _MOST_COUNTED / (a + b)
        a, b = max(1, round(a * share)), max(1, round(b * share))
    return sorted(rng.random() for _ in range(a + b - 1))[a - 1]


PLAYERS = {"oracle": oracle, "thompson": thompson, "heuristic": stay_or_shift}


VERSION = 1  # of the generator; part of every item's key
FEWEST_DRAWN, MOST_DRAWN = 2, 50  # machines
_PERCENT_CHANCES = range(5, 96)
_PAYOFFS = range(1, 6)
_LEAD = 0.1  # least difference of the best expected reward to the next one, so that players can find it out

OPTIONS = (
    Option(
        name="setting",
        default="free",
        choices=("free", *SETTINGS),
        doc="The machines: free draws them from the key; the others are the four registered settings of two machines, "
        "whose order is drawn.",
    ),
    Option(
        name="drift",
        effect=HARDER,
        default=0.0,
        low=0,
        high=0.5,
        doc="Maximum change of each machine's probability per step, up or down; the manual mentions the drift.",
    ),
    Option(
        name="payoffs",
        default="equal",
        choices=("equal", "unequal"),
        doc="Payoffs of free machines: 1 each, or whole numbers from 1 to 5.",
    ),
)


class BanditSource(KeyedSource[Bandit]):
    """Slot machines drawn by key; the level is their number (UsageError if it is out of range or not the setting's)."""

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if not FEWEST_DRAWN <= level <= MOST_DRAWN:
            raise UsageError(f"level {level}: give a number of slot machines from {FEWEST_DRAWN} to {MOST_DRAWN}")
        super().__init__(key, level, prove)
        self._setting, self._drift = str(options["setting"]), float(options["drift"])
        self._draws_payoffs = options["payoffs"] == "unequal"
        count = len(SETTINGS.get(self._setting, range(level)))
        if count != level:
            raise UsageError(f"setting={self._setting} has {count} slot machines, not {level}: give level {count}")

    def instance(self, index: int) -> Bandit:
        settings = f"{self._setting} {self._drift!r} {self._draws_payoffs}"
        rng = Stream("bandit", VERSION, self.key, self.level, settings, index)
        return Bandit(self._draw_arms(rng), self._drift, rng.below(LARGEST_DRAW))

    def _draw_arms(self, rng: Stream) -> tuple[Arm, ...]:
        """Draw (probability, payoff) of each machine."""
        if self._setting != "free":
            arms = list(SETTINGS[self._setting])
            rng.shuffle(arms)
            return tuple(arms)
        while True:
            percent_chances = list(_PERCENT_CHANCES)
            rng.shuffle(percent_chances)
            arms = [
                (percent / 100, float(rng.choice(_PAYOFFS)) if self._draws_payoffs else 1.0)
                for percent in percent_chances[: self.level]
            ]
            bandit = Bandit(tuple(arms))
            _, gaps = best_machine_and_gaps(bandit, [chance for chance, _ in arms])
            second_gap = sorted(gaps)[1]  # the smallest gap, 0, is that of the best machine
            if second_gap >= _LEAD:
                return bandit.arms


def prove(bandit: Bandit) -> dict[str, Json]:
    """Return the best machine at the start as "best", from 1, and the regret of the worst one as "worst"."""
    best, gaps = best_machine_and_gaps(bandit, [chance for chance, _ in bandit.arms])
    return {"best": best + 1, "worst": max(gaps)}
