"""The tidy frame: one row for each episode."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from waybench.analysis.comparisons import failure, knew_at_first_error
from waybench.analysis.frames import Fact, Frame, Meaning, group_frame
from waybench.analysis.results import Row
from waybench.core import Environment, Json, Metric, Outcome
from waybench.envs import registry

METRIC, SIZE, OUTCOME = "metric.", "size.", "outcome."  # what the names of such columns begin with


def tidy(all_rows: Iterable[Row]) -> list[dict[str, Json]]:
    """Return rows as flat records, all with the same keys: `episode_frame(rows).records()`."""
    return episode_frame(list(all_rows)).records()


def episode_frame(all_rows: Sequence[Row]) -> Frame:
    """Return the frame of episodes: one row for each in the given order, also for those that do not count.

    All settings are columns ("option.NAME"), so that frames of several reports can be put together. Metrics are called
    "metric.NAME", and what one of them is a share of "size.NAME". None stands for what is not known or not defined,
    also where a row's environment has no such metric or option.

    Args:
        all_rows: The rows. They are gone through once for each column, when its values are needed.
    """
    environments = [registry.load(env) for env in dict.fromkeys(row.group.env for row in all_rows)]
    facts = [*_ITEM, *_COURSE, *_OUTCOMES, *_metrics(environments), *_COST]
    doc = "One row for each episode, in the order of the logs, excluded episodes too."
    return group_frame("episodes", doc, facts, all_rows, lambda row: row.group)


_ITEM: tuple[Fact[Row], ...] = (
    Fact(
        "setting",
        str,
        lambda row: row.setting or None,
        "The published name of the setting that was played; null if it is not a published one.",
    ),
    Fact("level", int, lambda row: row.level, "The item's level."),
    Fact("item", str, lambda row: row.item, "The item's id."),
    Fact("index", int, lambda row: row.index, "The item's number in its set, from 0."),
    Fact("instance", str, lambda row: row.instance, "SHA-256 of the instance."),
    Fact(
        "cluster",
        str,
        lambda row: row.cluster.name,
        "The independent sampling unit: the instance, or the name of a cluster such as a map. With cluster_key and "
        "cluster_level it identifies the cluster of intervals.",
    ),
    Fact(
        "cluster_key",
        str,
        lambda row: row.cluster.key,
        "The key of the cluster's set; empty where the cluster is an instance.",
    ),
    Fact(
        "cluster_level", int, lambda row: row.cluster.level, "The cluster's level; 0 where the cluster is an instance."
    ),
    Fact("attempt", int, lambda row: row.attempt, "Number of the attempt at the item, from 1."),
    Fact("run", str, lambda row: row.run or None, "The run; null if not known."),
    # The folders that it lies in say something of somebody's machine.
    Fact(
        "log",
        str,
        lambda row: row.log.replace("\\", "/").rpartition("/")[2] or None,
        "Name of the log file; null if not known.",
    ),
)

_COURSE: tuple[Fact[Row], ...] = (
    Fact("end", str, lambda row: row.end or None, "How the episode ended; null if it did not."),
    Fact(
        "succeeded",
        bool,
        lambda row: None if row.error else row.succeeded,
        "Whether the episode is a success for horizons, which is more than solved in some environments; null after an "
        "infrastructure error.",
    ),
    Fact(
        "failure",
        str,
        lambda row: kind.name if (kind := failure(row)) else None,
        "Its main cause of failure: refused, truncated, overflow, unparsed, illegal, unproductive, turn_limit, "
        "lost, wrong, or a kind of its environment (see the environment's page in the documentation); null for solved "
        "and excluded episodes, completed games of a fixed length, and episodes with a teacher.",
    ),
    Fact(
        "first_error",
        str,
        lambda row: row.first_error.kind.name if row.first_error else None,
        "The kind of its first error, the first step that no best play makes; null for episodes that did not fail, and "
        "where errors are not defined.",
    ),
    Fact(
        "first_error_step",
        int,
        lambda row: row.first_error.step if row.first_error else None,
        "The number of that step, from 1; null without one.",
    ),
    Fact(
        "probes",
        int,
        lambda row: len(row.probes) or None,
        "Number of belief probes; null without any.",
    ),
    Fact(
        "probes_correct",
        int,
        lambda row: sum(probe.correct for probe in row.probes) if row.probes else None,
        "Number of them that were answered right; null without any.",
    ),
    Fact(
        "knew_at_first_error",
        bool,
        lambda row: knew_at_first_error(row),
        "Whether all probes of the turn of the first error were answered right: true, the player knew the state and "
        "erred; false, it did not know it; null without a first error, or without a probe of that turn.",
    ),
    Fact("counts", bool, lambda row: row.is_included, "Whether the episode is in the denominators of the estimates."),
    Fact(
        "infrastructure_error",
        bool,
        lambda row: row.error,
        "Whether an error of the provider or the machine ended it, or it has no end: it is missing and does not "
        "count as a failure.",
    ),
    Fact("set_aside", str, lambda row: row.exclusion_reason or None, "The reason if it is excluded; null otherwise."),
    Fact(
        "not_simulated",
        str,
        lambda row: row.not_simulated or None,
        "Why its record was not re-simulated; its values are then the recorded ones. Null otherwise.",
    ),
    Fact(
        "guided",
        bool,
        lambda row: row.guided,
        "Whether a teacher's actions were carried out in place of the player's: then the end is due to the teacher.",
    ),
    Fact("turns", int, lambda row: row.turns, "Number of replies."),
    Fact(
        "action_turns",
        int,
        lambda row: sum(row.outcomes.values()),
        "Number of replies that had to name an action; others, such as thoughts, have no outcome.",
    ),
)

_OUTCOMES: tuple[Fact[Row], ...] = tuple(
    Fact(
        OUTCOME + outcome,
        int,
        lambda row, outcome=str(outcome): row.outcomes.get(outcome, 0),
        f"Number of replies with the outcome {outcome}, of those that had to name an action.",
    )
    for outcome in Outcome
)

_COST: tuple[Fact[Row], ...] = (
    Fact("input_tokens", int, lambda row: row.input_tokens, "Tokens of all requests; null if not known.", "tokens"),
    Fact(
        "output_tokens",
        int,
        lambda row: row.output_tokens,
        "Tokens of all replies, reasoning included; null if not known.",
        "tokens",
    ),
    Fact(
        "cached_tokens",
        int,
        lambda row: row.cached_tokens,
        "Input tokens that the provider says it read from its cache, 0 also where it says nothing; null if tokens are "
        "not known.",
        "tokens",
    ),
    Fact(
        "reasoning_tokens",
        int,
        lambda row: row.reasoning_tokens,
        "Output tokens that the provider says were spent on reasoning, 0 also where it says nothing; null if tokens "
        "are not known.",
        "tokens",
    ),
    Fact(
        "probe_input_tokens",
        int,
        lambda row: row.probe_tokens[0] if row.probe_tokens else None,
        "Tokens of the requests of belief probes, which input_tokens does not include; null without any.",
        "tokens",
    ),
    Fact(
        "probe_output_tokens",
        int,
        lambda row: row.probe_tokens[1] if row.probe_tokens else None,
        "Tokens of their answers, which output_tokens does not include; null without any.",
        "tokens",
    ),
    Fact("seconds", float, lambda row: row.seconds, "Time spent on the replies; null if not known.", "s"),
    Fact("cost", float, lambda row: row.cost, "What it cost; null if tokens or prices are not known.", "USD"),
)


def _metrics(environments: Iterable[Environment[Any, Any, Any]]) -> Iterator[Fact[Row]]:
    meanings: dict[str, list[Meaning]] = {}
    shares: set[str] = set()
    for env in environments:
        for metric in env.scoring.metrics:
            meanings.setdefault(metric.name, []).append(_meaning(env.id, metric))
            if metric.per is not None:
                shares.add(metric.name)
    for name, some in meanings.items():
        units = {each.unit for each in some}
        yield Fact(
            METRIC + name,
            float,
            lambda row, name=name: row.metrics.get(name),
            "A metric; null where it is undefined or the environment does not have it.",
            units.pop() if len(units) == 1 else "",
            tuple(some),
        )
        if name in shares:
            yield Fact(
                SIZE + name,
                float,
                lambda row, name=name: row.sizes.get(name),
                f"The denominator of {METRIC}{name}: the value of a set is the sum of numerators over the sum of "
                f"denominators; null where it is a mean.",
            )


def _meaning(env: str, metric: Metric) -> Meaning:
    return Meaning(
        env=env,
        doc=metric.doc,
        title=metric.title,
        unit=metric.unit,
        low=metric.low,
        high=metric.high,
        range=metric.range_text if metric.range or metric.unbounded else "",
        better=metric.better,
        values=tuple(f"{number} {label}" for number, label in enumerate(metric.labels)),
    )
