"""The published benchmarks: which environments they play, and with which parameters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from waybench.core import EASIER, Json, Option
from waybench.envs import registry
from waybench.envs.atlas._game import CONDITION, MAIN_CONDITIONS
from waybench.envs.atlas._generate import LADDER
from waybench.envs.voxel._game import recorded_level
from waybench.envs.voxel.engines._terrain import PLAINS, PUBLISHED_GOALS, counterpart_goal
from waybench.evaluation.tasks._entry import (
    ISOMORPH,
    LIMIT,
    Climb,
    TaskEntry,
    TaskPart,
    select_parameters,
)

_AQA = {
    "guessnum": "AQA-Bench: guess a number from bigger/smaller feedback",
    "coin": "AQA-Bench: guess a number, framed as coins in a chest",
    "dfs": "AQA-Bench: traverse an unknown tree, depth first",
    "cavedfs": "AQA-Bench: depth-first traversal, framed as walking through caves",
    "bfs": "AQA-Bench: traverse an unknown tree, breadth first",
    "cavebfs": "AQA-Bench: breadth-first traversal, framed as a team exploring caves",
}
_MANGO = (
    (
        "mango_destination",
        "destination",
        "MANGO: find the destination of given moves on a map from a text game's walkthrough",
    ),
    ("mango_route", "route", "MANGO: find a route between two places on a map from a text game's walkthrough"),
    ("mango_minigames", "minigame", "MANGO: predict the next move of a text game's walkthrough"),
    ("mango_extract", "extract", "MANGO: extract a map from a text game's walkthrough as triplets, scored by search"),
)
_GTB = (
    ("gtb", "gtb", "GameTraversalBenchmark: plan a path over a tile map, objective by objective"),
    ("gtb_stepwise", "stepwise", "GameTraversalBenchmark maps, one move at a time"),
    ("gtb_state", "state", "GameTraversalBenchmark maps, with a prediction of the map after each plan"),
)

# SmartPlay: name, environment, summary, trials as published (Table 1), what is fixed; the rest is the user's.
_HANOI = {"positions": "published"}
_ARMS = {
    "deterministic": "one always pays",
    "high_low": "win rates 0.8 and 0.2",
    "high_high": "win rates 0.8 and 0.9",
    "low_low": "win rates 0.1 and 0.2",
}
_RPS = {"basic": " against a fixed mixed strategy", "different_score": ", one move scores double"}
_SMARTPLAY_GAMES: tuple[tuple[str, str, str, int, Mapping[str, Json]], ...] = (
    *(
        (f"bandit_{name}", "bandit/arms", f"SmartPlay: two slot machines, {text}", 20, {"level": 2, "setting": name})
        for name, text in _ARMS.items()
    ),
    *(
        (f"rps_{name}", "rps/rounds", f"SmartPlay: Rock Paper Scissors{text}", 20, {"level": 1, "setting": name})
        for name, text in _RPS.items()
    ),
    ("hanoi_3", "hanoi/rods", "SmartPlay: the Tower of Hanoi, 3 disks", 10, {"level": 3, **_HANOI}),
    ("hanoi_4", "hanoi/rods", "SmartPlay: the Tower of Hanoi, 4 disks", 10, {"level": 4, **_HANOI}),
    ("messenger_l1", "messenger/roles", "SmartPlay: Messenger, without movement", 100, {"level": 1}),
    ("messenger_l2", "messenger/roles", "SmartPlay: Messenger, with movement", 100, {"level": 2}),
    ("messenger_l3", "messenger/roles", "SmartPlay: Messenger, with movement and decoys", 100, {"level": 3}),
    (
        "crafter",
        "crafter/survival",
        "SmartPlay: Crafter, survive and unlock achievements in an open world",
        10,
        {"level": 1},
    ),
    ("voxel_find", "voxel/find", "find a biome in a voxel world, after SmartPlay", 20, {}),
    *(
        (f"voxel_{goal.replace(' ', '_')}", "voxel/find", f"find {goal}, after SmartPlay's {name}", 20, {"goal": goal})
        for name, goal in PUBLISHED_GOALS.items()
    ),
    ("bandit", "bandit/arms", "any number of slot machines, optionally drifting", 20, {}),
    ("rps", "rps/rounds", "Rock Paper Scissors against adaptive opponents", 20, {}),
    ("hanoi", "hanoi/rods", "Tower of Hanoi from any position to any other", 10, {}),
    ("messenger", "messenger/roles", "Messenger on boards of any size, with more entities", 100, {}),
)
# The recorded settings of SmartPlay. The last one is on the human scale in Minecraft alone.
SMARTPLAY = ("bandit_high_low", "rps_basic", "hanoi_3", "messenger_l1", "messenger_l2", "crafter", "voxel_find")

_TRIALS_OPTION = replace(
    LIMIT, doc="Number of trials (items, or attempts if there is only one item); by default as published."
)
_SENTENCES_OPTION = Option(
    name="source",
    default="generated",
    choices=("generated", "published"),
    doc="Messenger's sentences: generated from the key, or published (see `waybench data fetch smartplay`).",
)


def _select_options(
    env: str, names: str, *replacements: Option, fixed: Iterable[str] = (), docs: Mapping[str, str] | None = None
) -> tuple[Option, ...]:
    """Return some parameters of an environment as those of a task.

    `names` and `fixed`, which the task sets itself, are as in `select_parameters`. `replacements` are options that
    replace the chosen ones of the same name, and `docs` has other documentation by name.
    """
    by_name = {option.name: option for option in replacements}
    options = select_parameters(registry.load(env), names, fixed)
    with_docs = (replace(option, doc=(docs or {}).get(option.name, option.doc)) for option in options)
    return tuple(by_name.get(option.name, option) for option in with_docs)


def _task(
    name: str, summary: str, parts: tuple[TaskPart, ...], options: Callable[[], tuple[Option, ...]], **settings: Any
) -> TaskEntry:
    """Return a task; it has the parameter `isomorph` if all its environments have isomorphic items."""

    def declare() -> tuple[Option, ...]:
        """Return the task's parameters; this loads the environments' code."""
        has_isomorphs = all(registry.load(part.env).items.isomorph is not None for part in parts)
        return (*options(), *((ISOMORPH,) if has_isomorphs else ()))

    return TaskEntry(name=name, summary=summary, declare=declare, parts=parts, **settings)


def _smartplay_game_task(name: str, env: str, summary: str, trials: int, fixed: Mapping[str, Json]) -> TaskEntry:
    """Return the task of one of SmartPlay's games: a published setting, or any if `fixed` has no level."""
    data_names = "source data_dir" if env == "messenger/roles" else ""  # only Messenger's sentences are published
    item_names = "" if "level" in fixed else "level *source"
    names = f"*play {data_names} {item_names} key limit attempts"

    def further_parameters(args: Mapping[str, Any]) -> Mapping[str, Json]:
        """Return the chosen engine's counterpart of a published goal."""
        return {"goal": counterpart_goal(str(fixed["goal"]), args["engine"])} if "goal" in fixed else {}

    part = TaskPart(env=env, fixed=fixed, further_parameters=further_parameters, trials=trials)
    return _task(
        name, summary, (part,), partial(_select_options, env, names, _TRIALS_OPTION, _SENTENCES_OPTION, fixed=fixed)
    )


