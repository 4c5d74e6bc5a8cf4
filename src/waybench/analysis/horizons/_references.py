"""Horizons of players that know nothing of an item, which were measured beforehand: a random one and a constant one.

reference_horizons.json beside this module has them; `python docs/reference_horizons.py` measures them again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf

from waybench._package_data import read_text
from waybench.analysis.results import Group
from waybench.envs import registry

FILE = "reference_horizons.json"
_PLAYERS = {
    "random": ("a random player", "random player"),
    "constant": ("the best constant reply", "best constant reply"),
}


@dataclass(frozen=True, slots=True)
class ReferenceHorizon:
    """The horizon of a player that knows nothing of the items.

    Attributes:
        player: "random", or "constant" for the best of the replies that are the same in every turn of every item.
        value: The difficulty; None where it is outside the difficulties that were tried.
        side: "below" where it is below the easiest one, "beyond" where it is above the hardest one; "" between.
        easiest: The least difficulty that was tried.
        hardest: The greatest one.
    """

    player: str
    value: float | None
    side: str
    easiest: float
    hardest: float

    @property
    def title(self) -> str:
        """The player in words, in a sentence."""
        return _PLAYERS[self.player][0]

    @property
    def name(self) -> str:
        """The player's name, at the head of a row."""
        return _PLAYERS[self.player][1]

    @property
    def bound(self) -> float:
        """The difficulty above which a horizon is above this one."""
        if self.value is not None:
            return self.value
        return self.easiest if self.side == "below" else inf


def reference_horizons(group: Group, axis: str, share: float) -> tuple[ReferenceHorizon, ...]:
    """Return the horizons of players that know nothing, on an axis of a group's environment.

    They are those of the group's protocol and of default options otherwise: what counts as success does not depend on
    options, as an environment declares it (`Difficulty.competent`).

    Args:
        group: Model, task and settings.
        axis: Name of the axis.
        share: The success rate at the horizon; above 0.5, a rate that was not measured has the horizon of 0.5, which is
            no smaller.

    Returns:
        The horizons; none where they were not measured: for environments of other packages, other versions of an
        environment, and options that make something else of it (`Option.separate_tables`).
    """
    if group.apart:
        return ()
    env = registry.load(group.env)
    key = env.items.twin or env.id, group.version, str(dict(group.options).get("protocol")), axis
    table = _table().get(key, {})
    return table.get(share) or (table.get(0.5, ()) if share > 0.5 else ())


@cache
def _table() -> Mapping[tuple[str, int, str, str], Mapping[float, tuple[ReferenceHorizon, ...]]]:
    """Return the stored horizons by environment, version, protocol and axis, and by share."""
    found: dict[tuple[str, int, str, str], dict[float, tuple[ReferenceHorizon, ...]]] = {}
    for line in json.loads(read_text(__file__, FILE)):
        shares = found.setdefault((line["env"], line["version"], line["protocol"], line["axis"]), {})
        horizon = ReferenceHorizon(*(line[name] for name in ("player", "value", "side", "easiest", "hardest")))
        shares[line["share"]] = (*shares.get(line["share"], ()), horizon)
    return found


def reference_mark(value: float, low: float, references: Sequence[ReferenceHorizon]) -> str:
    """Return what is said of a horizon that is not above those of players that know nothing; "" of one that is.

    Args:
        value: The horizon; infinite where it is not between the difficulties that were tried.
        low: Lower end of its interval, likewise.
        references: The horizons of these players, where they are known.
    """
    if is_above(low, references) is not False:
        return ""
    greatest = max(references, key=lambda each: each.bound)
    return f"not {'' if value <= greatest.bound else 'clearly '}above {greatest.title}'s"


def is_above(low: float, references: Sequence[ReferenceHorizon]) -> bool | None:
    """Return whether a horizon is above those of players that know nothing; None where these are not known.

    Args:
        low: Lower end of the horizon's interval.
        references: Their horizons.
    """
    return low >= max(each.bound for each in references) if references else None
