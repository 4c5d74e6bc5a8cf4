"""The environments of route and destination questions, and what all environments of text maps share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from waybench._package_data import read_text
from waybench.core import (
    AnswerState,
    Contrast,
    Difficulty,
    Environment,
    HorizonSpec,
    Items,
    Json,
    Limits,
    Option,
    Play,
    Players,
    Playing,
    Scoring,
    Stream,
    TextTables,
    Typing,
    UsageError,
    number_option,
)
from waybench.envs.textmap._answers import HELP, PAPER, RULES, SOUND, Trajectory, parse_typed
from waybench.envs.textmap._difficulty import AXES, explanatory_variables
from waybench.envs.textmap._frame import BODY, COMPASS, FRAMES, GAME
from waybench.envs.textmap._game import PLAYERS, QuestionGame, rename_question
from waybench.envs.textmap._instances import MapInstance, insert_published_map, map_name, truncate_map
from waybench.envs.textmap._items import (
    LABELS,
    PUBLIC_KEY,
    RELEASED_LABELS,
    MapItems,
    MapQuestion,
    decode_destination,
    decode_route,
)
from waybench.envs.textmap._measures import (
    DESTINATION_ERRORS,
    DESTINATION_FAILURES,
    METRICS,
    ROUTE_ERRORS,
    ROUTE_FAILURES,
    destination_failure,
    prove,
    route_failure,
)
from waybench.envs.textmap._place_map import PlaceMap
from waybench.envs.textmap._prefix import DIFFICULTIES, EasyOrHard, Rule, default_prefix_steps
from waybench.envs.textmap._texts import TEXTS
from waybench.envs.textmap._wording import OBSERVATIONS, TEMPLATES, QuestionWording
from waybench.envs.textmap.worlds._data import TextWorld
from waybench.envs.textmap.worlds._items import WORLD_OPTIONS, Ask, CutoffFunction, WorldItems

Q = TypeVar("Q", bound=MapInstance)
S = TypeVar("S")
A = TypeVar("A")
_CONTRASTS = (Contrast("frame", COMPASS, BODY, "turning with the body"),)
LONGEST = 12  # moves of a path in a destination question, where there are too many longer paths
_SET_LONGEST_HINT = "set longest, the most moves of a path (12, say),"
_MANY_PLACES = 128  # of the smallest worlds that have too many paths to count


def make_map_environment(
    kind: str,
    *,
    play: Callable[..., Play[Q, S, A]],
    options: tuple[Option, ...],
    source_options: tuple[Option, ...],
    decode: Callable[[Json], Q],
    resolve_references: Callable[[Json, Callable[[str, str], Path]], Json],
    prove: Callable[[Q], Mapping[str, Json]],
    ask: Ask[Q],
    purpose: tuple[str, ...],
    limit: tuple[int, str],
    is_one_item: bool = False,
    takes_tokens: bool = False,
    isomorph: Callable[[Q, str, int], Q] | None = None,
    takes_context: bool = False,
    texts: TextTables = MappingProxyType({}),
    sample_levels: tuple[int, ...] = (1, 2, 3),
    version: int = 1,
    **fields: Any,
) -> Environment[Q, S, A]:
    """Return an environment of questions about maps.

    `play` receives the options as keywords. `source_options` are added to those of worlds, and `purpose` begins the
    keys of the random streams for generated worlds. For `ask`, `limit`, `is_one_item` and `takes_tokens` see
    `MapItems`, for the other parameters `Items` and `Playing`; `fields` are other fields of the `Environment`.
    """

    def open_source(
        key: str, level: int, options: Mapping[str, Json], cutoff: CutoffFunction | None = None
    ) -> WorldItems[Q]:
        """Return the items of one key and level."""
        return WorldItems(key, level, options, cutoff, ask=ask, purpose=purpose, prove=prove, is_one_item=is_one_item)

    environment: Environment[Q, S, A] = Environment(
        id=f"textmap/{kind}",
        version=version,
        items=Items(
            options=(*WORLD_OPTIONS, *source_options),
            sample_levels=sample_levels,
            public_key=PUBLIC_KEY,
            make_source=open_source,
            decode=decode,
            prove=prove,
            isomorph=isomorph,
            resolve_references=resolve_references,
            pooled=True,
            cluster=map_name,
            cluster_count="worlds",
        ),
        playing=Playing(
            play=lambda options: play(**options),
            options=options,
            takes_context=takes_context,
            implied=default_prefix_steps,
            texts=texts,
            illegal="The map does not have a move, a place or an action of the answer.",
        ),
        **fields,
    )
    datasets = MapItems(environment, open_source, ask, limit, is_one_item, takes_tokens).datasets
    return replace(environment, items=replace(environment.items, datasets=datasets))


def protocol_option(doc: str) -> Option:
    """Return the option that selects the protocol."""
    return Option(name="protocol", default=PAPER.name, choices=(PAPER.name, SOUND.name), doc=doc)


def lists_option(doc: str) -> Option:
    """Return the option that selects the listed names: all of the map, or those seen in the prefix."""
    return Option(name="lists", default=None, kind=str, choices=("all", "seen"), doc=doc)


def resolve_lists(protocol: str, lists: str | None) -> str:
    """Return the value of the option `lists`, with the default of the protocol."""
    return lists or ("all" if protocol == PAPER.name else "seen")


def prefix_option(doc: str, low: int = 1) -> Option:
    """Return the source option for the number of steps that are shown."""
    return number_option("prefix_steps", low, 5_000, doc)


def questions_option(doc: str, default: int = 10, high: int = 1_000) -> Option:
    """Return the source option for the number of questions about each world."""
    return Option(name="questions", is_count=True, default=default, low=1, high=high, doc=doc)


Kind = Literal["route", "destination"]


def sample_questions_on_map(
    place_map: PlaceMap,
    kind: Kind,
    cutoff: int,
    count: int,
    stream: Stream,
    *,
    difficulties: Sequence[EasyOrHard] = DIFFICULTIES,
    longest: int | None = None,
    rule: Rule = "released",
) -> list[MapQuestion]:
    """Sample `count` questions that are answerable from the steps 0 to `cutoff`, uniformly within each difficulty.

    Easy and hard questions alternate while there are both. A sample of fewer questions is a prefix of a larger one. The
    path in a destination question has at most `longest` moves.
    """
    from waybench.envs.textmap._paths import Paths, PathSelection, routes

    prefix = truncate_map(place_map, cutoff)
    word = stream.word()  # so that the sample of one difficulty does not depend on the other
    paths = Paths(prefix, cutoff) if kind == "destination" else None

    def sample_of_difficulty(difficulty: EasyOrHard) -> list[MapQuestion]:
        """Sample questions of one difficulty."""
        rng = Stream("textmap/choose", word, difficulty)
        if paths is None:
            all_routes = routes(prefix)
            pairs = all_routes.pair_numbers(difficulty, cutoff, rule)
            rng.shuffle(pairs)
            return [
                MapQuestion(prefix, cutoff, *all_routes.pair_of_number(number), rule=rule) for number in pairs[:count]
            ]
        try:
            sample = paths.sample_paths(count, rng, PathSelection(difficulty=difficulty, longest=longest))
        except UsageError:  # of more paths than the budget
            hint = "lower longest, the most moves of a path," if longest else _SET_LONGEST_HINT
            raise UsageError(f"map {prefix.name}: too many simple paths to draw from: {hint} or show less") from None
        edge_paths = [tuple(prefix.edges[number] for number in path) for path in sample]
        return [MapQuestion(prefix, cutoff, path[0].source, path[-1].target, path) for path in edge_paths]

    alternating = chain.from_iterable(zip_longest(*map(sample_of_difficulty, difficulties)))
    return [question for question in alternating if question is not None][:count]


QUESTION_OPTIONS = (
    prefix_option("Steps of the walkthrough that are shown; if not given, all of it."),
    questions_option("Questions about each world, which share the beginning of their prompts."),
    Option(
        name="difficulty",
        default="both",
        choices=("both", *DIFFICULTIES),
        doc="Easy questions, hard ones, or both in turn; a hard one needs a move that was never made.",
    ),
    number_option(
        "longest",
        1,
        1_000,
        "Most moves of the path in a destination question; if not given, no limit up to level 5, and 12 from level "
        "6 on, where there are too many paths to sample from.",
    ),
    Option(
        name="names",
        default="plain",
        choices=("plain", "ids"),
        doc="ids: the name of each place is followed by its number in the game, so that no two are confused.",
    ),
)

LABELS_OPTION = Option(
    name="labels",
    default=RELEASED_LABELS,
    choices=tuple(LABELS),
    doc="How routes are labelled easy or hard. released: as in the published data and program, easy if any path was "
    "walked in the steps shown. paper: as in Tables 5 to 8 (section 2.2), easy if a shortest path of the whole map "
    "consists of moves that are walked at some step. At step 70 the published maps have 12,438 easy and 2,344 hard "
    "routes with released, 11,314 and 3,468 with paper.",
)


def make_question_sampler(kind: Kind) -> Ask[MapQuestion]:
    """Return the function that samples questions of a kind about a map."""

    def ask_questions(
        place_map: PlaceMap,
        cutoff: int,
        count: int,
        stream: Stream,
        options: Mapping[str, Any],
        world: TextWorld | None,
    ) -> list[MapQuestion]:
        """Sample questions by the source options."""
        longest: int | None = options["longest"]
        if longest is None and world is not None and len(world.places) >= _MANY_PLACES:
            longest = LONGEST
        difficulties: list[EasyOrHard] = [
            difficulty for difficulty in DIFFICULTIES if options["difficulty"] in ("both", difficulty)
        ]
        rule = LABELS[options.get("labels", RELEASED_LABELS)]
        return sample_questions_on_map(
            place_map, kind, cutoff, count, stream, difficulties=difficulties, longest=longest, rule=rule
        )

    return ask_questions


OPTIONS = (
    protocol_option(
        '"paper": parsing, closest moves and similar names as in the paper; "sound": exact names and moves. Unreadable '
        "answers count as 0 in both; the metrics marked (MANGO) leave them out."
    ),
    Option(
        name="wording",
        default="chat",
        choices=tuple(TEMPLATES),
        doc="chat, completion: the published program's prompts for GPT and Claude, for Llama and RWKV; examples: the "
        "paper's Examples 7 and 8; plain: our own prompt.",
    ),
    Option(
        name="observations",
        default="full",
        choices=OBSERVATIONS,
        doc='names: show only the name of the place at each step (the paper\'s "-S").',
    ),
    Option(
        name="frame",
        default=GAME,
        choices=FRAMES,
        doc="How moves are worded. game: in the game's words; compass: with distances, north 12 meters; body: by turns "
        "of a walker, turn left, 12 meters ahead. With the latter two, the walkthrough has the name of the place at "
        "each step in place of the game's text, and answers are read in the same frame.",
    ),
    lists_option(
        "Lists of places and actions in the prompt: all of the map, or those seen in the prefix; by default all in "
        '"paper" and seen in "sound".'
    ),
)


def _play(
    protocol: str, wording: str, observations: str, frame: str, lists: str | None
) -> Play[MapQuestion, AnswerState[MapQuestion], Trajectory]:
    """Return the rules and the wording of an episode by the options."""
    published = protocol == PAPER.name
    question_wording = QuestionWording(
        TEMPLATES[wording], observations, resolve_lists(protocol, lists), published=published, frame=frame
    )
    return Play(QuestionGame(RULES[protocol]), question_wording, Limits(turns=1))


def _make_question_environment(
    kind: Kind,
    title: str,
    opening: str,
    decode: Callable[[Json], MapQuestion],
    scoring: Scoring,
    success: str,
    horizon: HorizonSpec | None = None,
) -> Environment[MapQuestion, AnswerState[MapQuestion], Trajectory]:
    """Return the environment of route or of destination questions."""
    return make_map_environment(
        kind,
        version=2,
        title=title,
        about=read_text(__file__, "about.md").format(first=opening),
        options=OPTIONS,
        play=_play,
        source_options=(*QUESTION_OPTIONS, LABELS_OPTION) if kind == "route" else QUESTION_OPTIONS,
        ask=make_question_sampler(kind),
        purpose=("textmap/questions", kind),
        takes_tokens=True,
        limit=(10, "Questions per game or world, alternately easy and hard; all if there are fewer."),
        resolve_references=insert_published_map,
        prove=prove,
        isomorph=rename_question,
        takes_context=True,
        texts=TEXTS,
        decode=decode,
        scoring=scoring,
        difficulty=Difficulty(
            axes=AXES, success=success, horizon=horizon, explanatory_variables=explanatory_variables(decode)
        ),
        players=Players(policies=PLAYERS),
        typing=Typing(parse=parse_typed, help=HELP),
    )


ROUTE = _make_question_environment(
    "route",
    "Text maps: route finding (MANGO)",
    "The player reads the walkthrough of a text game and tells how to get from one place to another.",
    decode_route,
    Scoring(
        metrics=METRICS,
        failures=ROUTE_FAILURES,
        failure=route_failure,
        first_errors=ROUTE_ERRORS,
        contrasts=_CONTRASTS,
    ),
    success="the answer's moves lead to the destination, by any path",
    horizon=HorizonSpec(levels=(1, 2, 3, 4, 5, 6, 7), pool=40),
)
DESTINATION = _make_question_environment(
    "destination",
    "Text maps: destination finding (MANGO)",
    "The player reads the walkthrough of a text game and tells where a sequence of moves leads.",
    decode_destination,
    Scoring(
        metrics=METRICS,
        failures=DESTINATION_FAILURES,
        failure=destination_failure,
        first_errors=DESTINATION_ERRORS,
        contrasts=_CONTRASTS,
    ),
    success="the answered place is the destination",
)
