"""Failure kinds of extractions: the most frequent error of the triplets."""

from collections import Counter
from collections.abc import Iterator

from waybench.core import NO_ANSWER, EpisodeRecord, FailureKind, general_failure, main_cause, normal_name
from waybench.envs.textmap.extract._instance import Extraction
from waybench.envs.textmap.extract._metrics import player_triplets, recorded_extraction
from waybench.envs.textmap.extract._triplet_graph import PlayerTriplets, expected_triplets, same_triplet
from waybench.envs.textmap.questions import NO_PLACE, Hop, move_index

STAYING = FailureKind("staying", "moves not recognised", "Most wrong triplets say that a step leads nowhere.")
WRONG_TRIPLET = FailureKind("wrong_triplet", "wrong triplets", "Most wrong triplets lead from or to a wrong place.")
MISSING = FailureKind("missing", "missing triplets", "Most steps without the right triplet have no triplet.")
CEILING = FailureKind(
    "ceiling",
    "questions that right triplets do not answer",
    "All triplets are right, but the graph does not answer every question.",
)
EXTRACT_FAILURES = (NO_PLACE, STAYING, WRONG_TRIPLET, MISSING, CEILING)


def extract_failure(record: EpisodeRecord) -> FailureKind:
    """Return the most frequent error of the triplets."""
    general = general_failure(record)
    if general in NO_ANSWER:
        return general
    causes = _wrong(recorded_extraction(record), player_triplets(record), record.options["mode"])
    return main_cause(causes, EXTRACT_FAILURES) or CEILING


def _wrong(task: Extraction, triplets: PlayerTriplets, mode: str) -> Iterator[FailureKind]:
    truth = expected_triplets(task, mode)
    if mode == "steps":
        pairs = zip(truth, (*triplets, *[None] * (len(truth) - len(triplets))), strict=True)
        wrong = [hop for true, hop in pairs if hop is None or not same_triplet(hop, true)]
    else:
        # A missing triplet must not make all that follow wrong.
        read = [hop for hop in triplets if hop is not None]
        remaining = Counter(tuple(map(normal_name, hop)) for hop in truth)
        wrong = list[Hop | None]()
        for hop in read:
            names = tuple(map(normal_name, hop))
            if remaining[names] > 0:
                remaining[names] -= 1
            else:
                wrong.append(hop)
        wrong += [None] * (remaining.total() - len(wrong))
    places = move_index(task.map)
    for hop in wrong:
        if hop is None:
            yield MISSING
        elif places.find_place(hop.before) is None or places.find_place(hop.after) is None:
            yield NO_PLACE
        else:
            yield STAYING if normal_name(hop.before) == normal_name(hop.after) else WRONG_TRIPLET
