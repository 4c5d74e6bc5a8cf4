"""Metrics of route and destination questions (MANGO, sections 2.3, A.6, B.2 and C.1)."""

from waybench.core import TEMPLATE, EpisodeRecord, Json, Metric, base_wording, has_images
from waybench.envs.textmap.map import DIFFICULTIES, MetricFunction, event, share
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.questions._prompts import TEMPLATES, question_text
from waybench.envs.textmap.questions._score import SOUND


def _is_sound(record: EpisodeRecord) -> bool:
    return record.options["protocol"] == SOUND.name


def is_parsed(record: EpisodeRecord) -> float:
    """Return whether the answer could be read."""
    return float(event(record, "success") is not None)


def _event_score(name: str) -> MetricFunction:
    """Return the metric of an event. Ill-structured answers are 0 in "sound" and undefined in "paper" (section B.2)."""

    def compute(record: EpisodeRecord) -> float | None:
        value = event(record, name)
        if value is None:
            return 0.0 if _is_sound(record) else None
        if not record.proof["answerable"] and "path" not in record.instance:
            return None  # no path can be known from the prefix, so no answer is right or wrong
        return float(value)

    return compute


success = _event_score("success")


def spl(record: EpisodeRecord) -> float | None:
    """Return success weighted by l / max(l, p): l moves of a shortest or the given path, p moves in the answer."""
    value = success(record)
    return value * event(record, "weight") if value else value


def strict(record: EpisodeRecord) -> float:
    """Return the success by the rules "sound"; 0 if the answer could not be read."""
    return float(event(record, "strict") or 0)


def is_counted(record: EpisodeRecord) -> float:
    """Return whether the question is in the denominators: it is answerable and, in "paper", the answer was read."""
    return float(record.proof["answerable"] and (_is_sound(record) or is_parsed(record)))


def _if_difficulty(compute: MetricFunction, difficulty: str) -> MetricFunction:
    return lambda record: compute(record) if record.proof["difficulty"] == difficulty else None


def _difficulty(record: EpisodeRecord) -> float | None:
    difficulty = record.proof["difficulty"]
    return None if difficulty is None else float(DIFFICULTIES.index(difficulty))


def _invented_share(record: EpisodeRecord) -> float | None:
    moves = event(record, "moves")
    return event(record, "invented") / moves if moves else None


def _shared_prefix(record: EpisodeRecord) -> float | None:
    """Return the share of the prompt's characters that all questions about the same prefix begin with.

    None where the prompt is a template of the user's, which can have the question anywhere, or has a picture.
    """
    if TEMPLATE in record.options or has_images(record.options):
        return None
    prompt = sum(len(message.text) for message in record.opening)
    question = _RecordedQuestion(record)
    return 1 - len(question_text(TEMPLATES[base_wording(record.options)], question)) / prompt if prompt else 0.0


class _RecordedQuestion:
    """The question of a record, without its map."""

    def __init__(self, record: EpisodeRecord) -> None:
        self.source: str = record.instance["src"]
        self.target: str = record.instance["dst"]
        self.actions: tuple[str, ...] = tuple(record.instance.get("actions", ()))


def _by_difficulty(name: str, compute: MetricFunction, title: str, doc: str) -> tuple[Metric, ...]:
    """Return a metric over all, easy and hard questions."""
    return (
        Metric(name=name, of=compute, title=title, low=0, high=1, per=is_counted, doc=doc),
        *(
            share(
                f"{name}_{difficulty}",
                _if_difficulty(compute, difficulty),
                f"{title}, {difficulty}",
                f"The same for {difficulty} questions: {_MEANING[difficulty]}.",
            )
            for difficulty in DIFFICULTIES
        ),
    )


_MEANING = {
    "easy": "the shown steps make all moves of a path (or of the given path)",
    "hard": "some move must be inferred from its opposite",
}

METRICS = (
    *_by_difficulty(
        "success",
        success,
        "Success",
        "For a route, whether the moves answered lead to the destination; for a destination, in "
        '"paper" the similarity of the place answered to the right one (1 - edit distance / longer length), in "sound" '
        "whether it is the right one. Averaged over readable answers in "
        '"paper" (section B.2), over all answers in "sound"; both exclude questions that cannot be answered from the '
        "steps shown.",
    ),
    Metric(
        name="spl",
        of=spl,
        title="SPL",
        low=0,
        high=1,
        per=is_counted,
        doc="Success weighted by path length, l / max(l, p): l moves of a shortest way or of the given path, p moves "
        "answered (section C.1, after Anderson et al. 2018). The shortest path is that of the whole map, so a short "
        "prefix limits the mean below 1: at most .97 after 15 steps of a generated world.",
    ),
    *(
        share(
            f"spl_{difficulty}",
            _if_difficulty(spl, difficulty),
            f"SPL, {difficulty}",
            f"The same for {difficulty} questions: {_MEANING[difficulty]} (Figure 5).",
        )
        for difficulty in DIFFICULTIES
    ),
    *_by_difficulty(
        "reasoning",
        _event_score("reasoning"),
        "Reasoning",
        "Whether the trajectory is right from place to place (section A.6): it starts at the source and follows moves "
        "of the map without gaps; a route must end at the destination, and a destination answer must use the given "
        "moves.",
    ),
    share("parsed", is_parsed, "Parsed", "Whether the answer is readable."),
    share(
        "answerable",
        lambda record: float(record.proof["answerable"]),
        "Answerable",
        "Whether the question can be answered from the steps shown.",
        better="",
    ),
    share(
        "difficulty",
        _difficulty,
        "Difficulty",
        "0 for an easy question, 1 for a hard one, so the mean is the share of hard questions; undefined if the "
        "question cannot be answered.",
        better="",
        labels=DIFFICULTIES,
    ),
    share(
        "strict",
        strict,
        "Exact success",
        'Success by the rules of "sound": exact names, no closest move, no credit for similar names, and 0 for '
        "unreadable answers.",
    ),
    share(
        "invented",
        _invented_share,
        "Invented moves",
        "Share of an answer's moves that are not on the map: wrong places, actions, or both.",
        better="lower",
    ),
    share(
        "shared",
        _shared_prefix,
        "Shared prefix",
        "Share of the prompt's characters that all questions about the same prefix share at the start, which a "
        "provider can cache.",
        better="",
    ),
)


def prove(question: MapQuestion) -> dict[str, Json]:
    """Return the facts about a question.

    Returns:
        answerable: whether the question is answerable from the prefix;
        difficulty: "easy" or "hard", None if it is not answerable;
        answerable_from, easy_from: the steps from which it is answerable and easy; 9999 for never;
        shortest: number of moves of a shortest path on the whole map, None if there is none.
    """
    difficulty = question.difficulty
    return {
        "answerable": difficulty is not None,
        "difficulty": difficulty,
        "answerable_from": question.answerable_from,
        "easy_from": question.easy_from,
        "shortest": question.shortest,
    }
