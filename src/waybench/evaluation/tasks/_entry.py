"""Task entries and their parameters, from the declarations of environments; shards of a task, and its key."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar, cast

from waybench.core import (
    AGENT,
    DIFFICULTY_INDEX,
    NOTHING,
    OPTION_AXES,
    PROBE,
    SHARD,
    Environment,
    HorizonSpec,
    ItemIndex,
    Json,
    Option,
    UsageError,
    WaybenchError,
    is_public_key,
    read_json_file,
    read_key,
    resolve,
    user_path,
)
from waybench.core._items import MOST_ISOMORPHS
from waybench.core._secrets import key_for_log
from waybench.envs import registry

KEY = "key"
GENERATED_ITEMS = 20  # of a default task, where the user does not say how many
_LARGEST_FILE = 1 << 28  # bytes
_SUMMARY_INDICES = "item_difficulty"  # the difficulty indices in summary.json of a report, one for each setting
SHARD_OPTION = Option(
    name=SHARD,
    default=None,
    kind=str,
    doc="A range of the items, as 2/8 for the second of eight, so that several jobs can share them; by default all "
    "items. It is no setting: results of all shards are those of one run.",
)
T = TypeVar("T")
_SHARD_FORM = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


def parse_shard(text: str) -> tuple[int, int]:
    """Return number and count of a shard: (2, 8) for "2/8"."""
    match = _SHARD_FORM.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"shard={text[:40]!r}: write it as 2/8, the second of eight shards")
    return int(match[1]), int(match[2])


def items_of_shard(items: Iterable[T], shard: str | None) -> Iterable[T]:
    """Return the items of a shard such as "2/8", or all if None; shards are of equal length, give or take one."""
    if shard is None:
        return items
    number, count = parse_shard(shard)
    all_items = list(items)
    if count > len(all_items):
        raise UsageError(f"shard={shard}: there are only {len(all_items):,} items; use fewer shards")
    return islice(all_items, len(all_items) * (number - 1) // count, len(all_items) * number // count)


def missing_shards_text(shard: str, present_shards: Iterable[str]) -> str:
    """Return which shards of a set, such as that of "2/8", are not present, as text; "" if all are.

    Raises:
        UsageError: If the shard has another form.
    """
    _, count = parse_shard(shard)
    matches = map(_SHARD_FORM.fullmatch, present_shards)
    present_numbers = {int(match[1]) for match in matches if match and int(match[2]) == count}
    missing = [number for number in range(1, count + 1) if number not in present_numbers]
    numbers = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
    return f"of {count:,} shards, these are missing: {numbers}" if missing else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPart:
    """One environment of a task, with the parameters that the task fixes.

    Attributes:
        fixed: Fixed values of its parameters.
        further_parameters: Function from the task's parameters to further parameters of the environment.
        trials: Number of episodes if the user gives no `limit`; None for the environment's own number.
        item_id: Format of an item's id in the task, with the fields "id" and "index" of the item.
    """

    env: str
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    further_parameters: Callable[[Mapping[str, Any]], Mapping[str, Json]] = lambda args: NOTHING
    trials: int | None = None
    item_id: str = "{id}"


@dataclass(frozen=True, slots=True)
class Climb:
    """The levels of a ladder; `waybench.evaluation._ladders.Ladder` says when the next level follows.

    Attributes:
        first: Name of the parameter that has the first level.
        last: Name of the parameter that has the last level.
        items: Number of generated items per level if `limit` is not given.
        levels_from_to: (first level, last level) -> all levels of the ladder from the first to the last.
    """

    first: str
    last: str
    items: int
    levels_from_to: Callable[[int, int], Sequence[int]]

    def levels(self, args: Mapping[str, Any]) -> Sequence[int]:
        """Return the levels of a ladder for a task's parameters; raise a UsageError if there are none."""
        first_level, last_level = args[self.first], args[self.last]
        levels = self.levels_from_to(first_level, last_level)
        if not levels:
            raise UsageError(
                f"{self.first}={first_level} is above {self.last}={last_level}, or no level lies between them"
            )
        return levels


