"""The six environments: two games, three tasks, each in a plain wording and as a story."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from waybench._package_data import read_text, read_toml
from waybench.core import (
    EASIER,
    Belief,
    Difficulty,
    End,
    Environment,
    EpisodeRecord,
    Game,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Option,
    Play,
    Player,
    Players,
    Playing,
    Scoring,
    Typing,
    UsageError,
    level_axis,
)
from waybench.envs.search import _measures, _metrics, _number, _walk
from waybench.envs.search._drawing_walk import IMAGES
from waybench.envs.search._items import (
    BREADTH,
    DEPTH,
    FEWEST_NODES,
    LOWEST_LEVEL,
    NUMBER_OPTIONS,
    NUMBERS,
    PUBLIC_KEY,
    WALK_OPTIONS,
    Cases,
    NumberSource,
    PublishedCases,
    WalkSource,
    relabel_nodes,
    shift_range,
)
from waybench.envs.search._measures import MINIMUM
from waybench.envs.search._metrics import Scores
from waybench.envs.search._presentation import (
    BREADTH_PRESENTATION,
    DEPTH_PRESENTATION,
    NUMBER_HELP,
    NUMBER_PRESENTATION,
    WALK_HELP,
    adjacent_nodes,
    known_nodes,
    parse_number,
)
from waybench.envs.search._texts import PROTOCOLS, STORIES, SearchTexts
from waybench.envs.search._wording import Coach, NumberWording, Teacher, WalkWording

_MOST_TURNS = 10**9  # without a limit of its own, an episode ends by the teacher or by the game's default

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
        effect=EASIER,
        default=None,
        kind=int,
        low=1,
        high=10**6,
        doc="Maximum valid answers; by default 20 in EASY mode, 30 in HARD mode, and more at higher levels.",
    ),
    Option(
        name="max_retries",
        effect=EASIER,
        default=3,
        low=0,
        high=1000,
        doc="Invalid replies in a row that are allowed; the next one ends the episode.",
    ),
    Option(
        name="teacher_guided",
        effect=EASIER,
        default=False,
        low=1,
        high=10**6,
        or_number=True,
        number_title="teacher steps",
        doc="Teacher guiding: whether the optimal policy's answer replaces each reply, also in the chat. max_steps, "
        "max_retries and weak_tg_chances then have no effect. Or a number k: the optimal policy takes the first k "
        "steps, except the one that reaches the goal, and then the player plays freely.",
    ),
    Option(
        name="weak_tg_chances",
        effect=EASIER,
        default=0,
        low=0,
        high=1000,
        doc="Weak teacher guiding, without teacher_guided: the number of valid replies in a row that are refused for "
        "deviating from the algorithm; the next one is accepted, and later ones are not checked.",
    ),
)


def _make_play_function(
    story: SearchTexts,
    game: Game[Any, Any, int],
    wording: Callable[..., Any],
    scores: Scores[Any],
    teacher: Player[Any, int],
) -> Callable[[Mapping[str, Json]], Play[Any, Any, int]]:
    """Return the function from options to the play; `wording` takes story, edition and protocol."""

    def play(options: Mapping[str, Json]) -> Play[Any, Any, int]:
        """Return the rules, the wording, and the teacher or coach of an episode."""
        protocol = PROTOCOLS[options["protocol"]]
        episode_wording: Any = wording(story, options["wording"], protocol)
        # True for the whole episode, or the number of the teacher's first steps.
        guided, chances, max_steps = options["teacher_guided"], options["weak_tg_chances"], options["max_steps"]
        guide = coach = None
        if guided is True:
            max_steps, default_max_steps = _MOST_TURNS, None
            guide = Teacher(game, teacher, None)
        else:
            default_max_steps = scores.default_max_steps if max_steps is None else None
            if guided and max_steps is not None and guided >= max_steps:
                raise UsageError(f"teacher_guided={guided} leaves the player none of max_steps={max_steps}: lower it")
            if guided:
                guide = Teacher(game, teacher, guided)
            elif chances:
                coach = Coach(
                    game, lambda state: scores.algorithm(state.case, protocol), episode_wording.refuse, chances
                )
        limits = Limits(_MOST_TURNS if max_steps is None else max_steps, "retry", options["max_retries"], illegal=True)
        return Play(game, episode_wording, limits, turns=default_max_steps, guide=guide, coach=coach)

    return play


def _horizon_spec(*levels: int) -> HorizonSpec:
    """Return the horizon over levels, without options of a teacher, whose merit success would be."""
    return HorizonSpec(levels=levels, without=("teacher_guided", "weak_tg_chances"), revision=1)


def _oracle_is_ceiling(record: EpisodeRecord) -> bool:
    """Return whether the oracle's score is the ceiling: only in solved episodes.

    With fewer steps, another order or a lucky guess comes closer to the goal.
    """
    return record.end is End.SOLVED


def _make_environment(
    story: SearchTexts,
    twin_name: str,
    *,
    task: str,
    game: Game[Any, Any, int],
    wording: Callable[..., Any],
    scores: Scores[Any],
    belief: Callable[[SearchTexts], Belief[Any]],
    cases: PublishedCases,
    players: Players[Any, int],
    images: Images | None = None,
    **fields: Any,
) -> Environment[Any, Any, int]:
    """Return one of two environments with the same cases; `task` names a table of about.toml."""
    about_texts = read_toml(__file__, "about.toml")
    game_words = about_texts["number" if task == "number" else "walk"]
    environment: Environment[Any, Any, int] = Environment(
        id=f"search/{story.name}",
        version=1,
        title=story.title,
        about=read_text(__file__, "about.md").format(**{**game_words, **about_texts[task], **about_texts[story.name]}),
        playing=Playing(
            options=OPTIONS,
            play=_make_play_function(story, game, wording, scores, players.policies["oracle"]),
            images=images,
        ),
        players=players,
        probes=(belief(story),),
        **fields,
    )
    datasets = Cases(environment, f"search/{twin_name}", cases).datasets
    return replace(environment, items=replace(environment.items, datasets=datasets))


def _twin_environments(
    plain: str, embodied: str, **task: Any
) -> tuple[Environment[Any, Any, int], Environment[Any, Any, int]]:
    """Return the plain and the embodied environment of a task, with the same cases; only the first has a horizon."""
    plain_environment, embodied_environment = (
        _make_environment(STORIES[story], twin_name, **task)
        for story, twin_name in ((plain, embodied), (embodied, plain))
    )
    return plain_environment, replace(
        embodied_environment,
        items=replace(embodied_environment.items, twin=plain_environment.id),
        difficulty=replace(embodied_environment.difficulty, horizon=None),
    )


GUESSNUM, COIN = _twin_environments(
    "guessnum",
    "coin",
    task="number",
    game=_number.GuessGame(),
    wording=NumberWording,
    scores=_metrics.NUMBERS,
    belief=_measures.range_belief,
    cases=NUMBERS,
    items=Items(
        make_source=NumberSource,
        decode=_metrics.NUMBERS.decode,
        public_key=PUBLIC_KEY,
        sample_levels=(LOWEST_LEVEL, 6, 10),
        options=NUMBER_OPTIONS,
        prove=_number.prove,
        isomorph=shift_range,
    ),
    scoring=Scoring(
        metrics=_metrics.NUMBER_METRICS,
        series=_metrics.per_step_series(_metrics.NUMBERS),
        failures=_measures.NUMBER_FAILURES,
        failure=_measures.number_failure,
        first_errors=_measures.NUMBER_ERRORS,
    ),
    difficulty=Difficulty(
        axes=(level_axis("bits", "Bisections needed to find any number of the range."), MINIMUM),
        success="the number is found in at most one and a half times as many guesses as the range has bits",
        competent=_measures.is_competent_number_guessing,
        horizon=_horizon_spec(3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 32, 40, 50),
        explanatory_variables=_measures.NUMBER_VARIABLES,
    ),
    players=Players(
        policies=_number.PLAYERS,
        oracle_is_ceiling=_oracle_is_ceiling,
        reasoning=_measures.bisection_reasoning,
        potentials=_measures.NUMBER,
    ),
    presentation=NUMBER_PRESENTATION,
    typing=Typing(parse=parse_number, help=NUMBER_HELP),
)


def _make_walk_items(scores: Scores[Any], steps: Callable[[_walk.WalkGraph], int], *sample_levels: int) -> Items[Any]:
    """Return the items of graphs; `steps` counts those of the optimal policy."""
    prove = partial(_walk.prove, steps=steps)
    return Items(
        make_source=partial(WalkSource, prove=prove),
        decode=scores.decode,
        public_key=PUBLIC_KEY,
        sample_levels=sample_levels,
        options=WALK_OPTIONS,
        prove=prove,
        isomorph=relabel_nodes,
    )


_WALK_SCORING = partial(Scoring, failures=_measures.WALK_FAILURES, failure=_measures.walk_failure)
_WALK_DIFFICULTY = partial(
    Difficulty,
    axes=(level_axis("nodes", "Nodes of the graph."), MINIMUM),
    horizon=_horizon_spec(5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80),
    explanatory_variables=_measures.WALK_VARIABLES,
)

DFS, CAVEDFS = _twin_environments(
    "dfs",
    "cavedfs",
    task="depth",
    game=_walk.WalkGame(depth_first=True),
    wording=WalkWording,
    scores=_metrics.DEPTH,
    belief=_measures.stack_belief,
    cases=DEPTH,
    items=_make_walk_items(_metrics.DEPTH, _walk.depth_first_steps, FEWEST_NODES, 8, 13),
    scoring=_WALK_SCORING(
        metrics=_metrics.walk_metrics(_metrics.DEPTH),
        series=_metrics.per_step_series(_metrics.DEPTH),
        first_errors=_measures.DEPTH_ERRORS,
    ),
    difficulty=_WALK_DIFFICULTY(
        success="every node is visited in at most 2 (n - 1) steps, enough for a depth-first search of n nodes",
        competent=_measures.is_competent_depth_first,
    ),
    players=Players(
        policies=_walk.DEPTH_PLAYERS,
        oracle_is_ceiling=_oracle_is_ceiling,
        reasoning=_measures.stack_reasoning,
        potentials=_measures.WALK,
    ),
    presentation=DEPTH_PRESENTATION,
    typing=Typing(parse=parse_number, help=WALK_HELP, actions=adjacent_nodes),
    images=IMAGES,
)
BFS, CAVEBFS = _twin_environments(
    "bfs",
    "cavebfs",
    task="breadth",
    game=_walk.WalkGame(depth_first=False),
    wording=WalkWording,
    scores=_metrics.BREADTH,
    belief=_measures.queue_belief,
    cases=BREADTH,
    items=_make_walk_items(_metrics.BREADTH, _walk.breadth_first_steps, FEWEST_NODES, 8, 15),
    scoring=_WALK_SCORING(
        metrics=_metrics.walk_metrics(_metrics.BREADTH),
        series=_metrics.per_step_series(_metrics.BREADTH),
        first_errors=_measures.BREADTH_ERRORS,
    ),
    difficulty=_WALK_DIFFICULTY(
        success="every node is visited in at most one and a half times the steps of a breadth-first search",
        competent=_measures.is_competent_breadth_first,
    ),
    players=Players(
        policies=_walk.BREADTH_PLAYERS,
        oracle_is_ceiling=_oracle_is_ceiling,
        reasoning=_measures.queue_reasoning,
        potentials=_measures.WALK,
    ),
    presentation=BREADTH_PRESENTATION,
    typing=Typing(parse=parse_number, help=WALK_HELP, actions=known_nodes),
    images=IMAGES,
)