def _smartplay_part(name: str, env: str, trials: int, fixed: Mapping[str, Json]) -> TaskPart:
    """Return a game as a part of the task "smartplay", whose parameters `source` and `data_dir` are Messenger's."""
    all_fixed = fixed if env == "messenger/roles" else {**fixed, "source": "generated", "data_dir": None}

    def further_parameters(args: Mapping[str, Any]) -> Mapping[str, Json]:
        """Return the steps of Crafter, and the level and goal of the recorded search."""
        if name == "voxel_find":
            return {"level": recorded_level(args["engine"], args["protocol"]), "goal": PLAINS[args["engine"]]}
        return {"steps": args["crafter_steps"]} if name == "crafter" else {}

    return TaskPart(
        env=env, fixed=all_fixed, further_parameters=further_parameters, trials=trials, item_id=f"{name}-{{index}}"
    )


def _smartplay_task() -> TaskEntry:
    """Return the task "smartplay", which plays all recorded settings."""
    by_name = {line[0]: line for line in _SMARTPLAY_GAMES}
    parts = tuple(
        _smartplay_part(name, env, trials, fixed) for name, env, _, trials, fixed in (by_name[n] for n in SMARTPLAY)
    )
    return _task("smartplay", f"SmartPlay: the recorded settings {', '.join(SMARTPLAY)}", parts, _smartplay_options)


