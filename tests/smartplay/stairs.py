"""A game for tests of the agent protocol: a staircase of three steps; the landing below the first is a wall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from waybench.core import (
    End,
    Environment,
    Episode,
    Instance,
    Item,
    Items,
    Json,
    Metric,
    Outcome,
    Players,
    Scoring,
    Source,
    Stream,
)
from waybench.envs.smartplay import ActionEffect, Rules, agent_environment, agent_metrics, final_score, thinking_players


@dataclass(frozen=True, slots=True)
class Stairs(Instance):
    height: int = 3

    def canonical(self) -> str:
        return str(self.height)

    def to_json(self) -> Json:
        return self.height


class Climber(NamedTuple):
    stairs: Stairs
    at: int = 0
    tried: str = ""


class StairsRules(Rules[Stairs, Climber]):
    def begin(self, instance: Stairs) -> Climber:
        return Climber(instance)

    def actions(self, instance: Stairs) -> Sequence[str]:
        return ("Go down", "Go up", "Go up twice")

    def legal(self, world: Climber) -> Sequence[int]:
        return [1, 2] if world.at == 0 else [0, 1, 2]

    def step(self, world: Climber, action: int, rng: Stream) -> ActionEffect[Climber]:
        to = world.at + (-1, 1, 2)[action]
        if to < 0:
            return ActionEffect(world._replace(tried="down"), -1.0, {"bump": True}, Outcome.ILLEGAL)
        return ActionEffect(Climber(world.stairs, to, "up" if action else "down"), float(to >= world.stairs.height))

    def ending(self, world: Climber) -> End | None:
        return End.SOLVED if world.at >= world.stairs.height else None

    def score(self, world: Climber) -> float:
        return world.at

    def manual(self, instance: Stairs) -> str:
        return f"There are {instance.height} steps."

    def observe(self, world: Climber) -> str:
        return f"You are on step {world.at}."


def up(stairs: Stairs, world: Climber, rng: Stream) -> int:
    """Go up."""
    return 1


def environment(steps: int | None = 5, history: int = 2) -> Environment[Any, Any, Any]:
    """Return an environment of the stairs; nothing but what an episode needs is in it."""
    return agent_environment(
        id="test/stairs",
        version=1,
        title="Stairs",
        about="",
        rules=StairsRules,
        history=history,
        steps=steps,
        most_steps=lambda stairs: 2 * stairs.height,
        reward=(-100, 1),
        items=Items(
            sample_levels=(3,),
            public_key="stairs",
            make_source=unused,
            decode=lambda data: Stairs(data),
            level_of=lambda stairs: stairs.height,
            prove=lambda stairs: {},
        ),
        scoring=Scoring(
            metrics=agent_metrics(
                Metric(name="score", of=final_score, title="Score", doc="Height at the end.", low=0, high=3),
                steps=lambda record: record.options["steps"] or 2 * record.instance,
                reward=lambda record: (-100, 1),
            )
        ),
        players=Players(policies=thinking_players({"oracle": up, "heuristic": up})),
    )


def unused(key: str, level: int, options: Mapping[str, Json]) -> Source[Stairs]:
    raise NotImplementedError


def episode(height: int = 3, *, steps: int | None = 5, history: int = 2, **options: Json) -> Episode[Any, Any, Any]:
    """Return an episode on the stairs."""
    item = Item(Stairs(height), "stairs", height)
    return Episode(environment(steps, history), item, options)
