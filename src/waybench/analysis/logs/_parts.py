"""Reading the parts of samples that hold episodes without Inspect's models, which take most of the time of reading."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from waybench.analysis.logs._guard import checked_parts, sample_part
from waybench.core import Json, is_object

_ATTACHED = "attachment://"  # how a long text begins that stands elsewhere in the sample


def simple_samples(location: str, some: Sequence[tuple[Any, int]]) -> list[Any] | None:
    """Read some samples (id and epoch of each) of a log as what Inspect would make of these parts of them.

    Args:
        location: The log, as Inspect calls it.
        some: The samples.

    Returns:
        Objects with `id`, `epoch`, `metadata`, `store`, `scores`, `error` and `limit`; None if the log or a sample is
        of another form than Inspect writes today, so that Inspect itself has to read it.

    Raises:
        DataError: If one of them is larger or deeper than what is read (`check_parts`).
    """
    if not location.endswith(".eval"):
        return None
    found: list[Any] = []
    for _, content in checked_parts(location, [sample_part(*one) for one in some]):
        try:
            found.append(_simple(json.loads(content), _ATTACHED.encode() in content))
        except Exception:  # Inspect says what is wrong, or can read it
            return None
    return None if len(found) < len(some) or any(each is None for each in found) else found


def _simple(data: Json, attached: bool) -> Any:
    """Return the parts of a sample; None if one of them is of another form.

    Args:
        data: The sample.
        attached: Whether something in it may stand elsewhere.
    """
    if not is_object(data):
        return None
    name, epoch, metadata, store, scores = (data.get(key) for key in ("id", "epoch", "metadata", "store", "scores"))
    if not isinstance(name, str | int) or isinstance(name, bool) or type(epoch) is not int:
        return None
    if not is_object(metadata) or not is_object(store) or not is_object(scores):
        return None
    error, limit = data.get("error"), data.get("limit")
    texts = [part.get(key) for part, key in ((error, "message"), (limit, "type")) if is_object(part)]
    if len(texts) != sum(part is not None for part in (error, limit)) or not all(isinstance(t, str) for t in texts):
        return None
    judged: dict[str, Any] = {}
    for scorer, score in scores.items():
        facts = score.get("metadata") if is_object(score) else False
        if facts is not None and not is_object(facts):
            return None
        judged[scorer] = SimpleNamespace(metadata=facts)
    if attached and _ATTACHED in json.dumps([metadata, store, scores, error, limit]):
        return None
    return SimpleNamespace(
        id=name,
        epoch=epoch,
        metadata=metadata,
        store=store,
        scores=judged,
        error=SimpleNamespace(**error) if is_object(error) else None,
        limit=SimpleNamespace(**limit) if is_object(limit) else None,
    )