def _smartplay_options() -> tuple[Option, ...]:
    """Return the parameters of the task "smartplay": those common to its games, and one each of Crafter and voxels."""
    [engine] = _select_options("voxel/find", "engine")
    return (
        *_select_options("bandit/arms", "protocol wording interface prefix think_tags agent"),  # which all games have
        Option(
            name="crafter_steps",
            effect=EASIER,
            default=None,
            kind=int,
            low=1,
            high=10_000,
            doc="Maximum steps of Crafter. The published 10,000 take 20,000 requests per trial, and a run without "
            "a limit (`--budget none`); with fewer steps there is no human-normalised score.",
        ),
        replace(engine, doc=f"Engine of the search for plains. {engine.doc}"),
        *_select_options(
            "messenger/roles",
            "source data_dir key limit attempts",
            _TRIALS_OPTION,
            _SENTENCES_OPTION,
            docs={"key": "Key of the item sets; by default the public sets."},
        ),
    )


_SEARCH_PARAMETERS = "*play mode {} icl source data_dir key sets limit attempts *source"


def _aqa_options() -> tuple[Option, ...]:
    """Return the parameters of the task "aqa": those of guessing numbers without the range, then those of graphs."""
    numbers = _select_options("search/guessnum", _SEARCH_PARAMETERS.format(""), fixed=("span",))
    return (*numbers, *_select_options("search/dfs", "*source"))


def _one_environment_task(name: str, env: str, summary: str, names: str) -> TaskEntry:
    """Return a task of one environment with some of its parameters, by their names."""
    return _task(name, summary, (TaskPart(env=env),), partial(_select_options, env, names))


_MAZES = 10  # of each dimension, as published


def _alicia_options() -> tuple[Option, ...]:
    """Return the parameters of the task "alicia", a ladder of dimensions."""
    return (
        *_select_options("maze/alicia", "*play key", docs={"key": "Key of the item set; by default the public set."}),
        replace(LIMIT, doc=f"Mazes per dimension; by default {_MAZES} generated mazes, or all mazes of a file."),
        Option(
            name="attempts",
            effect=EASIER,
            default=3,
            low=1,
            high=1000,
            doc="Maximum attempts per maze; a perfect attempt is the last.",
        ),
        Option(name="min_dimension", default=5, low=5, doc="First dimension."),
        Option(name="max_dimension", default=101, low=5, high=1001, doc="Last dimension; it limits the cost."),
        *_select_options("maze/alicia", "*source"),
        *_select_options(
            "maze/alicia",
            "source",
            docs={
                "source": "generated: mazes by key; or the path of a file of JSON lines with one maze each. The "
                "file's dimensions are played in their order, each only if the player solved a maze of the one before."
            },
        ),
    )


_WORLDS = 10  # of each level of Atlas
_QUICK_BUDGET = 200_000  # tokens; the parts take 196,000 even if all items fail
_QUICK_LEVEL = 8  # to which it goes on while that lasts
# The parts of "atlas_quick": condition, levels, items of each level.
_QUICK = (
    *((name, (3, 4, 6), 3) for name in ("plan", "map", "read", "recall", "act", "detour")),
    ("explore", (3, 4), 2),
)


def _atlas_options() -> tuple[Option, ...]:
    """Return the parameters of the task "atlas", a ladder of levels."""
    return (
        *_select_options("atlas/world", "*play key", fixed=(CONDITION,)),
        replace(LIMIT, doc=f"Worlds per level; by default {_WORLDS} generated worlds, or all worlds of a file."),
        *_select_options("atlas/world", "attempts"),
        Option(name="min_level", default=LADDER[0], low=LADDER[0], doc="First level."),
        Option(
            name="max_level",
            default=LADDER[-1],
            low=LADDER[0],
            doc=f"Last level, of {', '.join(map(str, LADDER))}.",
        ),
        *_select_options("atlas/world", "*source source"),
    )


def _atlas_part(condition: str, **fixed: Json) -> TaskPart:
    """Return a part of Atlas with one condition."""
    return TaskPart(env="atlas/world", fixed={CONDITION: condition, **fixed}, item_id=f"{condition}-{{id}}")


def _atlas_quick_part(condition: str, level: int, limit: int) -> TaskPart:
    """Return a part of the task "atlas_quick": some items of one condition and level."""
    return _atlas_part(condition, level=level, limit=limit, source="generated", places=None)


