"""Results as Every Eval Ever's schema 0.3 has them: one file for each model and task, and one line for each episode."""

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC
from typing import Any

from waybench._version import __version__
from waybench.core import End, Json, Metric
from waybench.envs import registry
from waybench.ext.publish.exports._formats import FileText, Results, as_name
from waybench.results import Row
from waybench.results.formatting import LOST, lost_text
from waybench.results.logs import LoggedEpisode
from waybench.results.stats import Mean

SCHEMA = "0.3.0"
COLLECTION = "waybench"


def every_eval_ever(
    found: Iterable[Results], *, organization: str, relationship: str = "third_party"
) -> Iterator[FileText]:
    """Yield the files of results: data/waybench/DEVELOPER/MODEL/UUID.json and UUID_samples.jsonl.

    The same results give the same bytes.

    Args:
        found: The results.
        organization: Who provides them.
        relationship: The evaluator's to the model: "first_party", "third_party", "collaborative" or "other".
    """
    for one in found:
        yield from _files(one, organization, relationship)


def _files(one: Results, organization: str, relationship: str) -> Iterator[FileText]:
    group = one.group
    model = group.model if "/" in group.model else f"unknown/{group.model}"
    developer, name = (as_name(part) for part in model.split("/", 1))
    model = f"{developer}/{name}"
    settings = {key: _text(value) for key, value in sorted(group.settings.items())}
    digest = hashlib.sha256(json.dumps([model, settings, [_identity(row) for _, row in one.episodes]]).encode())
    name_of_file = str(uuid.UUID(bytes=digest.digest()[:16], version=4))
    when = _unix(one.date)
    evaluation_id = f"{COLLECTION}/{group.task}/{model}/{name_of_file}"
    folder = f"data/{COLLECTION}/{developer}/{name}"
    lines = "".join(
        json.dumps(_instance(one, episode, row, evaluation_id, model), allow_nan=False) + "\n"
        for episode, row in one.episodes
    )
    document: dict[str, Json] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": when,
        **({"evaluation_timestamp": when} if one.date else {}),
        "source_metadata": {
            "source_name": "waybench",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
            "additional_details": {"confirmed_by_simulation": "true", "excluded_episodes": str(one.total.aside)},
        },
        "eval_library": {"name": "waybench", "version": __version__},
        "model_info": {
            "name": group.model,
            "id": model,
            "developer": developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(one, metric, mean, settings) for metric, mean in _means(one)],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{folder}/{name_of_file}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(lines.encode()).hexdigest(),
            "total_rows": len(one.episodes),
        },
    }
    yield FileText(f"{folder}/{name_of_file}.json", json.dumps(document, indent=2, allow_nan=False) + "\n")
    yield FileText(f"{folder}/{name_of_file}_samples.jsonl", lines)


def _means(one: Results) -> Iterator[tuple[Metric, Mean]]:
    metrics = {metric.name: metric for metric in registry.load(one.group.env).scoring.metrics}
    headline = metrics[one.total.headline]
    if one.total.best is not None:
        yield headline, one.total.best
    for name, mean in one.total.metrics.items():
        if name != headline.name and name in metrics:
            yield metrics[name], mean


