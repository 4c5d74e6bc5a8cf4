"""How extracted maps fail: by what most of the wrong triplets have in common."""

from collections import Counter
from collections.abc import Iterator

from waybench.core import NO_ANSWER, EpisodeRecord, FailureKind, general_failure, main_cause
from waybench.envs.textmap.extract._instance import Extraction
from waybench.envs.textmap.extract._triplet_graph import Said, same, wanted
from waybench.envs.textmap.questions import NO_PLACE, Hop, ground, normal

STAYING = FailureKind("staying", "moves taken for no move", "Most wrong triplets say that a step leads nowhere.")
WRONG_TRIPLET = FailureKind("wrong_triplet", "wrong triplets", "Most wrong triplets lead from or to a wrong place.")
MISSING = FailureKind("missing", "missing triplets", "Most steps without the right triplet have none.")
CEILING = FailureKind(
    "ceiling",
    "questions that right triplets do not answer",
    "All triplets are right, and the graph does not answer every question.",
)
EXTRACT_FAILURES = (NO_PLACE, STAYING, WRONG_TRIPLET, MISSING, CEILING)


def extract_failure(record: EpisodeRecord, task: Extraction, said: Said) -> FailureKind:
    """Return what is wrong with most of the triplets that are not right.

    Args:
        record: The record.
        task: Its walkthrough.
        said: The triplets that were said.
    """
    general = general_failure(record)
    if general in NO_ANSWER:
        return general
    mode = record.options["mode"]
    found = _wrong(task, said, mode)
    return main_cause(found, EXTRACT_FAILURES) or CEILING


def _wrong(task: Extraction, said: Said, mode: str) -> Iterator[FailureKind]:
    truth = wanted(task, mode)
    if mode == "steps":
        pairs = zip(truth, (*said, *[None] * (len(truth) - len(said))), strict=True)
        wrong = [hop for true, hop in pairs if hop is None or not same(hop, true)]
    else:
        # A triplet that is left out must not make all that follow wrong.
        read = [hop for hop in said if hop is not None]
        left = Counter(tuple(map(normal, hop)) for hop in truth)
        wrong = list[Hop | None]()
        for hop in read:
            names = tuple(map(normal, hop))
            if left[names] > 0:
                left[names] -= 1
            else:
                wrong.append(hop)
        wrong += [None] * (left.total() - len(wrong))
    places = ground(task.map)
    for hop in wrong:
        if hop is None:
            yield MISSING
        elif places.named(hop.before) is None or places.named(hop.after) is None:
            yield NO_PLACE
        else:
            yield STAYING if normal(hop.before) == normal(hop.after) else WRONG_TRIPLET
