"""What questions about maps share: a game of one turn, what is said of the answer, and the environment around them."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core import (
    End,
    Environment,
    Facts,
    Game,
    Invalid,
    Json,
    Option,
    Outcome,
    Play,
    Stream,
    Transition,
    Wording,
)
from waybench.envs.textmap.map import MapInstance, map_name, published_steps
from waybench.envs.textmap.questions._datasets import PUBLIC_KEY, Ask, MakeSource, MakeSourceWithCutoff, MapItems
from waybench.envs.textmap.questions._score import PAPER, SOUND
from waybench.envs.textmap.worlds import LOWEST_CLASS, WORLD_OPTIONS

Q = TypeVar("Q", bound=MapInstance)
S = TypeVar("S")
A = TypeVar("A")

LISTS = ("all", "seen")


@dataclass(frozen=True, slots=True)
class AnswerState(Generic[Q]):
    """A question, and how it was answered.

    Attributes:
        instance: The question.
        end: None before the answer.
    """

    instance: Q
    end: End | None = None


class Judgement(NamedTuple):
    """What an answer comes to.

    Attributes:
        success: 1 if it is right.
        events: What is recorded besides.
        outcome: What a wrong answer is.
    """

    success: float
    events: Mapping[str, Json]
    outcome: Outcome


class OneAnswerGame(Game[Q, AnswerState[Q], A]):
    """One question, one answer: it is solved if that is fully right, and nobody is asked twice."""

    facts = Facts(deterministic=True, turns=1)

    @abstractmethod
    def answers(self, instance: Q) -> Sequence[A]:
        """Return the elementary answers to a question."""

    @abstractmethod
    def judge(self, instance: Q, answer: A) -> Judgement:
        """Return what an answer comes to."""

    def start(self, instance: Q) -> AnswerState[Q]:
        """Return the question, unanswered."""
        return AnswerState(instance)

    def legal(self, state: AnswerState[Q]) -> Sequence[A]:
        """Return the elementary answers; none after the answer."""
        return () if state.end is not None else self.answers(state.instance)

    def apply(self, state: AnswerState[Q], action: A, rng: Stream) -> Transition[AnswerState[Q]]:
        """Judge an answer."""
        success, events, outcome = self.judge(state.instance, action)
        right = success == 1
        after = AnswerState(state.instance, End.SOLVED if right else End.FAILED)
        return Transition(after, success, {"success": success, **events}, Outcome.OK if right else outcome)

    def forfeit(self, state: AnswerState[Q]) -> AnswerState[Q]:
        """Take an answer that cannot be read for a wrong one."""
        return AnswerState(state.instance, End.FAILED)

    def terminal(self, state: AnswerState[Q]) -> End | None:
        """Return how it was answered."""
        return state.end


class OneAnswerWording(Wording[Q, AnswerState[Q], A]):
    """The whole prompt is in the rules; after the answer, the player learns whether it was right."""

    def observe(self, state: AnswerState[Q], last: Transition[AnswerState[Q]] | Invalid | None, turn: int) -> str:
        """Return nothing before the answer, and then what came of it."""
        if last is None:
            return ""
        if isinstance(last, Invalid):
            return last.reason
        return "Right." if last.events["success"] == 1 else "Wrong."


def map_environment(
    kind: str,
    *,
    decode: Callable[[Json], Q],
    play: Callable[..., Play[Q, S, A]],
    source_options: tuple[Option, ...],
    make_source: MakeSource,
    prove: Callable[[Q], Mapping[str, Json]],
    ask: Ask,
    limit: tuple[int, str],
    items_per_limit: int = 1,
    make_source_with_cutoff: MakeSourceWithCutoff | None = None,
    version: int = 1,
    sample_levels: tuple[int, ...] = (1, 2, 3),
    **fields: Any,
) -> Environment[Q, S, A]:
    """Return an environment of questions about maps.

    Args:
        kind: The part of its id after the slash.
        decode: JSON -> instance.
        play: The options of play, by their names -> how an episode is played.
        source_options: How questions are chosen, besides the options of worlds.
        make_source: (key, level, source options) -> items about worlds.
        prove: Instance -> what is known of its solution.
        ask: (map, last step that is shown, stream, parameters of a task) -> instances.
        limit: The default number of questions that a task asks about each map, and that parameter's documentation.
        items_per_limit: Items of a world for each unit of that limit; 0 where a world is one item.
        make_source_with_cutoff: (key, level, source options, how much is shown) -> items, where tokens can limit that.
        version: The environment's version.
        sample_levels: A few levels, easiest first.
        **fields: All other fields of the `Environment`.
    """
    cached_play = lru_cache(maxsize=64)(play)
    all_source_options = (*WORLD_OPTIONS, *source_options)
    items = MapItems(
        env_id=f"textmap/{kind}",
        ask=ask,
        limit=limit,
        items_per_limit=items_per_limit,
        source_options=all_source_options,
        make_source=make_source,
        make_source_with_cutoff=make_source_with_cutoff,
        decode=decode,
        prove=prove,
    )
    return Environment(
        id=f"textmap/{kind}",
        version=version,
        source_options=all_source_options,
        smallest_level=LOWEST_CLASS,
        sample_levels=sample_levels,
        public_key=PUBLIC_KEY,
        make_source=make_source,
        datasets=items.datasets,
        prove=prove,
        play=lambda options: cached_play(**options),
        decode=decode,
        level_of=lambda instance: instance.level,
        pooled=True,
        cluster=map_name,
        implied=published_steps,
        **fields,
    )


def protocol_option(doc: str) -> Option:
    """Return the option that chooses between the paper's rules and ours."""
    return Option(name="protocol", default=PAPER.name, choices=(PAPER.name, SOUND.name), doc=doc)


def lists_option(doc: str) -> Option:
    """Return the option that chooses which names are listed: all of the map, or those seen in the prefix."""
    return Option(name="lists", default=None, kind=str, choices=LISTS, doc=doc)


def listed_names(protocol: str, lists: str | None) -> str:
    """Return which names are listed: those that the option says, or the protocol where it is not given."""
    return lists or ("all" if protocol == PAPER.name else "seen")


def prefix_option(doc: str, low: int = 1) -> Option:
    """Return the source option that says how much of the walkthrough is shown."""
    return Option(name="prefix_steps", default=None, kind=int, low=low, high=5_000, doc=doc)


def questions_option(doc: str, default: int = 10, high: int = 1_000) -> Option:
    """Return the source option that says how many questions there are about each world."""
    return Option(name="questions", is_count=True, default=default, low=1, high=high, doc=doc)
