"""The checks themselves: a sound environment passes all of them, and each finds the defect that it is there for."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.contract.test_mistakes import MISTAKES
from tests.toys import DIAL, Dial, DialGame, DialSource, DialState, DialWording, with_game, with_wording
from waybench.core import (
    ActionTool,
    Aggregate,
    Belief,
    Board,
    End,
    Environment,
    FailureKind,
    Field,
    GameProperties,
    Images,
    Invalid,
    Item,
    Json,
    Metric,
    Option,
    Outcome,
    Picture,
    Players,
    Presentation,
    Series,
    Stream,
    ToolCall,
    Transition,
    UsageError,
    View,
    WaybenchError,
    level_axis,
    read_numbers,
)
from waybench.testing import check_environment
from waybench.testing._hostile import HOSTILE_REPLIES, hostile_variants
from waybench.testing._suite import ENVIRONMENT_CHECKS, LEVEL_CHECKS, run_check
from waybench.testing._walks import ContractError, count_reachable_states, option_combinations, sample_records

AnyEnvironment = Environment[Any, Any, Any]


@pytest.mark.slow
def test_a_sound_environment_passes() -> None:
    check_environment(DIAL)
    check_environment(DIAL, level=7)
    check_environment(with_aggregates({}))
    check_environment(with_images(number_drawn), level=7)
    check_environment(with_belief(), level=7)


class MutableState:
    def __init__(self, dial: Dial, at: int) -> None:
        self.dial, self.at = dial, at

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MutableState) and (self.dial, self.at) == (other.dial, other.at)

    def __hash__(self) -> int:
        return hash((self.dial, self.at))


class MutableStates(DialGame):
    def start(self, instance: Dial) -> Any:
        return MutableState(instance, instance.start)


@dataclass(slots=True, unsafe_hash=True)
class SlottedState:
    dial: Dial
    at: int


class SlottedStates(DialGame):
    def start(self, instance: Dial) -> Any:
        return SlottedState(instance, instance.start)

    def apply(self, state: Any, action: int, rng: Stream) -> Any:
        state.at += action
        return Transition(state, 0.0, {}, Outcome.OK)


class ListStates(DialGame):
    def start(self, instance: Dial) -> Any:
        return [instance, instance.start]


class OverAtTheStart(DialGame):
    def terminal(self, state: DialState) -> End | None:
        return End.SOLVED


class Secretive(DialGame):
    def __init__(self) -> None:
        self.calls = 0

    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        self.calls += 1
        return super().apply(state, action, rng)._replace(events={"calls": self.calls})


class Chancy(DialGame):
    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        return super().apply(state, action, rng)._replace(events={"luck": rng.below(1000)})


class Raising(DialGame):
    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        if action not in self.legal(state):
            raise ValueError("no such action")
        return super().apply(state, action, rng)


class ListsIllegalActions(DialGame):
    def legal(self, state: DialState) -> list[int]:
        return [] if self.terminal(state) else [-1, 1]


class ActsAfterTheEnd(DialGame):
    def legal(self, state: DialState) -> list[int]:
        return [-1, 1] if state.at < state.dial.size else [-1]


class SetsAsEvents(DialGame):
    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        return super().apply(state, action, rng)._replace(events={"seen": {state.at}})


class EndlessReward(DialGame):
    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        return super().apply(state, action, rng)._replace(reward=float("inf"))


class Cutting(DialGame):
    def cut(self, action: int, steps: int) -> tuple[int, int]:
        return -action, 1


class Forgetful(DialGame):
    def decode(self, action: Json) -> int:
        super().decode(action)
        return 1


class GarbageIn(DialGame):
    def decode(self, action: Json) -> int:
        return int(action)


class ShortProperties(DialGame):
    properties = GameProperties(deterministic=True, turns=3, reward=(0.0, 1.0))


class SmallProperties(DialGame):
    properties = GameProperties(deterministic=True, turns=30, reward=(0.0, 0.5))


class Silent(DialWording):
    def rules(self, instance: Dial) -> str:
        return ""

    def observe(self, state: DialState, last: object, turn: int) -> str:
        return ""


class SilentLater(DialWording):
    def observe(self, state: DialState, last: object, turn: int) -> str:
        return "" if last else "Here we are."


class Mumbling(DialWording):
    def render(self, action: int, state: DialState) -> str:
        return "up"


class Echoing(DialWording):
    said = ""

    def parse(self, reply: str, state: DialState) -> int | Invalid:
        self.said = reply[:10]
        return super().parse(reply, state)

    def observe(self, state: DialState, last: object, turn: int) -> str:
        return f"You said {self.said}. The dial is at {state.at}."


class Crashing(DialWording):
    def parse(self, reply: str, state: DialState) -> int | Invalid:
        return super().parse(str(json.loads(reply)) if reply.startswith(("{", "[")) else reply, state)


class DigitReader(DialWording):
    def parse(self, reply: str, state: DialState) -> int | Invalid:
        return int(reply) if reply.isdigit() else super().parse(reply, state)


class NoReason(DialWording):
    def parse(self, reply: str, state: DialState) -> int | Invalid:
        found = super().parse(reply, state)
        return Invalid("") if isinstance(found, Invalid) else found


class LongReason(DialWording):
    def parse(self, reply: str, state: DialState) -> int | Invalid:
        found = super().parse(reply, state)
        return Invalid(f"What is {reply!r}?") if isinstance(found, Invalid) else found


class Cursor(DialSource):
    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        super().__init__(key, level, options)
        self.made = 0

    def item(self, index: int) -> Item[Dial]:
        self.made += 1
        return super().item(self.made - 1)


class OneForAll(DialSource):
    def item(self, index: int) -> Item[Dial]:
        return replace(DialSource("any", self.level, {}).item(index), key=self.key)


class AnyLevel(DialSource):
    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        super().__init__(key, max(3, level), options)


@dataclass(frozen=True, slots=True)
class Nameless(Dial):
    def canonical(self) -> str:
        return f"{self.goal}"


class NamelessSource(DialSource):
    def item(self, index: int) -> Item[Dial]:
        item = super().item(index)
        dial = item.instance
        return replace(item, instance=Nameless(dial.start, dial.goal, dial.size))


def with_metric(**changes: Any) -> AnyEnvironment:
    return replace(DIAL, scoring=replace(DIAL.scoring, metrics=(replace(DIAL.scoring.metrics[0], **changes),)))


# Its oracle goes down, whatever the goal, and its metric calls what that comes to the ceiling.
BEATEN: AnyEnvironment = replace(
    with_metric(ceiling=lambda record: float(record.instance[1] < record.instance[0])),
    players=Players(policies={**DIAL.players.policies, "oracle": lambda state, rng: -1}),
)


def with_series(name: str) -> AnyEnvironment:
    return replace(
        DIAL,
        scoring=replace(
            DIAL.scoring,
            series=(Series(name=name, of=lambda record: [], title="Series", doc="Nothing.", low=0, high=1),),
        ),
    )


def with_aggregates(*changes: Mapping[str, Any], env: AnyEnvironment = DIAL) -> AnyEnvironment:
    one = Aggregate(
        name="all", metrics=env.scoring.metrics, of=lambda means: means[0], title="All", doc="The mean.", part="Metric"
    )
    return replace(env, scoring=replace(env.scoring, aggregates=tuple(replace(one, **change) for change in changes)))


def with_presentation(**fields: Any) -> AnyEnvironment:
    return replace(DIAL, presentation=Presentation(**fields))


def with_option(**fields: Any) -> AnyEnvironment:
    return replace(DIAL, playing=replace(DIAL.playing, options=(*DIAL.playing.options, Option(**fields))))


def trusting(data: Json) -> Dial:
    return Dial(*data)


PIT = FailureKind("pit", "falling into the pit", "The dial was turned to 0.")


def with_texts(tables: dict[str, dict[str, str]]) -> Environment[Any, Any, Any]:
    texts = {"en": {"greeting": "Hello {name}"}, **tables}
    return replace(DIAL, playing=replace(DIAL.playing, texts=texts))


def with_failure(**changes: str) -> AnyEnvironment:
    return replace(DIAL, scoring=replace(DIAL.scoring, failures=(replace(PIT, **changes),)))


def wrong_wording_name(options: Mapping[str, Json]) -> Any:
    return replace(DIAL.playing.play(options), wording=DialWording("another"))


class Mishearing(DialWording):
    """Reads each call as a turn to the right."""

    def parse_call(self, call: ToolCall, state: DialState) -> int:
        return 1


class Undescribed(DialWording):
    """Declares a tool whose argument says nothing of itself."""

    def tools(self, state: DialState) -> tuple[ActionTool, ...]:
        return (ActionTool("turn", "Turn the dial.", {"by": {"type": "number", "description": self.text}}),)

    text = ""


class Untyped(Undescribed):
    """Declares a tool with a type that no check of arguments knows."""

    text = "By how much."


def isomorphic(isomorph: Callable[[Dial], Dial]) -> AnyEnvironment:
    """Return the dial with isomorphic instances, and its number of turns as its headline metric."""
    turns = Metric(name="turns", of=lambda record: float(len(record.turns)), title="Turns", doc="Turns.", low=0)
    return replace(
        DIAL,
        scoring=replace(DIAL.scoring, metrics=(turns,)),
        items=replace(DIAL.items, isomorph=lambda dial, key, number: isomorph(dial)),
    )


def paper_only(options: Mapping[str, Json]) -> Any:
    if options["wording"] == "other":
        raise UsageError("not offered")
    return DIAL.playing.play(options)


class FieldWording(DialWording):
    fields = (Field[View[DialState]]("at", "Where the dial is.", lambda view: f"at {view.state.at}."),)


def with_images(draw: Callable[[Picture], str]) -> AnyEnvironment:
    images = Images(draw=draw, legend="The picture has the number.", replaces=("at",), bases=("plain", "other"))
    env = with_wording(FieldWording())
    return replace(env, playing=replace(env.playing, images=images))


def number_drawn(picture: Picture) -> str:
    return f'<svg viewBox="0 0 9 9"><text>{picture.state.at}</text></svg>'


NUMBER: Belief[DialState] = Belief(
    name="number",
    title="number",
    doc="Where the dial is.",
    question="Where is the dial?",
    form="[<number>]",
    expected=lambda state: [state.at],
    read=read_numbers,
)


def with_belief(**changes: Any) -> AnyEnvironment:
    return replace(DIAL, probes=(replace(NUMBER, **changes),))


DEFECTS: dict[str, tuple[str, AnyEnvironment, str]] = {
    "mutable state": ("start", with_game(MutableStates()), "__dict__"),
    "slotted but mutable state": ("start", with_game(SlottedStates()), "could be set"),
    "state with a list": ("start", with_game(ListStates()), "not hashable"),
    "over at the start": ("start", with_game(OverAtTheStart()), "before the first turn"),
    "state outside the state": ("apply", with_game(Secretive()), "two results"),
    "chance that is not declared": ("apply", with_game(Chancy()), "depends on chance"),
    "apply raises": ("apply", with_game(Raising()), "raised ValueError"),
    "illegal action listed": ("apply", with_game(ListsIllegalActions()), "listed, but illegal"),
    "events that are no JSON": ("apply", with_game(SetsAsEvents()), "no JSON value"),
    "endless reward": ("apply", with_game(EndlessReward()), "reward is inf"),
    "legal after the end": ("terminal", with_game(ActsAfterTheEnd()), "against legal"),
    "decode forgets": ("action codec", with_game(Forgetful()), "came back from -1 as 1"),
    "decode takes garbage": ("bad data", with_game(GarbageIn()), "raised"),
    "episodes too long": ("properties", with_game(ShortProperties()), "properties.turns is 3"),
    "rewards too large": ("properties", with_game(SmallProperties()), "properties.reward"),
    "no opening": ("wordings", with_wording(Silent()), "is empty"),
    "no answer": ("wordings", with_wording(SilentLater()), "of the user is empty"),
    "echo of a surrogate": ("hostile", with_wording(Echoing()), "lone surrogate"),
    "another wording's name": (
        "wordings",
        replace(DIAL, playing=replace(DIAL.playing, play=wrong_wording_name)),
        "calls itself 'another'",
    ),
    "picture that says nothing": (
        "pictures",
        with_images(lambda picture: '<svg viewBox="0 0 9 9"/>'),
        "one picture of",
    ),
    "picture of no size": ("pictures", with_images(lambda picture: f"<svg>{picture.state.at}</svg>"), "no view box"),
    "choice that cannot be played": (
        "start",
        replace(DIAL, playing=replace(DIAL.playing, play=paper_only)),
        "['other'] cannot be played",
    ),
    "rendering that misleads": ("round trip", with_wording(Mumbling()), "comes back 1"),
    "parse raises": ("hostile", with_wording(Crashing()), "parse raised"),
    "parse reads other scripts": ("hostile", with_wording(DigitReader()), "hostile reply"),
    "refusal without a reason": ("hostile", with_wording(NoReason()), "without a reason"),
    "refusal that repeats it all": ("hostile", with_wording(LongReason()), "500 are enough"),
    "items by a cursor": ("source", replace(DIAL, items=replace(DIAL.items, make_source=Cursor)), "made alone"),
    "level that does not fit": (
        "source",
        replace(DIAL, items=replace(DIAL.items, level_of=lambda dial: 0)),
        "level_of does not give",
    ),
    "key without effect": (
        "keys",
        replace(DIAL, items=replace(DIAL.items, make_source=OneForAll)),
        "5 keys gave only 1",
    ),
    "levels without end": ("levels", replace(DIAL, items=replace(DIAL.items, make_source=AnyLevel)), "refuse it"),
    "canonical form too short": (
        "instances",
        replace(DIAL, items=replace(DIAL.items, make_source=NamelessSource)),
        "changes on its way",
    ),
    "trusting decode": ("bad data", replace(DIAL, items=replace(DIAL.items, decode=trusting)), "raised TypeError"),
    "weak oracle": (
        "players",
        replace(DIAL, players=replace(DIAL.players, policies={**DIAL.players.policies, "oracle": lambda s, r: -1})),
        "the oracle has",
    ),
    "oracle that is beaten": (
        "players",
        BEATEN,
        "better than the oracle's 0.0, which the environment calls the ceiling",
    ),
    "oracle that is beaten on average": (
        "players",
        replace(BEATEN, players=replace(BEATEN.players, oracle_is_ceiling=lambda record: False)),
        "mean score of heuristic, 1, is better than the oracle's",
    ),
    "floor that is not kept": ("players", with_metric(of=lambda record: 1.0), "the null has"),
    "headline without a range": ("players", with_metric(high=None), "floor and a ceiling"),
    "metric that raises": ("metrics", with_metric(of=lambda record: 1 / len(record.turns)), "ZeroDivisionError"),
    "metric out of range": ("metrics", with_metric(of=lambda record: float(len(record.turns))), "above 1"),
    "metric that is no float": ("metrics", with_metric(of=lambda record: record.end == "solved"), "no finite float"),
    "metric without a sentence": ("metrics declared", with_metric(doc="?"), "title and a sentence"),
    "metric and series of one name": ("metrics declared", with_series("score"), "of one name: ['score']"),
    "aggregate of a metric's name": ("metrics declared", with_aggregates({"name": "score"}), "its name is taken"),
    "aggregate without a sentence": ("metrics declared", with_aggregates({"doc": "?"}), "in a sentence"),
    "aggregate of no metric": ("metrics declared", with_aggregates({"metrics": ()}), "made of no metric"),
    "aggregate of another's metric": (
        "metrics declared",
        with_aggregates({"metrics": (replace(DIAL.scoring.metrics[0], name="other"),)}),
        "has no metric 'other'",
    ),
    "aggregate of shares": (
        "metrics declared",
        with_aggregates({}, env=with_metric(per=lambda record: 1.0)),
        "is a share of something",
    ),
    "a text that a language lacks": ("languages", with_texts({"es": {}}), "texts are missing, such as greeting"),
    "a field that a language lacks": ("languages", with_texts({"es": {"greeting": "Hola"}}), "name"),
    "a language that waybench lacks": (
        "languages",
        with_texts({"eo": {"greeting": "Saluton {name}"}}),
        "has no texts in 'eo'",
    ),
    "aggregates of one name": ("metrics declared", with_aggregates({}, {}), "aggregates come twice"),
    "kinds of failure of one name": (
        "failures declared",
        replace(DIAL, scoring=replace(DIAL.scoring, failures=(PIT, PIT))),
        "come twice: ['pit'",
    ),
    "kind of failure without a title": ("failures declared", with_failure(title=" "), "has no title"),
    "kind of failure without a sentence": ("failures declared", with_failure(doc="?"), "in a sentence"),
    "strange name of a kind of failure": ("failures declared", with_failure(name="The pit"), "small letters"),
    "two kinds of failure with one title": ("failures declared", with_failure(title="refusals"), "titles of kinds"),
    "kind of failure that is not declared": (
        "failures",
        replace(DIAL, scoring=replace(DIAL.scoring, failure=lambda record: PIT)),
        "'pit' is not declared",
    ),
    "failure without a kind": (
        "failures",
        replace(DIAL, scoring=replace(DIAL.scoring, failure=lambda record: None)),
        "has no kind of failure",
    ),
    "failure that raises": (
        "failures",
        replace(DIAL, scoring=replace(DIAL.scoring, failure=lambda record: record.turns[99])),
        "raised IndexError",
    ),
    "beliefs of one name": ("beliefs", replace(DIAL, probes=(NUMBER, NUMBER)), "names of beliefs come twice"),
    "belief that reads otherwise": ("beliefs", with_belief(expected=lambda state: state.at), "is read as"),
    "belief that takes anything": ("beliefs", with_belief(read=lambda value: [0]), "is read as"),
    "belief that trusts": (
        "beliefs",
        with_belief(expected=lambda state: None, read=lambda value: value),
        "for the right answer",
    ),
    "belief that is never asked for": ("beliefs", with_belief(is_shown=lambda options, state: False), "never asked"),
    "belief with too large a share": ("beliefs", with_belief(share=lambda expected, answer: 2.0), "the share of"),
    "action turn that is no turn": (
        "action turns",
        replace(DIAL, playing=replace(DIAL.playing, action_turns=lambda record: [*record.turns, *record.turns])),
        "what is no turn, or one twice",
    ),
    "wrong replies that ask for no action": (
        "action turns",
        replace(DIAL, playing=replace(DIAL.playing, action_turns=lambda record: [])),
        "leaves out a turn that is",
    ),
    "metric upside down": ("metrics declared", with_metric(low=1, high=0), "not below its ceiling"),
    "option without a sentence": ("options", with_option(name="a", default=1, doc=""), "say in a sentence"),
    "default out of range": ("options", with_option(name="a", default=1, low=2, doc="One."), "do not pass"),
    "option without a type": ("options", with_option(name="a", default=None, doc="One."), "give kind"),
    "option twice": ("options", with_option(name="turns", default=1, doc="One."), "come twice"),
    "a metric that is not there": (
        "presentation declared",
        with_presentation(metrics=("score", "scroe")),
        "there is no metric 'scroe'",
    ),
    "a metric of pairs that is not there": (
        "presentation declared",
        with_presentation(pairs={"Parts": ("score", "rest")}),
        "there is no metric 'rest'",
    ),
    "a plural that is none": ("presentation declared", with_presentation(item="box"), "give items"),
    "an item without a name": ("presentation declared", with_presentation(item=""), "give item, the name of one"),
    "a part of another family": (
        "presentation declared",
        with_presentation(parts={"All": ("toy/dial", "toy/other")}),
        "'toy/other' is not an environment",
    ),
    "a cluster that is not declared": (
        "presentation declared",
        with_presentation(cluster="map"),
        "declares no cluster",
    ),
    "a legend of nothing": ("presentation declared", with_presentation(legend="A line."), "no drawing"),
    "frames without a drawing": (
        "presentation declared",
        with_presentation(draw_frames=lambda instance, turns, counts: iter([])),
        "draw_frames without draw",
    ),
    "a legend in words": (
        "presentation declared",
        with_presentation(legend="a line", draw=lambda instance, turns, **_: "<svg/>"),
        "whole sentences",
    ),
    "a drawing that raises": (
        "presentation",
        with_presentation(draw=lambda instance, turns, **_: str(turns[0])),
        "the presentation raised IndexError",
    ),
    "a drawing without reuse": (
        "presentation",
        with_presentation(draw=lambda instance, turns: "<svg/>"),
        "unexpected keyword argument 'board_id'",
    ),
    "a drawing that is not closed": (
        "presentation",
        with_presentation(draw=lambda instance, turns, **_: "<svg>"),
        "draw gave no SVG",
    ),
    "a drawing that is a page": (
        "presentation",
        with_presentation(draw=lambda instance, turns, **_: "<html/>"),
        "gave <html>, not <svg>",
    ),
    "a frame too few": (
        "presentation",
        with_presentation(draw=lambda *_, **__: "<svg/>", draw_frames=lambda *_: iter(["<svg/>"])),
        "1 drawings for",
    ),
    "an empty board": ("presentation", with_presentation(board=lambda state, turns: Board()), "its board is empty"),
    "strange id": ("names", replace(DIAL, id="Dial"), "family/variant"),
    "no oracle": (
        "names",
        replace(DIAL, players=replace(DIAL.players, policies={"heuristic": DIAL.players.policies["oracle"]})),
        "lacks the players",
    ),
    "levels out of order": ("names", replace(DIAL, items=replace(DIAL.items, sample_levels=(10, 3))), "easiest first"),
    "nothing about it": ("names", replace(DIAL, about=""), "0 characters, and 80 are enough"),
    "a call that is read as another action": ("tools", with_wording(Mishearing()), "is read as 1, not -1"),
    "an argument without a description": ("tools", with_wording(Undescribed()), "has no description"),
    "an argument of an unknown type": ("tools", with_wording(Untyped()), "the type 'number' is not known"),
    "a cut to another action": ("prefix", with_game(Cutting()), "is cut to"),
    "an isomorph that is not new": ("isomorphs", isomorphic(lambda dial: dial), "nothing is new"),
    "an isomorph of another level": ("isomorphs", isomorphic(lambda dial: replace(dial, size=900)), "another level"),
    "an isomorph that is easier": (
        "isomorphs",
        isomorphic(lambda dial: replace(dial, start=dial.goal - 1 or 2)),
        "the oracle's score",
    ),
    "axes without a success": (
        "horizon",
        replace(DIAL, difficulty=replace(DIAL.difficulty, axes=(level_axis("numbers", "Numbers."),))),
        "what success is",
    ),
    "a success without axes": (
        "horizon",
        replace(DIAL, difficulty=replace(DIAL.difficulty, competent=lambda record: True)),
        "declare axes",
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found(name: str) -> None:
    check, environment, message = DEFECTS[name]
    with pytest.raises(ContractError) as caught:
        run_check(environment, check)
    assert message in str(caught.value)
    assert check in str(caught.value)
    assert environment.id in str(caught.value)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, WaybenchError)


def test_every_check_finds_some_defect() -> None:
    # "same episode" and "tampering" guard the core; tests/core has their defects.
    found = {check for check, _, _ in DEFECTS.values()} | {mistake.check for mistake in MISTAKES.values()}
    found |= {"same episode", "tampering"}
    assert found == {*ENVIRONMENT_CHECKS, *LEVEL_CHECKS}


class Unprinted(DialState):
    """Takes for ever to print."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise TimeoutError("nothing was wrong, and yet it was printed")