def _result(one: Results, metric: Metric, mean: Mean, settings: dict[str, str]) -> Json:
    group = one.group
    least, greatest = one.total.ranges[metric.name]
    details: dict[str, Json] = {}
    if registry.load(group.env).scoring.best_of and metric.name == one.total.headline:
        details["aggregation"] = "mean over items of the best attempt"
    if not metric.better:  # the schema knows two directions alone
        details["direction"] = "neither lower nor higher is better"
    interval = (
        {}
        if mean.low is None or mean.high is None or mean.lost
        else {
            "confidence_interval": {
                "lower": mean.low,
                "upper": mean.high,
                "confidence_level": 0.95,
                "method": "over items, clustered by instance or map; see waybench's documentation",
            }
        }
    )
    return {
        "evaluation_result_id": _result_id(one, metric),
        "evaluation_name": group.task,
        "source_data": {
            "dataset_name": group.env,
            "source_type": "other",
            "additional_details": {
                "environment_version": str(group.version),
                "key": group.key,
                "items": str(one.total.items),
                "items_missing": str(one.total.missing),
                "attempts_planned": str(one.total.planned),
                "episodes_not_confirmed": str(one.total.unconfirmed),
            },
        },
        "metric_config": {
            "evaluation_description": metric.doc,
            "metric_id": f"waybench.{group.env.replace('/', '.')}.{metric.name}",
            "metric_name": metric.title,
            "metric_kind": metric.name,
            **({"metric_unit": metric.unit} if metric.unit else {}),
            "lower_is_better": metric.better == "lower",
            "score_type": "continuous",
            "min_score": "-Infinity" if least is None else least,
            "max_score": "Infinity" if greatest is None else greatest,
            **({"additional_details": details} if details else {}),
        },
        "score_details": {
            "score": mean.value,
            "details": {
                "clusters": str(mean.clusters),
                "attempts": str(one.total.attempts),
                **({"lost": lost_text(mean.lost, metric), "lost_meaning": LOST} if mean.lost else {}),
            },
            "uncertainty": {**interval, "num_samples": mean.n},
        },
        "generation_config": {"additional_details": settings},
    }


def _result_id(one: Results, metric: Metric) -> str:
    return f"{one.group.task}/{metric.name}"


def _instance(one: Results, episode: LoggedEpisode, row: Row, evaluation_id: str, model: str) -> Json:
    record = episode.record
    headline = next(
        metric for metric in registry.load(row.group.env).scoring.metrics if metric.name == one.total.headline
    )
    score = row.metrics[headline.name]
    opening = [{"role": message.role, "content": message.text} for message in record.opening]
    single = len(record.turns) <= 1
    chat = [*opening]
    for turn in record.turns:
        chat.append({"role": "assistant", "content": turn.reply})
        chat.append({"role": "user", "content": turn.message})
    raw = "\n\n".join(message["content"] for message in opening)
    reply = record.turns[0].reply if record.turns else ""
    usage = (
        {}
        if row.input_tokens is None or row.output_tokens is None
        else {
            "token_usage": {
                "input_tokens": row.input_tokens,
                "output_tokens": row.output_tokens,
                "total_tokens": row.input_tokens + row.output_tokens,
            }
        }
    )
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        "model_id": model,
        "evaluation_name": row.group.task,
        "evaluation_result_id": _result_id(one, headline),
        "sample_id": f"{row.level}/{row.item}/{row.attempt}",
        "sample_hash": row.instance,
        "interaction_type": "single_turn" if single else "multi_turn",
        "input": {"raw": raw, "reference": []},
        "output": {"raw": [reply]} if single else None,
        "messages": None
        if single
        else [
            {"turn_idx": number, **message}
            for number, message in enumerate(chat[: None if chat[-1]["content"] else -1])
        ],
        "answer_attribution": [],
        "evaluation": {
            "score": 0.0 if score is None else score,
            "is_correct": row.end == End.SOLVED,
            "num_turns": len(record.own_turns),
        },
        **usage,
        **({"performance": {"latency_ms": 1000 * row.seconds}} if row.seconds is not None else {}),
        "error": None,
        "metadata": {
            "level": str(row.level),
            "item": row.item,
            "attempt": str(row.attempt),
            "end": row.end,
            "score_defined": str(score is not None).lower(),
            "memory": "each prompt repeats what the environment's wording says, not always the whole conversation",
        },
    }


def _identity(row: Row) -> list[Any]:
    return [row.instance, row.attempt, row.run]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _unix(date: str) -> str:
    """Return midnight (UTC) of a date as seconds since 1970; "0" if the date is not known."""
    from datetime import datetime

    return "0" if not date else f"{datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp():.0f}"
