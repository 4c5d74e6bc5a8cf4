"""The environment of minigames: what is the next action of a walkthrough?"""

from collections.abc import Mapping
from functools import lru_cache

from waybench._package_data import read_text
from waybench.core import EpisodeRecord, Json, Limits, Option, Play, Stream
from waybench.envs.textmap.map import Of, event, share
from waybench.envs.textmap.minigame._failures import MINIGAME_FAILURES, minigame_failure
from waybench.envs.textmap.minigame._game import PLAYERS, MinigameRules
from waybench.envs.textmap.minigame._instance import (
    CHOICES,
    MOVES,
    Minigame,
    decode_minigame,
    minigames,
    named_minigame,
)
from waybench.envs.textmap.minigame._wording import FORMS, PRINTED, MinigameWording
from waybench.envs.textmap.questions import (
    SOUND,
    AnswerState,
    map_environment,
    prefix_option,
    protocol_option,
    questions_option,
)
from waybench.envs.textmap.worlds import WorldItems, drawn_world, shown_steps, size_stream

OPTIONS = (
    protocol_option(
        '"paper": the reply is one of the actions and nothing else; "sound": it names exactly one of them.'
    ),
    Option(
        name="wording",
        default=PRINTED.name,
        choices=tuple(FORMS),
        doc="printed: the paper's Example 9; plain: our own words.",
    ),
    Option(
        name="local_map",
        default=False,
        doc="Whether the moves from here that a reader can know are told with the places that they lead to.",
    ),
)
SOURCE_OPTIONS = (
    prefix_option("Steps of the walkthrough among which the predicted ones are; if not given, all of it."),
    questions_option("Minigames in each world."),
    Option(
        name="moves",
        default="all",
        choices=MOVES,
        doc="Which moves are predicted: all, or those known to a reader, made before or following from one that was.",
    ),
    Option(name="choices", default=CHOICES, low=2, high=50, doc="About how many actions are listed."),
)


def _play(protocol: str, wording: str, local_map: bool) -> Play[Minigame, AnswerState[Minigame], str]:
    words = MinigameWording(FORMS[wording], local_map=local_map, searched=protocol == SOUND.name)
    return Play(MinigameRules(), words, Limits(turns=1))


def _draw(key: str, level: int, options: Mapping[str, Json]) -> WorldItems[Minigame]:
    given = tuple(options.items())
    return WorldItems(
        key, level, int(options["questions"]), lambda world, extra: _games(key, level, given, world, extra), prove
    )


@lru_cache(maxsize=32)
def _games(key: str, level: int, options: tuple[tuple[str, Json], ...], index: int, extra: int) -> list[Minigame]:
    """Return the minigames in one world of a set."""
    given = dict(options)
    place_map, world = drawn_world(key, level, given, index, extra, size_stream(key, level, index, extra))
    cutoff = shown_steps(place_map, given["prefix_steps"])
    stream = Stream("textmap/minigames", key, level, index, extra)
    count, moves, choices = int(given["questions"]), given["moves"], int(given["choices"])
    return minigames(place_map, cutoff, count, stream, moves=moves, choices=choices, world=world)


def prove(game: Minigame) -> dict[str, Json]:
    """Return what is known of a minigame.

    Returns:
        known: whether a reader can know the move;
        walked: whether it was made before;
        choices: how many actions are listed;
        chance: the success of one of them drawn at random.
    """
    choices = len(game.actions)
    return {"known": game.known, "walked": game.walked, "choices": choices, "chance": 1 / choices}


def _event(name: str) -> Of:
    """Return what came of the answer; no value if it could not be read."""

    def of(record: EpisodeRecord) -> float | None:
        value = event(record, name)
        return None if value is None else float(value)

    return of


def success(record: EpisodeRecord) -> float:
    """Return whether the answer is right; one that could not be read is not."""
    return _event("success")(record) or 0.0


def _among(known: bool) -> Of:
    return lambda record: success(record) if record.proof["known"] is known else None


METRICS = (
    share(
        "success",
        success,
        "Success",
        "Whether the answer is the walkthrough's next action (section 3.5); what could not be read is not.",
    ),
    share(
        "success_known",
        _among(True),
        "Success, known moves",
        "The same where a reader can know the move: it was made before, or follows from one that was.",
    ),
    share("success_new", _among(False), "Success, new moves", "The same where the move leads into the unknown."),
    share(
        "parsed",
        lambda record: float(_event("success")(record) is not None),
        "Parsed",
        "Whether the answer is one of the actions, so that it could be read.",
    ),
    share("chance", lambda record: record.proof["chance"], "Chance", "Success of an answer at random.", better=""),
    share(
        "moving",
        _event("moving"),
        "Moving",
        "Whether the answer leads away from the place, as far as the map knows; of the answers that could be read.",
    ),
    share(
        "arrives",
        _event("arrives"),
        "Same place",
        "Whether the answer leads where the walkthrough goes, by the same move or another one.",
    ),
    share(
        "visited",
        _event("visited"),
        "Visited",
        "Whether the answer leads to a place where the walkthrough has been; of the answers that lead away.",
        better="",
    ),
    share(
        "known",
        lambda record: float(record.proof["known"]),
        "Known moves",
        "Whether a reader can know the right move.",
        better="",
    ),
)

MINIGAME = map_environment(
    "minigame",
    title="Text maps: minigames (MANGO)",
    about=read_text(__file__, "about.md"),
    options=OPTIONS,
    play=_play,
    source_options=SOURCE_OPTIONS,
    draw_from=_draw,
    decode=decode_minigame,
    resolve_references=named_minigame,
    prove=prove,
    metrics=METRICS,
    failures=MINIGAME_FAILURES,
    failure=minigame_failure,
    players=PLAYERS,
)