@dataclass(frozen=True, kw_only=True)
class TaskEntry:
    """A task: its name, its parameters, and the environments that it plays, whose code is loaded for its parameters.

    Attributes:
        name: Name on the command line.
        summary: One line for listings.
        climb: The levels of a ladder; each part is climbed by itself.
        searches: Whether it searches for the horizon of its one environment.
        further: Parts that follow, one after another, while what they take at most is within the budget.
        budget: Tokens of a model, input and output, within which `further` follows.
    """

    name: str
    summary: str
    declare: Callable[[], tuple[Option, ...]]
    parts: tuple[TaskPart, ...]
    climb: Climb | None = None
    searches: bool = False
    further: tuple[TaskPart, ...] = ()
    budget: int = 0

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its parameters, and the shard unless results decide what is played."""
        return self.declare() if self.is_adaptive else (*self.declare(), SHARD_OPTION)

    def resolve(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return all of the task's parameters: checked values, and defaults.

        Raises:
            UsageError: For an unknown parameter or an unfit value.
        """
        return resolve(self.options, args, f"parameter of {self.name}")

    @property
    def is_adaptive(self) -> bool:
        """Whether results decide which items follow, as in ladders, in searches and within a budget."""
        return self.climb is not None or self.searches or bool(self.further)

    @property
    def horizon(self) -> HorizonSpec | None:
        """The levels of a search for a horizon; None for other tasks."""
        return registry.load(self.parts[0].env).difficulty.horizon if self.searches else None

    @property
    def envs(self) -> tuple[str, ...]:
        """Ids of its environments, each once."""
        return tuple(dict.fromkeys(part.env for part in self.parts))


