"""Scores of a submission, computed from its rows as in a report."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from waybench.analysis.estimates import by_level, overall
from waybench.analysis.horizons import Horizon, horizons
from waybench.analysis.results import Row, exclude, fixed, grouped
from waybench.core import Json, spread

_TOLERANCE = 1e-9  # sums in another order differ by less


def scores(rows: Iterable[Row], *, processes: int = 1) -> list[dict[str, Any]]:
    """Return the scores of rows: for each task over all its levels, for each level, and the horizons.

    Args:
        rows: The rows, those of later runs last.
        processes: In how many processes horizons are computed.

    Returns:
        JSON values; "kind" is "overall", "level" or "horizon".
    """
    counted = exclude(rows)
    own = fixed(counted)
    by_group = list(grouped(counted, lambda row: (row.group.env, row.group.model)).values())

    def work(number: int) -> list[Horizon]:
        return horizons(by_group[number])

    with spread(work, len(by_group), processes) as computed:
        all_horizons = [horizon for some in computed for horizon in some]
    found = [
        *({"kind": "overall", **each.to_json()} for each in overall(own)),
        *({"kind": "level", **each.to_json()} for each in by_level(own)),
        *({"kind": "horizon", **each.to_json()} for each in all_horizons),
    ]
    # Through JSON, so that they can be compared with those of a file; the order does not depend on that of the rows.
    data = cast("list[dict[str, Any]]", json.loads(json.dumps(found, sort_keys=True)))
    return sorted(data, key=_order)


def _order(score: Mapping[str, Any]) -> str:
    return json.dumps([score["group"], score["kind"], score.get("level"), score.get("axis"), score.get("share")])


def first_difference(submitted: Json, computed: Json, place: str = "") -> str:
    """Return where two JSON values differ, with both values; "" if they agree up to rounding."""
    if isinstance(submitted, Mapping) and isinstance(computed, Mapping):
        one, other = cast("Mapping[str, Json]", submitted), cast("Mapping[str, Json]", computed)
        for name in sorted({*one, *other}):
            if name not in one or name not in other:
                return f"{place}.{name} is missing in {'the computed' if name in one else 'the submitted'} results"
            if difference := first_difference(one[name], other[name], f"{place}.{name}"):
                return difference
        return ""
    if isinstance(submitted, list) and isinstance(computed, list):
        some, others = cast("list[Json]", submitted), cast("list[Json]", computed)
        if len(some) != len(others):
            return f"{place or 'results'}: {len(some)} submitted, {len(others)} computed"
        for number, (first, second) in enumerate(zip(some, others, strict=True)):
            if difference := first_difference(first, second, f"{place}[{number}]"):
                return difference
        return ""
    if _agree(cast("Any", submitted), computed):
        return ""
    return f"{place.lstrip('.')}: {_text(submitted)} submitted, {_text(computed)} computed"


def _text(value: Any) -> str:
    return str(value)[:60]


def _agree(submitted: Any, computed: Any) -> bool:
    if type(submitted) in (int, float) and type(computed) in (int, float):
        return math.isclose(submitted, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(submitted) is type(computed) and submitted == computed
