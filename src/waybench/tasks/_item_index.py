"""The file of a difficulty index, which a search goes by."""

import json
from pathlib import Path
from typing import Any, cast

from waybench.core import DIFFICULTY_INDEX, Environment, ItemIndex, UsageError

_LISTED = "item_difficulty"


def read_index(path: str, environment: Environment[Any, Any, Any]) -> ItemIndex:
    """Read an environment's difficulty index from summary.json of a report.

    Args:
        path: The file.
        environment: The environment.

    Raises:
        UsageError: If the file has none, or several for different settings.
    """
    named = f"{DIFFICULTY_INDEX}={path}"
    try:
        found: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{named}: give summary.json of a report ({error})") from None
    listed = cast(dict[str, Any], found).get(_LISTED) if isinstance(found, dict) else None
    entries = cast(list[Any], listed) if isinstance(listed, list) else []
    entries = [cast(dict[str, Any], each) for each in entries if isinstance(each, dict)]
    own = [each for each in entries if each.get("env") == environment.id]
    known = [each for each in own if each.get("index")]
    if len(known) != 1:
        reasons = [f"it has {len(known)} for different settings"] if known else [str(each.get("why")) for each in own]
        raise UsageError(": ".join([named, f"no difficulty index of {environment.id}", *reasons[:1]]))
    try:
        return ItemIndex.read(known[0]["index"], (each.name for each in environment.item_variables))
    except UsageError as error:
        raise UsageError(f"{named}: {error}") from None
