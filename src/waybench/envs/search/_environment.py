"""The six environments: two games, three tasks, each in a plain wording and as a story."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from waybench._package_data import read_text, read_toml
from waybench.core import (
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
from waybench.envs.search import _measures, _metrics, _number, _texts, _walk
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
    relabelled,
    shifted,
)
from waybench.envs.search._measures import (
    BREADTH_ERRORS,
    DEPTH_ERRORS,
    MINIMUM,
    NUMBER_ERRORS,
    NUMBER_VARIABLES,
    WALK_VARIABLES,
    bounds,
    breadth_is_competent,
    depth_is_competent,
    number_is_competent,
)
from waybench.envs.search._measures import queue_belief as queue
from waybench.envs.search._measures import stack_belief as stack
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
from waybench.envs.search._texts import PROTOCOLS, Story
from waybench.envs.search._wording import Coach, NumberWording, Teacher, WalkWording

_ENDLESS = 10**9  # turns; an episode with a teacher ends by itself

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


def _about(story: Story, task: str) -> str:
    parts = read_toml(__file__, "about.toml")
    shared = parts["number" if task == "number" else "walk"]
    return read_text(__file__, "about.md").format(**{**shared, **parts[task], **parts[story.name]})


def _play_of(
    story: Story,
    game: Game[Any, Any, int],
    wording: Callable[..., Any],
    scores: Scores[Any],
    teacher: Player[Any, int],
) -> Callable[[Mapping[str, Json]], Play[Any, Any, int]]:
    """Return the function from options to how an episode is played.

    Args:
        story: The words of the environment.
        game: The rules.
        wording: (story, edition, protocol) -> wording.
        scores: What answers are compared with.
        teacher: The optimal policy.
    """

    def play(options: Mapping[str, Json]) -> Play[Any, Any, int]:
        rules = PROTOCOLS[options["protocol"]]
        words: Any = wording(story, options["wording"], rules)
        guided, chances, steps = options["teacher_guided"], options["weak_tg_chances"], options["max_steps"]
        whole = guided is True
        if guided and not whole and steps is not None and guided >= steps:
            raise UsageError(f"teacher_guided={guided} leaves the player none of max_steps={steps}: lower it")
        return Play(
            game,
            words,
            Limits(_ENDLESS if whole or steps is None else steps, "retry", options["max_retries"], illegal=True),
            turns=scores.most_steps if steps is None and not whole else None,
            guide=Teacher(game, teacher, None if whole else guided) if guided else None,
            coach=Coach(game, lambda state: scores.algorithm(state.case, rules), words.refuse, chances)
            if chances and not guided
            else None,
        )

    return play


def _horizon(*levels: int) -> HorizonSpec:
    # With a teacher success would be the teacher's merit.
    return HorizonSpec(levels=levels, without=("teacher_guided", "weak_tg_chances"), revision=1)


def _oracle_is_ceiling(record: EpisodeRecord) -> bool:
    return record.end is End.SOLVED  # with fewer steps, another order or a lucky guess comes closer to the goal


def _environment(
    story: Story,
    other: Story,
    *,
    task: str,
    game: Game[Any, Any, int],
    wording: Callable[..., Any],
    scores: Scores[Any],
    belief: Callable[[Story], Belief[Any]],
    cases: PublishedCases,
    players: Players[Any, int],
    images: Images | None = None,
    **fields: Any,
) -> Environment[Any, Any, int]:
    """Return one of two environments with the same cases.

    Args:
        story: Its words.
        other: The words of the other one.
        task: The table of about.toml that describes what both do.
        game: The rules.
        wording: (story, edition, protocol) -> wording.
        scores: What answers are compared with.
        belief: Story -> what belief probes ask for.
        cases: The published cases.
        players: The scripted players.
        images: How messages are drawn; None if they cannot be.
        **fields: All other fields of the `Environment`.
    """
    environment: Environment[Any, Any, int] = Environment(
        id=f"search/{story.name}",
        version=1,
        title=story.title,
        about=_about(story, task),
        playing=Playing(
            options=OPTIONS,
            play=_play_of(story, game, wording, scores, players.policies["oracle"]),
            images=images,
        ),
        players=players,
        probes=(belief(story),),
        **fields,
    )
    datasets = Cases(environment, f"search/{other.name}", cases).datasets
    return replace(environment, items=replace(environment.items, datasets=datasets))


def _twins(plain: Story, embodied: Story, **task: Any) -> tuple[Environment[Any, Any, int], Environment[Any, Any, int]]:
    """Return the two environments of a task, which have the same cases.

    One of them has a horizon: both are equally hard.
    """
    base, twin = _environment(plain, embodied, **task), _environment(embodied, plain, **task)
    return base, replace(
        twin, items=replace(twin.items, twin=base.id), difficulty=replace(twin.difficulty, horizon=None)
    )


GUESSNUM, COIN = _twins(
    _texts.GUESSNUM,
    _texts.COIN,
    task="number",
    game=_number.GuessGame(),
    wording=NumberWording,
    scores=_metrics.NUMBERS,
    belief=bounds,
    cases=NUMBERS,
    items=Items(
        make_source=NumberSource,
        decode=_metrics.NUMBERS.decode,
        public_key=PUBLIC_KEY,
        sample_levels=(LOWEST_LEVEL, 6, 10),
        options=NUMBER_OPTIONS,
        prove=_number.prove,
        isomorph=shifted,
    ),
    scoring=Scoring(
        metrics=_metrics.NUMBER_METRICS,
        series=_metrics.series(_metrics.NUMBERS),
        failures=_measures.NUMBER_FAILURES,
        failure=_measures.number_failure,
        first_errors=NUMBER_ERRORS,
    ),
    difficulty=Difficulty(
        axes=(level_axis("bits", "Bisections needed to find any number of the range."), MINIMUM),
        success="the number is found in at most one and a half times as many guesses as the range has bits",
        competent=number_is_competent,
        horizon=_horizon(3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 32, 40, 50),
        explanatory_variables=NUMBER_VARIABLES,
    ),
    players=Players(
        policies=_number.PLAYERS,
        oracle_is_ceiling=_oracle_is_ceiling,
        reasoning=_measures.bisection,
        potentials=_measures.NUMBER,
    ),
    presentation=NUMBER_PRESENTATION,
    typing=Typing(parse=parse_number, help=NUMBER_HELP),
)


def _walk_items(scores: Scores[Any], steps: Callable[[_walk.Terrain], int], *sample_levels: int) -> Items[Any]:
    prove = partial(_walk.prove, steps=steps)
    return Items(
        make_source=partial(WalkSource, prove=prove),
        decode=scores.decode,
        public_key=PUBLIC_KEY,
        sample_levels=sample_levels,
        options=WALK_OPTIONS,
        prove=prove,
        isomorph=relabelled,
    )


_WALK_SCORING = partial(Scoring, failures=_measures.WALK_FAILURES, failure=_measures.walk_failure)
_WALK_DIFFICULTY = partial(
    Difficulty,
    axes=(level_axis("nodes", "Nodes of the graph."), MINIMUM),
    horizon=_horizon(5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80),
    explanatory_variables=WALK_VARIABLES,
)

DFS, CAVEDFS = _twins(
    _texts.DFS,
    _texts.CAVEDFS,
    task="depth",
    game=_walk.WalkGame(depth_first=True),
    wording=WalkWording,
    scores=_metrics.DEPTH,
    belief=stack,
    cases=DEPTH,
    items=_walk_items(_metrics.DEPTH, _walk.steps_depth, FEWEST_NODES, 8, 13),
    scoring=_WALK_SCORING(
        metrics=_metrics.walk_metrics(_metrics.DEPTH),
        series=_metrics.series(_metrics.DEPTH),
        first_errors=DEPTH_ERRORS,
    ),
    difficulty=_WALK_DIFFICULTY(
        success="every node is visited in at most 2 (n - 1) steps, enough for a depth-first search of n nodes",
        competent=depth_is_competent,
    ),
    players=Players(
        policies=_walk.DEPTH_PLAYERS,
        oracle_is_ceiling=_oracle_is_ceiling,
        reasoning=_measures.stack,
        potentials=_measures.WALK,
    ),
    presentation=DEPTH_PRESENTATION,
    typing=Typing(parse=parse_number, help=WALK_HELP, actions=adjacent_nodes),
    images=IMAGES,
)
BFS, CAVEBFS = _twins(
    _texts.BFS,
    _texts.CAVEBFS,
    task="breadth",
    game=_walk.WalkGame(depth_first=False),
    wording=WalkWording,
    scores=_metrics.BREADTH,
    belief=queue,
    cases=BREADTH,
    items=_walk_items(_metrics.BREADTH, _walk.steps_breadth, FEWEST_NODES, 8, 15),
    scoring=_WALK_SCORING(
        metrics=_metrics.walk_metrics(_metrics.BREADTH),
        series=_metrics.series(_metrics.BREADTH),
        first_errors=BREADTH_ERRORS,
    ),
    difficulty=_WALK_DIFFICULTY(
        success="every node is visited in at most one and a half times the steps of a breadth-first search",
        competent=breadth_is_competent,
    ),
    players=Players(
        policies=_walk.BREADTH_PLAYERS,
        oracle_is_ceiling=_oracle_is_ceiling,
        reasoning=_measures.queue,
        potentials=_measures.WALK,
    ),
    presentation=BREADTH_PRESENTATION,
    typing=Typing(parse=parse_number, help=WALK_HELP, actions=known_nodes),
    images=IMAGES,
)