class UnprintedStates(DialGame):
    def start(self, instance: Dial) -> DialState:
        return Unprinted(*super().start(instance))

    def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
        step = super().apply(state, action, rng)
        return step._replace(state=Unprinted(*step.state))


@pytest.mark.parametrize("name", LEVEL_CHECKS)
def test_what_passes_is_never_printed(name: str) -> None:
    run_check(with_game(UnprintedStates()), name)


def test_an_instance_that_replays_otherwise_is_found() -> None:
    class Timely(DialWording):
        told = 0

        def observe(self, state: DialState, last: object, turn: int) -> str:
            Timely.told += 1
            return f"{Timely.told}: the dial is at {state.at}."

    for check in ("replay", "same episode"):
        with pytest.raises(ContractError, match=r"does not replay|differ"):
            run_check(with_wording(Timely()), check)


def test_reachable_states() -> None:
    dial = Dial(5, 8, 10)
    assert count_reachable_states(DialGame(), dial) == 9  # 0 to 8, for 8 is the end
    assert count_reachable_states(DialGame(), dial, max_states=4) == 5

    class Skipping(DialGame):
        properties = GameProperties(deterministic=False, turns=None)

        def apply(self, state: DialState, action: int, rng: Stream) -> Transition[DialState]:
            return super().apply(state, action * (1 + rng.below(2)), rng)

    assert count_reachable_states(Skipping(), Dial(4, 1, 10), draws=16) > 10