PRESETS = (
    _task(
        "atlas",
        "one world met in eight ways, each longer and longer until the player fails: where it loses its way",
        tuple(map(_atlas_part, MAIN_CONDITIONS)),
        _atlas_options,
        climb=Climb(
            "min_level",
            "max_level",
            _WORLDS,
            lambda first, last: [level for level in LADDER if first <= level <= last],
        ),
    ),
    _task(
        "atlas_quick",
        "Atlas as a sketch: seven conditions at short routes, in about 200k tokens",
        tuple(_atlas_quick_part(name, level, limit) for name, levels, limit in _QUICK for level in levels),
        partial(_select_options, "atlas/world", "*play key attempts", fixed=(CONDITION,)),
        further=tuple(_atlas_quick_part(name, _QUICK_LEVEL, limit) for name, levels, limit in _QUICK if 6 in levels),
        budget=_QUICK_BUDGET,
    ),
    _task(
        "alicia",
        "AliciaBench: ten mazes per dimension, three attempts each, dimensions 5, 7, 9, ... until the player fails",
        (TaskPart(env="maze/alicia"),),
        _alicia_options,
        climb=Climb("min_dimension", "max_dimension", _MAZES, lambda first, last: range(first, last + 1, 2)),
    ),
    _task(
        "aqa",
        "AQA-Bench: all six environments",
        tuple(TaskPart(env=f"search/{name}", item_id=f"{name}-{{id}}") for name in _AQA),
        _aqa_options,
    ),
    *(
        _one_environment_task(name, f"search/{name}", summary, _SEARCH_PARAMETERS.format("level"))
        for name, summary in _AQA.items()
    ),
    *(
        _one_environment_task(
            name,
            f"textmap/{env}",
            summary,
            "*play source data_dir games key level worlds limit prefix_steps "
            f"{'prefix_tokens tokenizer' if env in ('route', 'destination') else ''} attempts *source",
        )
        for name, env, summary in _MANGO
    ),
    _smartplay_task(),
    *(_smartplay_game_task(*line) for line in _SMARTPLAY_GAMES),
    *(
        _one_environment_task(
            name, f"tilemap/{env}", summary, "*play source data_dir skip key level limit attempts *source icl"
        )
        for name, env, summary in _GTB
    ),
)

_ARXIV = {
    **{"search": "2402.09404", "textmap": "2403.19913", "tilemap": "2410.07765"},
    **{part.env.partition("/")[0]: "2310.01557" for part in _smartplay_task().parts},
}


def paper_of_task(entry: TaskEntry) -> str:
    """Return the arXiv id of the paper whose environments a task plays, as arXiv:NUMBER; "" if none or several."""
    numbers = {_ARXIV.get(env_id.partition("/")[0], "") for env_id in entry.envs}
    return f"arXiv:{number}" if len(numbers) == 1 and (number := numbers.pop()) else ""


_CATALOGUE = {"maze": "aliciabench", "search": "aqabench", "textmap": "mango", "tilemap": "gametraversalbenchmark"}


def catalogue_function(entry: TaskEntry) -> tuple[str, dict[str, Json]] | None:
    """Return the file in `tasks.catalogue` whose function is the task, and its arguments; None for other tasks."""
    if entry not in PRESETS or not (entry.name == "alicia" or paper_of_task(entry)):
        return None
    function = _CATALOGUE.get(entry.envs[0].partition("/")[0], "smartplay")
    return function, ({} if function == "aliciabench" else {"game": entry.name})


# The tasks of `waybench demo`: small enough for a minute, large enough that means and most families have intervals.
DEMO: Mapping[str, dict[str, Json]] = {
    # The longest comes first. In "paper" an empty reply counts as the first action.
    "smartplay": {"limit": 4, "protocol": "sound", "wording": "one_question", "crafter_steps": 10},
    "alicia": {"max_dimension": 9},
    "aqa": {"limit": 5},
    # In "paper" a player that says nothing has no success at all, and so no number.
    "mango_destination": {"level": 2, "worlds": 6, "limit": 2, "protocol": "sound"},
    "mango_route": {"level": 2, "worlds": 6, "limit": 2, "protocol": "sound"},
    "gtb": {"limit": 6},
}
# What a language model on this machine plays in it: a few single replies, since each takes seconds, and no fewer than
# normalised scores need.
DEMO_MODEL: Mapping[str, dict[str, Json]] = {
    "alicia": {"max_dimension": 5, "requests": 1, "attempts": 1, "limit": 5},
    "mango_destination": {**DEMO["mango_destination"], "worlds": 3},  # of the same items
}
# Its search for horizons that are known: one plan is all that the players have.
DEMO_HORIZON: tuple[str, dict[str, Json]] = (
    "horizon_maze",
    {"requests": 1, "hardest": 41, "precision": 0.3, "batch": 10},
)
