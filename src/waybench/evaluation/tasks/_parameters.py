"""The parameters of tasks, from the declarations of environments, and the difficulty index of a search."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from waybench.core import (
    AGENT,
    DIFFICULTY_INDEX,
    MOST_ISOMORPHS,
    OPTION_AXES,
    PROBE,
    Environment,
    HorizonSpec,
    ItemIndex,
    Option,
    UsageError,
    WaybenchError,
    read_json,
    user_path,
)

GENERATED_ITEMS = 20  # of a default task, where the user does not say how many
ISOMORPH = Option(
    name="isomorph",
    default=None,
    kind=int,
    low=1,
    high=MOST_ISOMORPHS,
    doc="Number of an isomorphic set: the same items in another appearance (mirrored, renamed, shifted), to tell "
    "memory from skill; by default the items themselves.",
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


def parameters(environment: Environment[Any, Any, Any]) -> dict[str, Option]:
    """Return all parameters of an environment's default task, by name.

    In order: options of play, options of data sets, general ones (key, level, limit, attempts), source options,
    `isomorph`.
    """
    datasets = environment.all_datasets
    own = {option.name: option for each in reversed(datasets) for option in reversed(each.options)}
    hidden = {name for each in datasets for name in each.hidden}
    general = {option.name: option for option in _general(environment)}
    drawn = {option.name: option for option in environment.items.options if option.name not in hidden}
    played = {option.name: option for option in _played(environment)}
    source = own.pop("source", general.pop("source"))
    ordered = {"source": source} | dict(reversed(own.items()))
    isomorph = {ISOMORPH.name: ISOMORPH} if environment.items.isomorph is not None else {}
    return {**played, **ordered, **{k: v for k, v in {**general, **drawn}.items() if k not in ordered}, **isomorph}


def select_parameters(
    environment: Environment[Any, Any, Any], names: str, fixed: Iterable[str] = ()
) -> tuple[Option, ...]:
    """Return some parameters of an environment.

    Args:
        environment: The environment.
        names: Names in order, separated by spaces; `PLAY` and `SOURCE` stand for the rest of a kind.
        fixed: Names that `PLAY` and `SOURCE` leave out.
    """
    known = parameters(environment)
    kinds = {PLAY: _played(environment), SOURCE: environment.items.options}
    listed = names.split()
    found: list[Option] = []
    for name in listed:
        if name in kinds:
            left = (option.name for option in kinds[name] if option.name not in {*listed, *fixed})
            found += [known[each] for each in left if each in known]
        else:
            found.append(known[name])
    return tuple(found)


def _played(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    return (*environment.play_options, AGENT_OPTION, *_probe_options(environment))


def _probe_options(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    return (PROBE_OPTION,) if environment.probes else ()


def _general(environment: Environment[Any, Any, Any]) -> tuple[Option, ...]:
    datasets, least = environment.all_datasets, environment.items.smallest_level
    docs = [each.doc if each.name == "file" else f"{each.name}: {each.doc}" for each in datasets]
    return (
        Option(name="source", default="generated", doc=f"{'; '.join(docs[:-1])}; or {docs[-1]}."),
        Option(name="level", default=least, low=least, doc="Level of difficulty; see the environment's documentation."),
        Option(name="key", default=None, kind=str, doc="Key of the item set; by default the public set."),
        Option(
            name="limit",
            default=None,
            kind=int,
            low=1,
            high=1_000_000,
            doc=f"Number of items; by default {GENERATED_ITEMS} generated items, or all items of a file.",
        ),
        Option(name="attempts", default=1, low=1, high=1000, doc="Attempts per item."),
    )


def horizon_parameters(environment: Environment[Any, Any, Any], spec: HorizonSpec) -> tuple[Option, ...]:
    """Return the parameters of the search for a horizon."""
    return (
        *horizon_options(environment, spec),
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
            doc="Maximum cost: 200k (tokens), or 5USD with prices.",
        ),
        Option(name="prices", default=None, kind=str, doc="JSON file with token prices; see `waybench prices`."),
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


def horizon_options(environment: Environment[Any, Any, Any], spec: HorizonSpec) -> tuple[Option, ...]:
    """Return the options of play of a search; its default protocol is "sound"."""
    return tuple(
        _in_sound(option) if option.name == "protocol" else option
        for option in environment.play_options
        if option.name not in spec.without
    )


def _in_sound(option: Option) -> Option:
    return replace(option, default="sound") if "sound" in option.choices else option


_LARGEST_FILE = 1 << 28  # bytes
_LISTED = "item_difficulty"


def read_index(value: str, environment: Environment[Any, Any, Any]) -> ItemIndex:
    """Read an environment's difficulty index.

    Args:
        value: A file, summary.json of a report; or the index itself as JSON, which logs have in place of a file.
        environment: The environment.

    Raises:
        UsageError: If there is none, or several for different settings.
    """
    is_index = value.startswith("{")
    try:
        found: Any = (
            json.loads(value) if is_index else read_json(user_path(value), _LARGEST_FILE, "summary.json of a report")
        )
        terms = found if is_index else _listed(found, environment.id)
        return ItemIndex.read(terms, (each.name for each in environment.difficulty.item_variables))
    except WaybenchError as error:
        problem = str(error)
    except (ValueError, RecursionError) as error:
        problem = f"give summary.json of a report ({error})"
    raise UsageError(f"{DIFFICULTY_INDEX}={value[:200]}: {problem}")


def _listed(found: object, env_id: str) -> object:
    """Return an environment's index in a summary."""
    listed = cast(dict[str, Any], found).get(_LISTED) if isinstance(found, dict) else None
    entries = cast(list[Any], listed) if isinstance(listed, list) else []
    objects = [cast(dict[str, Any], each) for each in entries if isinstance(each, dict)]
    own = [each for each in objects if each.get("env") == env_id]
    known = [each["index"] for each in own if each.get("index")]
    if len(known) == 1:
        return known[0]
    reasons = [f"it has {len(known)} for different settings"] if known else [str(each.get("why")) for each in own]
    raise UsageError(": ".join([f"no difficulty index of {env_id}", *reasons[:1]]))
