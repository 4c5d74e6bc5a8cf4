"""The difficulty index that a search goes by, from a file or as a log names it."""

import json
from pathlib import Path
from typing import Any, cast

from waybench.core import DIFFICULTY_INDEX, Environment, ItemIndex, UsageError

_LISTED = "item_difficulty"


def read_index(value: str, environment: Environment[Any, Any, Any]) -> ItemIndex:
    """Read an environment's difficulty index.

    Args:
        value: The path of a report's summary.json; or the index itself, as logs have it (`index_parameter`).
        environment: The environment.

    Raises:
        UsageError: If there is none, or the file has several for different settings.
    """
    named = f"{DIFFICULTY_INDEX}={value[:200]}"
    is_inline = value.startswith("{")
    try:
        found: Any = json.loads(value if is_inline else Path(value).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{named}: give summary.json of a report ({error})") from None
    try:
        return ItemIndex.read(
            found if is_inline else _of_summary(found, environment.id),
            (each.name for each in environment.item_variables),
        )
    except UsageError as error:
        raise UsageError(f"{named}: {error}") from None


def index_parameter(index: ItemIndex) -> str:
    """Return an index as logs have it: a run can be repeated, and a submission verified, without the file."""
    return json.dumps(index.to_json(), separators=(",", ":"))


def _of_summary(found: object, env: str) -> object:
    listed = cast(dict[str, Any], found).get(_LISTED) if isinstance(found, dict) else None
    entries = cast(list[Any], listed) if isinstance(listed, list) else []
    entries = [cast(dict[str, Any], each) for each in entries if isinstance(each, dict)]
    own = [each for each in entries if each.get("env") == env]
    known = [each for each in own if each.get("index")]
    if len(known) != 1:
        reasons = [f"it has {len(known)} for different settings"] if known else [str(each.get("why")) for each in own]
        raise UsageError(": ".join([f"no difficulty index of {env}", *reasons[:1]]))
    return known[0]["index"]
