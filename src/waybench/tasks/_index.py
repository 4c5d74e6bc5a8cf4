"""The names and parameters of the tasks, without the evaluation engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from waybench.core import Environment, Option
from waybench.envs.bandit import ARMS
from waybench.envs.crafter import SURVIVAL
from waybench.envs.hanoi import RODS
from waybench.envs.maze import ALICIA
from waybench.envs.messenger import ROLES
from waybench.envs.rps import ROUNDS
from waybench.envs.search import DFS, GUESSNUM
from waybench.envs.textmap import DESTINATION, EXTRACT, MINIGAME, ROUTE
from waybench.envs.tilemap import GTB, STATE, STEPWISE
from waybench.envs.voxel import FIND
from waybench.tasks._entry import TaskEntry
from waybench.tasks._scales import SEARCHES

ALICIA_OPTIONS = (
    *ALICIA.options,
    Option(name="key", default=None, kind=str, doc="The set's key; the public set if not given."),
    Option(name="limit", default=10, low=1, doc="Mazes of each dimension."),
    Option(name="attempts", default=3, low=1, doc="Most attempts at a maze; a perfect one ends them."),
    Option(name="min_dimension", default=5, low=5, doc="The first dimension."),
    Option(name="max_dimension", default=101, low=5, high=1001, doc="The last dimension, a cap on cost."),
    *ALICIA.source_options,
)

_SOURCE = (
    "generated: {what} by key; published: the benchmark's own, see `waybench data fetch {name}`; or a file's path."
)

SEARCH = ("guessnum", "coin", "dfs", "cavedfs", "bfs", "cavebfs")
_NUMBER, _WALK = GUESSNUM.source_options, DFS.source_options
_LEVEL = Option(name="level", default=None, kind=int, low=1, doc="The level of generated cases; mode's if not given.")


def _search_options(*drawn: Option, level: bool = True) -> tuple[Option, ...]:
    return (
        *DFS.options,
        Option(
            name="mode",
            default="easy",
            choices=("easy", "hard"),
            doc="EASY: 32 to 32800, 8 nodes (depth first), 15 (breadth first); HARD: 32 to 33554464, 13 and 25 nodes.",
        ),
        *([_LEVEL] if level else []),
        Option(name="icl", default=0, low=0, high=100, doc="Number of in-context examples."),
        Option(name="source", default="generated", doc=_SOURCE.format(what="cases", name="aqa")),
        Option(
            name="data_dir", default=None, kind=str, doc="Folder with aqa/dfs_0.json and so on, for published cases."
        ),
        Option(name="key", default=None, kind=str, doc="The key of generated cases; the public set if not given."),
        Option(name="sets", default=1, low=1, high=100, doc="Number of generated sets, for the spread over sets."),
        Option(
            name="limit",
            default=None,
            kind=int,
            low=1,
            doc="Cases of each set; if not given, 400 in EASY and 1500 in HARD mode, as published.",
        ),
        Option(name="attempts", default=1, low=1, high=1000, doc="Attempts at each case."),
        *drawn,
    )


def _tilemap_options(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    return (
        *environment.options,
        Option(name="source", default="generated", doc=_SOURCE.format(what="maps", name="gtb")),
        Option(
            name="data_dir", default=None, kind=str, doc="Folder with gtb/traversal_benchmark.json, for published maps."
        ),
        Option(
            name="skip",
            default=0,
            low=0,
            high=10**6,
            doc="Maps of a file that are left out at its beginning; the published program leaves out 2 of its 151.",
        ),
        Option(name="key", default=None, kind=str, doc="The key of generated maps; the public set if not given."),
        Option(name="level", default=None, kind=int, low=1, high=9, doc="The level of generated maps; 3 if not given."),
        Option(
            name="limit",
            default=None,
            kind=int,
            low=1,
            doc="Number of maps; if not given, 150 generated ones, or all of a file.",
        ),
        Option(
            name="attempts", default=1, low=1, high=1000, doc="Attempts at each map (repeats of the whole benchmark)."
        ),
        *environment.source_options,
    )


MANGO = {
    "mango_route": "textmap/route",
    "mango_destination": "textmap/destination",
    "mango_minigames": "textmap/minigame",
    "mango_extract": "textmap/extract",
}
MANGO_WORLDS = 30  # generated ones, if their number is not given


_TOKENS = (
    Option(
        name="prefix_tokens",
        default=None,
        kind=int,
        low=50,
        high=100_000_000,
        doc="Most tokens of the walkthrough that are shown; published: 3600.",
    ),
    Option(
        name="tokenizer",
        default="characters",
        doc="What counts the tokens: characters (four for a token, an estimate), tiktoken/ENCODING, or the path of a "
        "tokenizer.json.",
    ),
)


def _textmap_options(
    environment: Environment[Any, Any, Any], limit: tuple[int, str], *more: Option
) -> tuple[Option, ...]:
    of_worlds = [option for option in environment.source_options if option.name not in ("questions", "prefix_steps")]
    return (
        *environment.options,
        Option(
            name="source",
            default="generated",
            doc="generated: text games by key; published: the benchmark's own, see `waybench data fetch mango`; or a "
            "folder with maps, as `waybench textmap build` writes them.",
        ),
        Option(name="data_dir", default=None, kind=str, doc="Folder with mango/zork1 and so on, for published maps."),
        Option(
            name="games",
            default=None,
            kind=str,
            doc="Names of published games or of maps in a folder, separated by commas; all if not given.",
        ),
        Option(name="key", default=None, kind=str, doc="The key of generated worlds; the public set if not given."),
        Option(
            name="level",
            default=None,
            kind=int,
            low=1,
            high=7,
            doc="The size class of generated worlds; 3 if not given, 16 to 31 places.",
        ),
        Option(
            name="worlds",
            default=None,
            kind=int,
            low=1,
            high=100_000,
            doc=f"Number of generated worlds; {MANGO_WORLDS} if not given.",
        ),
        Option(name="limit", default=limit[0], low=1, high=10_000_000, doc=limit[1]),
        Option(
            name="prefix_steps",
            default=None,
            kind=int,
            low=1,
            high=5_000,
            doc="Steps of the walkthrough that are shown; if not given, 70 of a published game, otherwise all.",
        ),
        *more,
        Option(name="attempts", default=1, low=1, high=1000, doc="Attempts at each item."),
        *of_worlds,
    )


_ASKED = (10, "Questions about each game or world, easy and hard ones in turn; all if there are fewer.")
_PREDICTED = (10, "Moves of each walkthrough that are predicted; all if there are fewer.")
_SEARCHED = (4, "Questions for routes, and as many for destinations, that the graph of each walkthrough is asked.")


TILEMAPS = {"gtb": "tilemap/gtb", "gtb_stepwise": "tilemap/stepwise", "gtb_state": "tilemap/state"}


@dataclass(frozen=True, slots=True)
class Small:
    """A setting of one of the small games.

    Attributes:
        environment: The game.
        summary: One line for listings.
        trials: Episodes, as published (Table 1 of SmartPlay).
        level: The level; None if the user gives it.
        style: Source options that are fixed; those that are not are the user's.
    """

    environment: Environment[Any, Any, Any]
    summary: str
    trials: int
    level: int | None = None
    style: Mapping[str, str] = field(default_factory=dict[str, str])


def _two_arms(setting: str, told: str) -> Small:
    return Small(ARMS, f"SmartPlay: two slot machines, {told}", 20, 2, {"setting": setting})


def _rounds(setting: str, told: str) -> Small:
    return Small(ROUNDS, f"SmartPlay: rock, paper, scissors, {told}", 20, 1, {"setting": setting})


SMALL = {
    "bandit_deterministic": _two_arms("deterministic", "one of which always pays"),
    "bandit_high_low": _two_arms("high_low", "paying with 0.8 and 0.2"),
    "bandit_high_high": _two_arms("high_high", "paying with 0.8 and 0.9"),
    "bandit_low_low": _two_arms("low_low", "paying with 0.1 and 0.2"),
    "rps_basic": _rounds("basic", "against a fixed mixture"),
    "rps_different_score": _rounds("different_score", "one of which scores double"),
    "hanoi_3": Small(RODS, "SmartPlay: the Tower of Hanoi, 3 disks", 10, 3, {"positions": "published"}),
    "hanoi_4": Small(RODS, "SmartPlay: the Tower of Hanoi, 4 disks", 10, 4, {"positions": "published"}),
    "messenger_l1": Small(ROLES, "SmartPlay: Messenger, nothing moves", 100, 1),
    "messenger_l2": Small(ROLES, "SmartPlay: Messenger, with movement", 100, 2),
    "messenger_l3": Small(ROLES, "SmartPlay: Messenger, with movement and decoys", 100, 3),
    "crafter": Small(SURVIVAL, "SmartPlay: Crafter, surviving and making things in an open world", 10, 1),
    "voxel_find": Small(FIND, "after SmartPlay: find a biome in a world of blocks", 20),
    "bandit": Small(ARMS, "slot machines of any number, drifting if wanted", 20),
    "rps": Small(ROUNDS, "rock, paper, scissors against opponents that adapt", 20),
    "hanoi": Small(RODS, "the Tower of Hanoi from any position to any other", 10),
    "messenger": Small(ROLES, "Messenger on boards of any size, with further entities", 100),
}
SMARTPLAY = ("bandit_high_low", "rps_basic", "hanoi_3", "messenger_l1", "messenger_l2", "crafter", "voxel_find")
"""The recorded settings of SmartPlay. The last one is on the human scale in Minecraft alone."""

_TRIALS = Option(
    name="limit",
    default=None,
    kind=int,
    low=1,
    high=1_000_000,
    doc="Trials: items, or attempts where there is one item only; as published if not given.",
)
_ATTEMPTS = Option(name="attempts", default=1, low=1, high=1000, doc="Attempts at each item.")
_SENTENCES = (
    Option(
        name="source",
        default="generated",
        choices=("generated", "published"),
        doc="Messenger's sentences: our own by key, or the published ones; see `waybench data fetch smartplay`.",
    ),
    Option(
        name="data_dir",
        default=None,
        kind=str,
        doc="Folder with smartplay/text_test.json and so on, for published sentences.",
    ),
)


def _small_options(small: Small) -> tuple[Option, ...]:
    drawn = () if small.level else (_level_of(small), *small.environment.source_options)
    return (
        *small.environment.options,
        *(_SENTENCES if small.environment is ROLES else ()),
        *drawn,
        Option(name="key", default=None, kind=str, doc="The key of the items; the public set if not given."),
        _TRIALS,
        _ATTEMPTS,
    )


def _level_of(small: Small) -> Option:
    least = small.environment.smallest_level
    return Option(name="level", default=least, low=least, doc="The level; see `waybench list` for what it is.")


_SMARTPLAY_OPTIONS = (
    *(option for option in ARMS.options if option.name in ("protocol", "wording")),
    Option(
        name="crafter_steps",
        default=None,
        kind=int,
        low=1,
        high=10_000,
        doc="Most steps of Crafter; the published 10,000 take 20,000 requests a trial, and fewer have no human scale.",
    ),
    *(
        replace(option, doc=f"Where the biome, plains, is to be found. {option.doc}")
        for option in FIND.source_options
        if option.name == "engine"
    ),
    *_SENTENCES,
    Option(name="key", default=None, kind=str, doc="The key of the items; the public sets if not given."),
    _TRIALS,
    _ATTEMPTS,
)


_SUMMARIES = {
    "guessnum": "AQA-Bench: guess a number by bigger and smaller",
    "coin": "AQA-Bench: the same as coins in a chest",
    "dfs": "AQA-Bench: visit all nodes of an unknown tree, depth first",
    "cavedfs": "AQA-Bench: the same as caves that one walks through",
    "bfs": "AQA-Bench: visit all nodes of an unknown tree, breadth first",
    "cavebfs": "AQA-Bench: the same as caves that a team explores",
}

TASKS = (
    TaskEntry(
        "alicia",
        ("maze/alicia",),
        "AliciaBench: ten mazes a dimension, three attempts each, dimensions 5, 7, 9, ... as far as the player gets",
        ALICIA_OPTIONS,
        "waybench.tasks._alicia:alicia",
    ),
    TaskEntry(
        "aqa",
        tuple(f"search/{name}" for name in SEARCH),
        "AQA-Bench: all six environments",
        _search_options(*(option for option in _NUMBER if option.name != "span"), *_WALK, level=False),
        "waybench.tasks._search:aqa",
    ),
    *(
        TaskEntry(
            name,
            (f"search/{name}",),
            summary,
            _search_options(*(_NUMBER if name in ("guessnum", "coin") else _WALK)),
            f"waybench.tasks._search:{name}",
        )
        for name, summary in _SUMMARIES.items()
    ),
    *(
        TaskEntry(name, (environment.id,), summary, options, f"waybench.tasks._mango:{name}")
        for name, environment, summary, options in (
            (
                "mango_destination",
                DESTINATION,
                "MANGO: where do these moves lead? asked about a game's walkthrough",
                _textmap_options(DESTINATION, _ASKED, *_TOKENS),
            ),
            (
                "mango_route",
                ROUTE,
                "MANGO: how does one get from here to there? likewise",
                _textmap_options(ROUTE, _ASKED, *_TOKENS),
            ),
            (
                "mango_minigames",
                MINIGAME,
                "MANGO: which move does the walkthrough make next?",
                _textmap_options(MINIGAME, _PREDICTED),
            ),
            (
                "mango_extract",
                EXTRACT,
                "MANGO: the walkthrough as triplets, and a search in the graph that they make",
                _textmap_options(EXTRACT, _SEARCHED),
            ),
        )
    ),
    TaskEntry(
        "smartplay",
        tuple(dict.fromkeys(SMALL[name].environment.id for name in SMARTPLAY)),
        f"SmartPlay: the recorded settings {', '.join(SMARTPLAY)}",
        _SMARTPLAY_OPTIONS,
        "waybench.tasks._smartplay:smartplay",
    ),
    *(
        TaskEntry(
            name, (small.environment.id,), small.summary, _small_options(small), f"waybench.tasks._smartplay:{name}"
        )
        for name, small in SMALL.items()
    ),
    *(
        TaskEntry(name, (environment.id,), summary, _tilemap_options(environment), f"waybench.tasks._gtb:{name}")
        for name, environment, summary in (
            ("gtb", GTB, "GameTraversalBenchmark: plan the way over a tile map, objective by objective"),
            ("gtb_stepwise", STEPWISE, "the same maps, one move at a time"),
            ("gtb_state", STATE, "the same maps with a prediction of the map after each plan"),
        )
    ),
    *SEARCHES,
)
