"""Results as Every Eval Ever's schema 0.3 has them: one file for each model and task, and one line for each episode."""

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from waybench._version import __version__
from waybench.core import End, Json, Metric
from waybench.envs import registry
from waybench.ext.publish.exports._files import FileText, as_path_part, without_none
from waybench.ext.publish.exports._formats import ModelResults
from waybench.results import Row
from waybench.results.formatting import LOST, lost_text
from waybench.results.logs import LoggedEpisode
from waybench.results.stats import IntervalEstimate

SCHEMA = "0.3.0"
COLLECTION = "waybench"


def every_eval_ever_files(
    results: Iterable[ModelResults], *, organization: str, relationship: str = "third_party"
) -> Iterator[FileText]:
    """Yield the files of results: data/waybench/DEVELOPER/MODEL/UUID.json and UUID_samples.jsonl.

    The same results give the same bytes.

    `organization` provides the results. `relationship` is the evaluator's to the model: "first_party", "third_party",
    "collaborative" or "other".
    """
    for result in results:
        yield from _result_files(result, organization, relationship)


def _result_files(result: ModelResults, organization: str, relationship: str) -> Iterator[FileText]:
    """Yield the file of a result and the file of its episodes."""
    group = result.group
    model = group.model if "/" in group.model else f"unknown/{group.model}"
    developer, model_name = map(as_path_part, model.split("/", 1))
    model = f"{developer}/{model_name}"
    settings = {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in sorted(group.settings.items())
    }
    identities = [[row.instance, row.attempt, row.run] for _, row in result.episodes]
    digest = hashlib.sha256(json.dumps([model, settings, identities]).encode())
    file_id = str(uuid.UUID(bytes=digest.digest()[:16], version=4))
    # Midnight (UTC) of the date, as seconds since 1970; the schema requires a time.
    date = result.date
    timestamp = f"{datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp():.0f}" if date else "0"
    evaluation_id = f"{COLLECTION}/{group.task}/{model}/{file_id}"
    folder = f"data/{COLLECTION}/{developer}/{model_name}"
    episode_lines = "".join(
        json.dumps(_episode_json(result, episode, row, evaluation_id, model), allow_nan=False) + "\n"
        for episode, row in result.episodes
    )
    result_json: dict[str, Json] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": timestamp,
        **without_none(evaluation_timestamp=timestamp if date else None),
        "source_metadata": {
            "source_name": "waybench",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
            "additional_details": {"confirmed_by_simulation": "true", "excluded_episodes": str(result.total.aside)},
        },
        "eval_library": {"name": "waybench", "version": __version__},
        "model_info": {
            "name": group.model,
            "id": model,
            "developer": developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [
            _evaluation_json(result, metric, mean, settings) for metric, mean in _metric_means(result)
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{folder}/{file_id}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(episode_lines.encode()).hexdigest(),
            "total_rows": len(result.episodes),
        },
    }
    yield FileText(f"{folder}/{file_id}.json", json.dumps(result_json, indent=2, allow_nan=False) + "\n")
    yield FileText(f"{folder}/{file_id}_samples.jsonl", episode_lines)


def _metric_means(result: ModelResults) -> Iterator[tuple[Metric, IntervalEstimate]]:
    """Yield the metrics of a result with their means, the headline first."""
    metrics = {metric.name: metric for metric in registry.load(result.group.env).scoring.metrics}
    headline = metrics[result.total.headline]
    if result.total.best is not None:
        yield headline, result.total.best
    for name, mean in result.total.metrics.items():
        if name != headline.name and name in metrics:
            yield metrics[name], mean


def _evaluation_json(result: ModelResults, metric: Metric, mean: IntervalEstimate, settings: dict[str, str]) -> Json:
    """Return a metric's mean over the items of a result, as the schema has it."""
    group, total = result.group, result.total
    least, greatest = total.ranges[metric.name]
    takes_best_attempt = registry.load(group.env).scoring.best_of and metric.name == total.headline
    details = without_none(
        aggregation="mean over items of the best attempt" if takes_best_attempt else None,
        # The schema knows two directions alone.
        direction=None if metric.better else "neither lower nor higher is better",
    )
    interval = (
        None
        if mean.low is None or mean.high is None or mean.lost
        else {
            "lower": mean.low,
            "upper": mean.high,
            "confidence_level": 0.95,
            "method": "over items, clustered by instance or map; see waybench's documentation",
        }
    )
    return {
        "evaluation_result_id": f"{group.task}/{metric.name}",
        "evaluation_name": group.task,
        "source_data": {
            "dataset_name": group.env,
            "source_type": "other",
            "additional_details": {
                "environment_version": str(group.version),
                "key": group.key,
                "items": str(total.items),
                "items_missing": str(total.missing),
                "attempts_planned": str(total.n_planned),
                "episodes_not_confirmed": str(total.unconfirmed),
            },
        },
        "metric_config": {
            "evaluation_description": metric.doc,
            "metric_id": f"waybench.{group.env.replace('/', '.')}.{metric.name}",
            "metric_name": metric.title,
            "metric_kind": metric.name,
            **without_none(metric_unit=metric.unit or None),
            "lower_is_better": metric.better == "lower",
            "score_type": "continuous",
            "min_score": "-Infinity" if least is None else least,
            "max_score": "Infinity" if greatest is None else greatest,
            **without_none(additional_details=details or None),
        },
        "score_details": {
            "score": mean.value,
            "details": {
                "clusters": str(mean.clusters),
                "attempts": str(total.attempts),
                **({"lost": lost_text(mean.lost, metric), "lost_meaning": LOST} if mean.lost else {}),
            },
            "uncertainty": {**without_none(confidence_interval=interval), "num_samples": mean.n},
        },
        "generation_config": {"additional_details": settings},
    }


def _episode_json(result: ModelResults, episode: LoggedEpisode, row: Row, evaluation_id: str, model: str) -> Json:
    """Return the record of one episode, a line of the file of samples."""
    record = episode.record
    headline = result.total.headline
    score = row.metrics[headline]
    opening_messages = [{"role": message.role, "content": message.text} for message in record.opening]
    has_one_turn = len(record.turns) <= 1
    chat = [*opening_messages]
    for turn in record.turns:
        chat += {"role": "assistant", "content": turn.reply}, {"role": "user", "content": turn.message}
    messages = [{"turn_idx": number, **message} for number, message in enumerate(chat)]
    if not chat[-1]["content"]:  # the last turn has no message after it
        del messages[-1]
    usage: dict[str, Json] = {}
    if row.input_tokens is not None and row.output_tokens is not None:
        usage["token_usage"] = {
            "input_tokens": row.input_tokens,
            "output_tokens": row.output_tokens,
            "total_tokens": row.input_tokens + row.output_tokens,
        }
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id,
        "model_id": model,
        "evaluation_name": row.group.task,
        "evaluation_result_id": f"{result.group.task}/{headline}",
        "sample_id": f"{row.level}/{row.item}/{row.attempt}",
        "sample_hash": row.instance,
        "interaction_type": "single_turn" if has_one_turn else "multi_turn",
        "input": {"raw": "\n\n".join(message["content"] for message in opening_messages), "reference": []},
        "output": {"raw": [record.turns[0].reply if record.turns else ""]} if has_one_turn else None,
        "messages": None if has_one_turn else messages,
        "answer_attribution": [],
        "evaluation": {
            "score": 0.0 if score is None else score,
            "is_correct": row.end == End.SOLVED,
            "num_turns": len(record.own_turns),
        },
        **usage,
        **without_none(performance=None if row.seconds is None else {"latency_ms": 1000 * row.seconds}),
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