def test_ways_are_the_default_first() -> None:
    assert option_combinations(DIAL) == [{"protocol": "sound", "wording": name} for name in ("plain", "other")]


def test_ways_have_the_options_of_trials() -> None:
    trial = replace(DIAL, playing=replace(DIAL.playing, check_options={"turns": 3}))
    assert option_combinations(trial)[0] == {"turns": 3, "protocol": "sound", "wording": "plain"}
    records = [json.loads(record) for record in sample_records(trial, 3)]
    assert {record["options"]["turns"] for record in records} == {3}


def in_corpus(fits: Callable[[str], bool]) -> Iterator[str]:
    return (name for name, make in HOSTILE_REPLIES.items() if fits(make()))


def test_corpus_has_what_it_is_for() -> None:
    assert any(in_corpus(lambda text: "1000000000" in text))
    assert any(in_corpus(lambda text: text.count('"direction"') == 10**6))
    assert any(in_corpus(lambda text: text.startswith("[" * 10**5)))
    assert any(in_corpus(lambda text: text.count("{") == 10**5))
    assert any(in_corpus(lambda text: "NaN" in text))
    assert any(in_corpus(lambda text: "-Infinity" in text))
    assert any(in_corpus(lambda text: "9" * 10**6 in text))
    assert any(in_corpus(lambda text: "٣" in text))
    assert any(in_corpus(lambda text: "\ud800" in text))
    assert any(in_corpus(lambda text: len(text) >= 10**7))
    assert any(in_corpus(lambda text: text.count("{") >= 900_000))
    assert any(in_corpus(lambda text: text.startswith("<think>") and "</think>" not in text))
    assert len(HOSTILE_REPLIES) > 100


def test_variants_spoil_a_reply_of_the_own_format() -> None:
    made = dict(hostile_variants("go 3 north"))
    assert len(made) > 40
    assert made["numbers replaced by a million digits"] == f"go {'9' * 10**6} north"
    assert made["in capitals"] == "GO 3 NORTH"
    assert made["numbers replaced by Arabic digits"] == "go \u0661 north"
    assert "go 3 north" not in made.values()
