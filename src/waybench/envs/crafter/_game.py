"""Crafter as a game of single steps, for the agent protocol."""

from collections.abc import Sequence

from waybench.core import End, Field, Json, Outcome, Stream
from waybench.envs.crafter import _engine
from waybench.envs.crafter._engine import World, beings_of, body_of, nearest_of
from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    CLOCK,
    COW,
    DO,
    EAST_OF,
    GRASS,
    HARM,
    HARMS,
    HEALTH,
    MADE,
    NOOP,
    SKELETON,
    SLEEP,
    SOUTH,
    SOUTH_OF,
    WEST,
    ZOMBIE,
    X,
    Y,
)
from waybench.envs.crafter._instance import Wilds
from waybench.envs.crafter._manual import MANUAL
from waybench.envs.crafter._wording import ACTIONS, FIRST, observation, seen
from waybench.smartplay import SEEN, Rules, Step

_MAY_NEED_RETRIES = (GRASS, COW, ZOMBIE, SKELETON)  # it may take several tries until something comes of these


class SurvivalRules(Rules[Wilds, World]):
    """Crafter as a game of single steps.

    Events: `at` (the player's column and row), `health`, `unlocked` (names of achievements, where there are new ones),
    and `death` (what took the last health, where it did).

    Args:
        published: Whether observations are as the published program writes them, and the manual has no list of
            actions.
    """

    # The stream that a step is given is ignored: all chance is that of the world's own generator, which the seed
    # determines. Yet no player can know what it draws, so this is a game of chance.
    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        self.lists_actions = not published
        doc = "What is in view, one kind of thing in each line; none where an error stands in its place."
        self.scene_fields = (Field[World](SEEN, doc, seen),)

    def begin(self, instance: Wilds) -> World:
        """Return the world at the start: the published program lets one step pass before."""
        return _engine.begin(instance.seed)

    def before(self, world: World) -> Sequence[str]:
        """Return what was seen in the step before the start, which the published history begins with."""
        return (FIRST + self.observe(world),) if self._published else ()

    def actions(self, instance: Wilds) -> Sequence[str]:
        """Return the seventeen actions."""
        return ACTIONS

    def step(self, world: World, action: int, rng: Stream) -> Step[World]:
        """Carry out an action; what neither moves, turns nor changes anything is unproductive."""
        after = _engine.advance(world, action)
        old, new = body_of(world), body_of(after)
        events: dict[str, Json] = {"at": _place(after), "health": new[HEALTH]}
        unlocked: list[Json] = [
            name for number, name in enumerate(ACHIEVEMENTS, MADE) if new[number] and not old[number]
        ]
        if unlocked:
            events["unlocked"] = unlocked
        if new[HEALTH] <= 0:
            events["death"] = HARMS[new[HARM]]
        return Step(after, after.reward, events, Outcome.UNPRODUCTIVE if _idle(world, after, action) else Outcome.OK)

    def over(self, world: World) -> End | None:
        """Return FAILED once the player is dead."""
        return End.FAILED if body_of(world)[HEALTH] <= 0 else None

    def score(self, world: World) -> float:
        """Return the published score: the number of achievements unlocked so far, summed over the steps."""
        return world.score

    def manual(self, instance: Wilds) -> str:
        """Return the published manual."""
        return MANUAL

    def observe(self, world: World) -> str:
        """Return what is seen, the status and the inventory."""
        return observation(world, published=self._published)


def _place(world: World) -> list[Json]:
    player = beings_of(world)[0]
    return [player[X], player[Y]]


def _idle(before: World, after: World, action: int) -> bool:
    """Whether an action other than waiting and sleeping had no effect."""
    old, new = body_of(before), body_of(after)
    if action in (NOOP, SLEEP):
        return False
    if WEST <= action <= SOUTH:
        turned = (old[EAST_OF], old[SOUTH_OF]) != (new[EAST_OF], new[SOUTH_OF])
        return not turned and _place(before) == _place(after)
    if action == DO and nearest_of(before)[0][0] in _MAY_NEED_RETRIES:
        return False
    return old[MADE:CLOCK] == new[MADE:CLOCK]  # whatever is collected, placed or made is counted
