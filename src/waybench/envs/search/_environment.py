"""The six environments: two games, three tasks, each in a plain wording and as a story."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from waybench._package_data import read_text, read_toml
from waybench.core import (
    Axis,
    Belief,
    Environment,
    EpisodeRecord,
    ExplanatoryVariables,
    FailureKind,
    FirstErrors,
    Game,
    HorizonSpec,
    Images,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Player,
    Potential,
    Presentation,
    Source,
    TypedAction,
    UsageError,
    Wording,
    level_axis,
)
from waybench.envs.search import _answers, _failures, _game_number, _game_walk, _potential, _reasoning, _texts
from waybench.envs.search import _metrics as _scores
from waybench.envs.search._answers import Scores
from waybench.envs.search._beliefs import RANGE, queue, stack
from waybench.envs.search._coach import Coach, Teacher
from waybench.envs.search._competent import breadth_is_competent, depth_is_competent, number_is_competent
from waybench.envs.search._datasets import BREADTH, DEPTH, NUMBERS, PUBLIC_KEY, Cases, PublishedCases
from waybench.envs.search._first_errors import BREADTH_ERRORS, DEPTH_ERRORS, NUMBER_ERRORS
from waybench.envs.search._isomorph import relabelled, shifted
from waybench.envs.search._people import (
    NUMBER_HELP,
    WALK_HELP,
    adjacent_nodes,
    known_nodes,
    parse_number,
)
from waybench.envs.search._picture import IMAGES
from waybench.envs.search._presentation import (
    BASE,
    BREADTH_PRESENTATION,
    DEPTH_PRESENTATION,
    EMBODIED,
    NUMBER_PRESENTATION,
)
from waybench.envs.search._protocol import PROTOCOLS
from waybench.envs.search._source import (
    FEWEST_NODES,
    LOWEST_LEVEL,
    NUMBER_OPTIONS,
    WALK_OPTIONS,
    NumberSource,
    WalkSource,
)
from waybench.envs.search._variables import MINIMUM, NUMBER_VARIABLES, WALK_VARIABLES
from waybench.envs.search._wording import NumberWording, WalkWording

_ENDLESS = 10**9  # turns; an episode with a teacher ends by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """The parts of one of the three tasks, whichever its wording."""

    game: Game[Any, Any, int]
    wording: Callable[..., Any]
    scores: Scores[Any]
    case_of: Callable[[Any], Any]  # state -> instance
    most_steps: Callable[[Any], int]
    players: Mapping[str, Player[Any, int]]
    metrics: tuple[Metric, ...]
    failures: tuple[FailureKind, ...]
    failure: Callable[[EpisodeRecord], FailureKind]
    first_errors: FirstErrors
    belief: Callable[[_texts.Story], Belief[Any]]
    axis: Axis
    variables: ExplanatoryVariables
    potentials: tuple[Potential[Any], ...]
    isomorph: Callable[[Any, str, int], Any]
    reasoning: Callable[[Any], str]
    success: str
    competent: Callable[[EpisodeRecord], bool]
    source_options: tuple[Option, ...]
    source: Callable[..., Source[Any]]
    prove: Callable[[Any], Mapping[str, Json]]
    decode: Callable[[Json], Any]
    cases: PublishedCases
    smallest_level: int
    sample_levels: tuple[int, ...]
    presentation: Presentation
    typed_actions: Callable[[Any], Sequence[TypedAction]] | None = None
    images: Images | None = None


_NODES = level_axis("nodes", "Nodes of the graph.")
_PROVE_DEPTH = partial(_game_walk.prove, steps=_game_walk.steps_depth)
_PROVE_BREADTH = partial(_game_walk.prove, steps=_game_walk.steps_breadth)


_TWINS: dict[str, str] = dict(zip(EMBODIED, BASE, strict=True))  # each story has the cases of a plain one
_SAME_CASES = _TWINS | {base: story for story, base in _TWINS.items()}

_KINDS = {
    "number": _Kind(
        game=_game_number.GuessGame(),
        wording=NumberWording,
        scores=_answers.NUMBERS,
        case_of=lambda state: state.case,
        most_steps=_game_number.most_steps,
        players=_game_number.PLAYERS,
        metrics=_scores.NUMBER_METRICS,
        failures=_failures.NUMBER_FAILURES,
        failure=_failures.number_failure,
        first_errors=NUMBER_ERRORS,
        belief=lambda story: RANGE,
        axis=level_axis("bits", "Bisections needed to find any number of the range."),
        variables=NUMBER_VARIABLES,
        isomorph=shifted,
        reasoning=_reasoning.bisection,
        potentials=_potential.NUMBER,
        success="the number is found in at most one and a half times as many guesses as the range has bits",
        competent=number_is_competent,
        source_options=NUMBER_OPTIONS,
        source=NumberSource,
        prove=_game_number.prove,
        decode=_game_number.decode,
        cases=NUMBERS,
        smallest_level=LOWEST_LEVEL,
        sample_levels=(3, 6, 10),
        presentation=NUMBER_PRESENTATION,
    ),
    "depth": _Kind(
        game=_game_walk.WalkGame(depth_first=True),
        wording=WalkWording,
        scores=_answers.DEPTH,
        case_of=lambda state: _game_walk.Terrain(state.graph),
        most_steps=_game_walk.most_steps_depth,
        players=_game_walk.DEPTH_PLAYERS,
        metrics=_scores.walk_metrics(_answers.DEPTH),
        failures=_failures.WALK_FAILURES,
        failure=_failures.walk_failure,
        first_errors=DEPTH_ERRORS,
        belief=stack,
        axis=_NODES,
        variables=WALK_VARIABLES,
        isomorph=relabelled,
        reasoning=_reasoning.stack,
        potentials=_potential.WALK,
        success="every node is visited in at most 2 (n - 1) steps, enough for a depth-first search of n nodes",
        competent=depth_is_competent,
        source_options=WALK_OPTIONS,
        source=partial(WalkSource, prove=_PROVE_DEPTH),
        prove=_PROVE_DEPTH,
        decode=_game_walk.decode,
        cases=DEPTH,
        smallest_level=FEWEST_NODES,
        sample_levels=(5, 8, 13),
        presentation=DEPTH_PRESENTATION,
        images=IMAGES,
        typed_actions=adjacent_nodes,
    ),
    "breadth": _Kind(
        game=_game_walk.WalkGame(depth_first=False),
        wording=WalkWording,
        scores=_answers.BREADTH,
        case_of=lambda state: _game_walk.Terrain(state.graph),
        most_steps=_game_walk.most_steps_breadth,
        players=_game_walk.BREADTH_PLAYERS,
        metrics=_scores.walk_metrics(_answers.BREADTH),
        failures=_failures.WALK_FAILURES,
        failure=_failures.walk_failure,
        first_errors=BREADTH_ERRORS,
        belief=queue,
        axis=_NODES,
        variables=WALK_VARIABLES,
        isomorph=relabelled,
        reasoning=_reasoning.queue,
        potentials=_potential.WALK,
        success="every node is visited in at most one and a half times the steps of a breadth-first search",
        competent=breadth_is_competent,
        source_options=WALK_OPTIONS,
        source=partial(WalkSource, prove=_PROVE_BREADTH),
        prove=_PROVE_BREADTH,
        decode=_game_walk.decode,
        cases=BREADTH,
        smallest_level=FEWEST_NODES,
        sample_levels=(5, 8, 15),
        presentation=BREADTH_PRESENTATION,
        images=IMAGES,
        typed_actions=known_nodes,
    ),
}


OPTIONS = (
    Option(
        name="protocol",
        default="paper",
        choices=tuple(PROTOCOLS),
        doc='"paper": replies, history and scores as in the published program; "sound": corrected.',
    ),
    Option(
        name="wording",
        default="appendix",
        choices=("appendix", "code"),
        doc="The system prompt: as Appendix D of the paper prints it, or as the published program has it.",
    ),
    Option(
        name="max_steps",
        default=None,
        kind=int,
        low=1,
        high=10**6,
        doc="Maximum valid answers; by default 20 in EASY mode, 30 in HARD mode, and more at higher levels.",
    ),
    Option(
        name="max_retries",
        default=3,
        low=0,
        high=1000,
        doc="Invalid replies in a row that are allowed; the next one ends the episode.",
    ),
    Option(
        name="teacher_guided",
        default=False,
        low=1,
        high=10**6,
        or_number=True,
        doc="Teacher guiding: whether the optimal policy's answer replaces each reply, also in the chat. max_steps, "
        "max_retries and weak_tg_chances then have no effect. Or a number k: the optimal policy takes the first k "
        "steps, except the one that reaches the goal, and then the player plays freely.",
    ),
    Option(
        name="weak_tg_chances",
        default=0,
        low=0,
        high=1000,
        doc="Weak teacher guiding, without teacher_guided: the number of valid replies in a row that are refused for "
        "deviating from the algorithm; the next one is accepted, and later ones are not checked.",
    ),
)


def _horizon_spec(levels: tuple[int, ...]) -> HorizonSpec:
    # With a teacher success would be the teacher's merit.
    return HorizonSpec(levels=levels, without=("teacher_guided", "weak_tg_chances"), revision=1)


_BY_NODES = (5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80)
# One wording of each task has a horizon: both are equally hard.
_HORIZONS = {
    "guessnum": _horizon_spec((3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 32, 40, 50)),
    "dfs": _horizon_spec(_BY_NODES),
    "bfs": _horizon_spec(_BY_NODES),
}


def _about(name: str) -> str:
    """Return the description of an environment.

    Args:
        name: The part of its id after the slash.
    """
    parts = read_toml(__file__, "about.toml")
    kind = "number" if name in ("guessnum", "coin") else "depth" if name.endswith("dfs") else "breadth"
    shared = parts["number" if kind == "number" else "walk"]
    return read_text(__file__, "about.md").format(**{**shared, **parts[kind], **parts[name]})


def _environment(name: str, kind: _Kind, story: _texts.Story, title: str, text: str) -> Environment[Any, Any, int]:
    wordings: dict[tuple[str, str], Wording[Any, Any, int]] = {
        (edition, protocol): kind.wording(story, edition, rules)
        for edition in story.prompts
        for protocol, rules in PROTOCOLS.items()
    }
    teacher = kind.players["oracle"]

    def play(options: Mapping[str, Json]) -> Play[Any, Any, int]:
        wording: Any = wordings[options["wording"], options["protocol"]]
        rules = PROTOCOLS[options["protocol"]]
        guided, chances, steps = options["teacher_guided"], options["weak_tg_chances"], options["max_steps"]
        whole = guided is True
        if guided and not whole and steps is not None and guided >= steps:
            raise UsageError(f"teacher_guided={guided} leaves the player none of max_steps={steps}: lower it")
        return Play(
            kind.game,
            wording,
            Limits(_ENDLESS if whole or steps is None else steps, "retry", options["max_retries"], illegal=True),
            turns=kind.most_steps if steps is None and not whole else None,
            guide=Teacher(kind.game, teacher, None if whole else guided) if guided else None,
            coach=Coach(
                kind.game, lambda state: kind.scores.algorithm(kind.case_of(state), rules), wording.refuse, chances
            )
            if chances and not guided
            else None,
        )

    cases = Cases(
        env_id=f"search/{name}",
        twin=_SAME_CASES[f"search/{name}"],
        published=kind.cases,
        source_options=kind.source_options,
        make_source=kind.source,
        decode=kind.decode,
        prove=kind.prove,
    )
    return Environment(
        id=f"search/{name}",
        version=1,
        title=title,
        about=text,
        options=OPTIONS,
        source_options=kind.source_options,
        smallest_level=kind.smallest_level,
        sample_levels=kind.sample_levels,
        public_key=PUBLIC_KEY,
        play=play,
        make_source=kind.source,
        datasets=cases.datasets,
        horizon=_HORIZONS.get(name),
        decode=kind.decode,
        parse_typed=parse_number,
        typed_help=NUMBER_HELP if kind.typed_actions is None else WALK_HELP,
        typed_actions=kind.typed_actions,
        prove=kind.prove,
        metrics=kind.metrics,
        failures=kind.failures,
        failure=kind.failure,
        first_errors=kind.first_errors,
        beliefs=(kind.belief(story),),
        axes=(kind.axis, MINIMUM),
        explanatory_variables=kind.variables,
        potentials=kind.potentials,
        isomorph=kind.isomorph,
        reasoning=kind.reasoning,
        success=kind.success,
        competent=kind.competent,
        series=_scores.series(kind.scores),
        presentation=kind.presentation,
        twin=_TWINS.get(f"search/{name}", ""),
        players=dict(kind.players),
        images=kind.images,
    )


GUESSNUM = _environment(
    "guessnum", _KINDS["number"], _texts.GUESSNUM, "Number guessing (AQA-Bench)", _about("guessnum")
)
COIN = _environment("coin", _KINDS["number"], _texts.COIN, "Coins in a chest (AQA-Bench)", _about("coin"))
DFS = _environment("dfs", _KINDS["depth"], _texts.DFS, "Depth-first search (AQA-Bench)", _about("dfs"))
CAVEDFS = _environment(
    "cavedfs", _KINDS["depth"], _texts.CAVEDFS, "A walk through caves (AQA-Bench)", _about("cavedfs")
)
BFS = _environment("bfs", _KINDS["breadth"], _texts.BFS, "Breadth-first search (AQA-Bench)", _about("bfs"))
CAVEBFS = _environment("cavebfs", _KINDS["breadth"], _texts.CAVEBFS, "A team in caves (AQA-Bench)", _about("cavebfs"))
