"""A difficulty index of items whose weights are fixed beforehand: on it, a search knows single items, not levels."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import log2
from typing import TYPE_CHECKING, Any, cast

from waybench.core._axes import Axis
from waybench.core._errors import UsageError
from waybench.core._game import Json
from waybench.core._record import EpisodeRecord

if TYPE_CHECKING:
    from waybench.core._environment import Environment

DIFFICULTY_INDEX = "difficulty_index"  # the option of a search, the key of its plan, and the setting of its results
_STEPS = 20  # to a doubling, to which indices are rounded: finer differences are not known
_MOST = 1e6  # of a number of the index, which may come from outside
_MOST_DOUBLINGS = 60


@dataclass(frozen=True, slots=True)
class ItemIndex:
    """How hard an item is, in the unit of the level: log2 of the level plus a weighted sum of its other variables.

    Each variable counts as log2(1 + x), less what it is expected to be at the item's level.

    Attributes:
        terms: Of each variable that counts, its expected value at level 1, by how much it is expected to rise with each
            doubling of the level, and how many doublings of the level one unit more than that is worth.
    """

    terms: Mapping[str, tuple[float, float, float]]

    @classmethod
    def read(cls, value: object, names: Iterable[str]) -> "ItemIndex":
        """Read an index from JSON.

        Args:
            value: Variable -> [expected value at level 1, rise, weight].
            names: The variables that the environment declares.

        Raises:
            UsageError: If it is none, or has other variables.
        """
        known = set(names)
        terms: dict[str, tuple[float, float, float]] = {}
        for name, numbers in cast(dict[Any, Any], value).items() if isinstance(value, dict) else ():
            if name not in known or not _are_numbers(numbers):
                raise UsageError(f"a difficulty index has no term {str(name)[:60]!r}: {str(numbers)[:60]}")
            terms[name] = (float(numbers[0]), float(numbers[1]), float(numbers[2]))
        if not terms:
            raise UsageError("a difficulty index is an object: variable -> [expected value, rise, weight]")
        return cls(terms)

    def to_json(self) -> dict[str, Json]:
        """Return it as `read` takes it."""
        return {name: list(numbers) for name, numbers in sorted(self.terms.items())}

    def dumps(self) -> str:
        """Return it as JSON text, the same for the same weights."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @property
    def digest(self) -> str:
        """A short name of these weights."""
        return sha256(self.dumps().encode()).hexdigest()[:12]

    def equivalent_level(self, level: float, values: Mapping[str, float | None]) -> float:
        """Return the level at which an average item is as hard, rounded to a twentieth of a doubling.

        Args:
            level: The item's level, above 0.
            values: Its variables, 0 or more; one that is unknown counts as expected.
        """
        doublings = log2(level)
        index = doublings
        for name, (start, rise, weight) in self.terms.items():
            value = values.get(name)
            if value is not None and value >= 0:
                index += weight * (log2(1 + value) - start - rise * doublings)
        return 2.0 ** (round(max(-_MOST_DOUBLINGS, min(index, _MOST_DOUBLINGS)) * _STEPS) / _STEPS)

    def axis(self, environment: "Environment[Any, Any, Any]") -> Axis:
        """Return the environment's first axis with equivalent levels in place of levels."""
        levels = environment.difficulty.axes[0]

        def of(record: EpisodeRecord) -> float | None:
            level = levels.of(record)
            if level is None or level <= 0:
                return None
            return self.equivalent_level(
                level, {each.name: each.of(record) for each in environment.difficulty.item_variables}
            )

        doc = f"{levels.doc} Of an average item that is as hard, by a difficulty index."
        return Axis(name=levels.name, title=levels.title, of=of, doc=doc)


def searched_index(environment: "Environment[Any, Any, Any]", plan: Mapping[str, Json]) -> ItemIndex | None:
    """Return the index that a search went by, as its plan says; None if it went by levels, or the plan is unfit.

    Args:
        environment: What was played.
        plan: The plan, which may come from outside.
    """
    if plan.get(DIFFICULTY_INDEX) is None or not environment.difficulty.axes:
        return None
    try:
        return ItemIndex.read(plan[DIFFICULTY_INDEX], (each.name for each in environment.difficulty.item_variables))
    except UsageError:
        return None


def _are_numbers(value: object) -> bool:
    if not isinstance(value, list) or len(cast(list[object], value)) != 3:
        return False
    return all(
        isinstance(each, int | float) and type(each) is not bool and abs(each) < _MOST  # NaN is not
        for each in cast(list[object], value)
    )
