"""Messenger as a game of single steps, for the agent protocol."""

from collections.abc import Sequence

from waybench.core import End, Field, Json, Outcome, Stream
from waybench.envs.messenger import _engine
from waybench.envs.messenger import _wording as _text
from waybench.envs.messenger._engine import World
from waybench.envs.messenger._instance import Case
from waybench.smartplay import SEEN, Rules, Step


class RoleRules(Rules[Case, World]):
    """Messenger as a game of single steps.

    Events: `at` (the agent, in half cells), `places` (the actors), `carries`, `fate` where the game is over.

    Args:
        published: Whether observations are as the published program writes them: of entities that look alike only
            the nearest is named, and the agent's death in stages 2 and 3 reads "Environment Error.".
    """

    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        doc = "The entities that are seen, one in each line; none where nothing is."
        self.scene_fields = (Field[World](SEEN, doc, lambda world: _text.seen(world, published=published)),)

    def begin(self, instance: Case) -> World:
        """Return the position at the start."""
        return _engine.begin(instance)

    def actions(self, instance: Case) -> Sequence[str]:
        """Return the five actions."""
        return _text.ACTIONS

    def step(self, world: World, action: int, rng: Stream) -> Step[World]:
        """Move everything, then see what collides; a move against the edge is unproductive."""
        after = _engine.advance(world, action, rng)
        events: dict[str, Json] = {
            "at": list(after.agent),
            "places": [place and list(place) for place in after.places],
            "carries": after.carries,
        }
        if after.fate:
            events["fate"] = after.fate
        stuck = action != _engine.REST and after.agent == world.agent
        return Step(after, after.reward, events, Outcome.UNPRODUCTIVE if stuck else Outcome.OK)

    def over(self, world: World) -> End | None:
        """Return SOLVED once the task is done, FAILED once the agent is dead."""
        return None if not world.fate else End.SOLVED if world.fate == _engine.WON else End.FAILED

    def score(self, world: World) -> float:
        """Return the last step's reward, which is the published score."""
        return world.reward

    def manual(self, instance: Case) -> str:
        """Return context, sentences and advice."""
        return _text.manual(instance)

    def observe(self, world: World) -> str:
        """Return what is seen from where the agent is."""
        return _text.observation(world, published=self._published)
