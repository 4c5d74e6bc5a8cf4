"""The parameter of a search that gives the difficulty index which it goes by."""

import json
from typing import Any, cast

from waybench.core import DIFFICULTY_INDEX, Environment, ItemIndex, UsageError, WaybenchError, read_json, user_path

_LARGEST_FILE = 1 << 28  # bytes
_LISTED = "item_difficulty"


def read_index(value: str, environment: Environment[Any, Any, Any]) -> ItemIndex:
    """Read an environment's difficulty index.

    Args:
        value: A file, summary.json of a report; or the index itself as JSON, which logs have in place of a file.
        environment: The environment.

    Raises:
        UsageError: If there is none, or several for different settings.
    """
    is_index = value.startswith("{")
    try:
        found: Any = (
            json.loads(value) if is_index else read_json(user_path(value), _LARGEST_FILE, "summary.json of a report")
        )
        terms = found if is_index else _listed(found, environment.id)
        return ItemIndex.read(terms, (each.name for each in environment.difficulty.item_variables))
    except WaybenchError as error:
        problem = str(error)
    except (ValueError, RecursionError) as error:
        problem = f"give summary.json of a report ({error})"
    raise UsageError(f"{DIFFICULTY_INDEX}={value[:200]}: {problem}")


def _listed(found: object, env_id: str) -> object:
    """Return an environment's index in a summary."""
    listed = cast(dict[str, Any], found).get(_LISTED) if isinstance(found, dict) else None
    entries = cast(list[Any], listed) if isinstance(listed, list) else []
    objects = [cast(dict[str, Any], each) for each in entries if isinstance(each, dict)]
    own = [each for each in objects if each.get("env") == env_id]
    known = [each["index"] for each in own if each.get("index")]
    if len(known) == 1:
        return known[0]
    reasons = [f"it has {len(known)} for different settings"] if known else [str(each.get("why")) for each in own]
    raise UsageError(": ".join([f"no difficulty index of {env_id}", *reasons[:1]]))
