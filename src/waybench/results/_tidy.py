"""The tidy frame: one row for each episode."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from waybench.core import Environment, Json, Metric, Outcome
from waybench.envs import registry
from waybench.results.comparisons import failure, knew_at_first_error
from waybench.results.frames import Column, Frame, Meaning, group_frame
from waybench.results.results import Row

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


_ITEM: tuple[Column[Row], ...] = (
    Column(
        "setting",
        str,
        "The published name of the setting that was played; null if it is not a published one.",
        lambda row: row.setting or None,
    ),
    Column("level", int, "The item's level."),
    Column("item", str, "The item's id."),
    Column("index", int, "The item's number in its set, from 0."),
    Column("instance", str, "SHA-256 of the instance."),
    Column(
        "cluster",
        str,
        "The independent sampling unit: the instance, or the name of a cluster such as a map. With cluster_key and "
        "cluster_level it identifies the cluster of intervals.",
        "cluster.name",
    ),
    Column("cluster_key", str, "The key of the cluster's set; empty where the cluster is an instance.", "cluster.key"),
    Column("cluster_level", int, "The cluster's level; 0 where the cluster is an instance.", "cluster.level"),
    Column("attempt", int, "Number of the attempt at the item, from 1."),
    Column("run", str, "The run; null if not known.", lambda row: row.run or None),
    # The folders that it lies in say something of somebody's machine.
    Column(
        "log",
        str,
        "Name of the log file; null if not known.",
        lambda row: row.log.replace("\\", "/").rpartition("/")[2] or None,
    ),
)

_COURSE: tuple[Column[Row], ...] = (
    Column("end", str, "How the episode ended; null if it did not.", lambda row: row.end or None),
    Column(
        "succeeded",
        bool,
        "Whether the episode is a success for horizons, which is more than solved in some environments; null after an "
        "infrastructure error.",
        lambda row: None if row.error else row.succeeded,
    ),
    Column(
        "failure",
        str,
        "Its main cause of failure: refused, truncated, overflow, unparsed, illegal, unproductive, turn_limit, "
        "lost, wrong, or a kind of its environment (see the environment's page in the documentation); null for solved "
        "and excluded episodes, completed games of a fixed length, and episodes with a teacher.",
        lambda row: kind.name if (kind := failure(row)) else None,
    ),
    Column(
        "first_error",
        str,
        "The kind of its first error, the first step that no best play makes; null for episodes that did not fail, and "
        "where errors are not defined.",
        "first_error.kind.name",
    ),
    Column("first_error_step", int, "The number of that step, from 1; null without one.", "first_error.step"),
    Column("probes", int, "Number of belief probes; null without any.", lambda row: len(row.probes) or None),
    Column(
        "probes_correct",
        int,
        "Number of them that were answered right; null without any.",
        lambda row: sum(probe.correct for probe in row.probes) if row.probes else None,
    ),
    Column(
        "knew_at_first_error",
        bool,
        "Whether all probes of the turn of the first error were answered right: true, the player knew the state and "
        "erred; false, it did not know it; null without a first error, or without a probe of that turn.",
        knew_at_first_error,
    ),
    Column("counts", bool, "Whether the episode is in the denominators of the estimates.", "is_included"),
    Column(
        "infrastructure_error",
        bool,
        "Whether an error of the provider or the machine ended it, or it has no end: it is missing and does not "
        "count as a failure.",
        "error",
    ),
    Column("set_aside", str, "The reason if it is excluded; null otherwise.", lambda row: row.exclusion_reason or None),
    Column(
        "not_simulated",
        str,
        "Why its record was not re-simulated; its values are then the recorded ones. Null otherwise.",
        lambda row: row.not_simulated or None,
    ),
    Column(
        "guided",
        bool,
        "Whether a teacher's actions were carried out in place of the player's: then the end is due to the teacher.",
    ),
    Column("turns", int, "Number of replies."),
    Column(
        "action_turns",
        int,
        "Number of replies that had to name an action; others, such as thoughts, have no outcome.",
        lambda row: sum(row.outcomes.values()),
    ),
)

_OUTCOMES: tuple[Column[Row], ...] = tuple(
    Column(
        OUTCOME + outcome,
        int,
        f"Number of replies with the outcome {outcome}, of those that had to name an action.",
        lambda row, outcome=str(outcome): row.outcomes.get(outcome, 0),
    )
    for outcome in Outcome
)

_COST: tuple[Column[Row], ...] = (
    Column("input_tokens", int, "Tokens of all requests; null if not known.", unit="tokens"),
    Column("output_tokens", int, "Tokens of all replies, reasoning included; null if not known.", unit="tokens"),
    Column(
        "cached_tokens",
        int,
        "Input tokens that the provider says it read from its cache, 0 also where it says nothing; null if tokens are "
        "not known.",
        unit="tokens",
    ),
    Column(
        "reasoning_tokens",
        int,
        "Output tokens that the provider says were spent on reasoning, 0 also where it says nothing; null if tokens "
        "are not known.",
        unit="tokens",
    ),
    Column(
        "probe_input_tokens",
        int,
        "Tokens of the requests of belief probes, which input_tokens does not include; null without any.",
        lambda row: row.probe_tokens[0] if row.probe_tokens else None,
        unit="tokens",
    ),
    Column(
        "probe_output_tokens",
        int,
        "Tokens of their answers, which output_tokens does not include; null without any.",
        lambda row: row.probe_tokens[1] if row.probe_tokens else None,
        unit="tokens",
    ),
    Column("seconds", float, "Time spent on the replies; null if not known.", unit="s"),
    Column("cost", float, "What it cost; null if tokens or prices are not known.", unit="USD"),
)


def _metrics(environments: Iterable[Environment[Any, Any, Any]]) -> Iterator[Column[Row]]:
    meanings: dict[str, list[Meaning]] = {}
    shares: set[str] = set()
    for env in environments:
        for metric in env.scoring.metrics:
            meanings.setdefault(metric.name, []).append(_meaning(env.id, metric))
            if metric.per is not None:
                shares.add(metric.name)
    for name, some in meanings.items():
        units = {each.unit for each in some}
        yield Column(
            METRIC + name,
            float,
            "A metric; null where it is undefined or the environment does not have it.",
            lambda row, name=name: row.metrics.get(name),
            unit=units.pop() if len(units) == 1 else "",
            meanings=tuple(some),
        )
        if name in shares:
            yield Column(
                SIZE + name,
                float,
                f"The denominator of {METRIC}{name}: the value of a set is the sum of numerators over the sum of "
                f"denominators; null where it is a mean.",
                lambda row, name=name: row.sizes.get(name),
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