def resolve_key(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters in which a key's reference ("env:NAME", "file:PATH") is replaced by the key.

    Raises:
        UsageError: If the key cannot be read.
    """
    return {**args, KEY: read_key(args[KEY])} if args.get(KEY) is not None else dict(args)


def replace_private_key_by_label(parameters: dict[str, Any], entry: TaskEntry) -> None:
    """Replace a private key in a task's parameters by its label for logs, in place."""
    key = parameters.get(KEY)
    if key is not None and not any(is_public_key(str(key), registry.load(env).items.public_key) for env in entry.envs):
        parameters[KEY] = key_for_log(str(key))


ISOMORPH = Option(
    name="isomorph",
    default=0,
    low=0,
    high=MOST_ISOMORPHS,
    doc="Number of an isomorphic set: the same items in another appearance (mirrored, renamed, shifted), to tell "
    "memory from skill; by default 0, the items themselves.",
)
LIMIT = Option(
    name="limit",
    default=None,
    kind=int,
    low=1,
    high=1_000_000,
    doc=f"Number of items; by default {GENERATED_ITEMS} generated items, or all items of a file.",
)
PLAY, SOURCE = "*play", "*source"  # in a preset's list of names: all other options of play, all other source options
AGENT_OPTION = Option(
    name=AGENT,
    default=None,
    kind=str,
    doc="The agent or solver of Inspect that works out each reply, as NAME[:arg=value,...], such as react; by default "
    "the model itself.",
)
PROBE_OPTION = Option(
    name=PROBE,
    default=None,
    kind=str,
    doc="Before which turns belief probes ask the model what it knows of the state: every:N, or numbers of turns as "
    "in 1,5,10; by default never. They change nothing in the episode.",
)
_DIFFICULTY = "difficulty"
CONTEXT_AXIS = "context_length"
AXIS = Option(
    name="axis",
    default=_DIFFICULTY,
    choices=(_DIFFICULTY, *OPTION_AXES),
    doc="What the search varies: difficulty, the level of the items; steps_left, how many of the oracle's last steps "
    "are left to the model (prefix=oracle:-N); or random_steps, after how many random steps it has to recover "
    "(prefix=oracle:K+random:N); or context_length, in how long a prompt it still does the item that is asked "
    "(context_tokens). The latter three play items of one level.",
)
INDEX = Option(
    name=DIFFICULTY_INDEX,
    default=None,
    kind=str,
    local=True,
    doc="summary.json of a report whose difficulty index tells how hard single items are (item_difficulty), or that "
    "index itself as JSON; by default items of one level count as equally hard.",
)
LEVEL = Option(
    name="level", default=None, kind=int, low=1, doc="Level of all items, for the other axes than difficulty."
)
LONGEST = Option(
    name="longest_context",
    default=1024,
    low=1,
    high=2000,
    doc=f"For axis={CONTEXT_AXIS}: the longest prompt, in thousands of tokens.",
)
FIRST_STEPS = Option(
    name="first_steps",
    default=2,
    low=0,
    high=1000,
    doc="For axis=random_steps: the oracle's steps before the random ones.",
)


def environment_parameters(environment: Environment[Any, Any, Any]) -> dict[str, Option]:
    """Return all parameters of an environment's default task, by name.

    In order: options of play, options of data sets, general ones (key, level, limit, attempts), source options,
    `isomorph`.
    """
    datasets = environment.all_datasets
    # Reversed, so that the first data set's option stays where several have one of the same name.
    reversed_options = {option.name: option for dataset in reversed(datasets) for option in reversed(dataset.options)}
    general = {option.name: option for option in _general_options(environment)}
    source = reversed_options.pop("source", general.pop("source"))
    of_datasets = {"source": source} | dict(reversed(reversed_options.items()))
    hidden_names = {name for dataset in datasets for name in dataset.hidden}
    of_items = {option.name: option for option in environment.items.options if option.name not in hidden_names}
    return {
        **{option.name: option for option in _all_play_options(environment)},
        **of_datasets,
        **{name: option for name, option in (general | of_items).items() if name not in of_datasets},
        **({ISOMORPH.name: ISOMORPH} if environment.items.isomorph is not None else {}),
    }


def select_parameters(
    environment: Environment[Any, Any, Any], names: str, fixed: Iterable[str] = ()
) -> tuple[Option, ...]:
    """Return an environment's parameters by names, which blanks separate.

    `PLAY` and `SOURCE` stand for all other options of play and of items that are not in `fixed`.
    """
    by_name = environment_parameters(environment)
    options_by_placeholder = {PLAY: _all_play_options(environment), SOURCE: environment.items.options}
    given_names = names.split()
    chosen: list[Option] = []
    for name in given_names:
        if name in options_by_placeholder:
            other_names = [option.name for option in options_by_placeholder[name]]
            # Options of items that a data set hides are no parameters.
            chosen += [by_name[o] for o in other_names if o not in {*given_names, *fixed} and o in by_name]
        else:
            chosen.append(by_name[name])
    return tuple(chosen)


def _all_play_options(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    """Return options of play, agent and belief probes."""
    return (*environment.play_options, AGENT_OPTION, *_probe_options(environment))


def _probe_options(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    """Return the option of belief probes, if the environment has any."""
    return (PROBE_OPTION,) if environment.probes else ()


def _general_options(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    """Return the parameters of tasks of any environment, with this environment's defaults and help."""
    datasets, smallest_level = environment.all_datasets, environment.items.smallest_level
    level_doc = "Level of difficulty; see the environment's documentation."
    docs = [dataset.doc if dataset.name == "file" else f"{dataset.name}: {dataset.doc}" for dataset in datasets]
    return (
        Option(name="source", default="generated", doc=f"{'; '.join(docs[:-1])}; or {docs[-1]}."),
        Option(
            name="level",
            default=smallest_level,
            low=smallest_level,
            high=environment.items.highest_level,
            doc=level_doc,
        ),
        Option(name="key", default=None, kind=str, doc="Key of the item set; by default the public set."),
        LIMIT,
        Option(name="attempts", default=1, low=1, high=1000, doc="Attempts per item."),
    )


def horizon_parameters(environment: Environment[Any, Any, Any], spec: HorizonSpec) -> tuple[Option, ...]:
    """Return the parameters of an environment's horizon task."""
    return (
        *horizon_play_options(environment, spec),
        AGENT_OPTION,
        *_probe_options(environment),
        AXIS,
        LEVEL,
        FIRST_STEPS,
        *((LONGEST,) if environment.playing.takes_context else ()),
        Option(
            name="precision",
            default=0.1,
            low=0.02,
            high=1.0,
            doc="Relative half-width of the horizon's interval at which the search stops.",
        ),
        Option(name="share", default=0.5, low=0.05, high=0.95, doc="Success rate at the horizon."),
        Option(
            name="budget",
            default=None,
            kind=str,
            doc="Maximum cost: 200k (tokens), or 5USD.",
        ),
        Option(
            name="prices",
            default=None,
            kind=str,
            doc="JSON file with token prices (see `waybench prices`); list prices by default.",
        ),
        Option(name="most", default=200, low=1, high=100_000, doc="Maximum number of episodes."),
        Option(
            name="batch",
            default=4,
            low=1,
            high=1000,
            doc="Episodes per round; the next round depends on their results.",
        ),
        Option(name="key", default=None, kind=str, doc="Key of the item sets; by default the public sets."),
        *((INDEX,) if environment.difficulty.item_variables and environment.difficulty.axes else ()),
        Option(name="easiest", default=spec.levels[0], low=1, doc="Easiest level to try."),
        Option(name="hardest", default=spec.levels[-1], low=1, doc="Hardest level to try."),
        *(option for option in environment.items.options if option.name not in spec.source_options),
    )


def horizon_play_options(environment: Environment[Any, Any, Any], spec: HorizonSpec) -> tuple[Option, ...]:
    """Return the options of play of an environment's horizon task, whose default protocol is "sound"."""
    return tuple(
        replace(option, default="sound") if option.name == "protocol" and "sound" in option.choices else option
        for option in environment.play_options
        if option.name not in spec.without
    )


def read_difficulty_index(value: str, environment: Environment[Any, Any, Any]) -> ItemIndex:
    """Return the difficulty index of an environment from a report's summary.json, or from JSON text as in logs.

    Raises:
        UsageError: If there is none, or several for different settings.
    """
    try:
        if value.startswith("{"):
            terms: Any = json.loads(value)
        else:
            summary = read_json_file(user_path(value), _LARGEST_FILE, "summary.json of a report")
            terms = _index_in_summary(summary, environment.id)
        return ItemIndex.read(terms, (variable.name for variable in environment.difficulty.item_variables))
    except WaybenchError as error:
        problem = str(error)
    except (ValueError, RecursionError) as error:
        problem = f"give summary.json of a report ({error})"
    raise UsageError(f"{DIFFICULTY_INDEX}={value[:200]}: {problem}")


def _index_in_summary(summary: object, env_id: str) -> object:
    """Return the one difficulty index of an environment in a report's summary.

    Raises:
        UsageError: If there is none, or several for different settings.
    """
    rows = cast(dict[str, Any], summary).get(_SUMMARY_INDICES) if isinstance(summary, dict) else None
    entries = cast(list[Any], rows) if isinstance(rows, list) else []
    objects = [cast(dict[str, Any], row) for row in entries if isinstance(row, dict)]
    rows_of_env = [row for row in objects if row.get("env") == env_id]
    indices = [row["index"] for row in rows_of_env if row.get("index")]
    if len(indices) == 1:
        return indices[0]
    reason = ""
    if indices:
        reason = f": it has {len(indices)} for different settings"
    elif rows_of_env:
        reason = f": {rows_of_env[0].get('why')}"  # why the report has no index; one setting's reason is enough
    raise UsageError(f"no difficulty index of {env_id}{reason}")
