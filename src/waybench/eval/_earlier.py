"""Finished samples in the logs of earlier runs in a folder."""

from pathlib import Path

from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

from waybench.eval._progress import Earlier, sample_name


def earlier_logs(out: Path) -> dict[str, tuple[Earlier, bool]]:
    """Return, by task id, the samples that the newest log has finished and whether the task is complete.

    Args:
        out: The folder of the logs.
    """
    found: dict[str, tuple[str, Earlier, bool]] = {}
    for info in list_eval_logs(str(out.absolute()), recursive=False):
        try:
            header = read_eval_log(info, header_only=True)
            if header.eval.created <= found.get(header.eval.task_id, ("",))[0]:
                continue
            samples = [each for each in read_eval_log_sample_summaries(info) if not each.error and each.completed]
        except Exception:  # not a log, or one that was cut off; the engine reports it
            continue
        levels = [int(each.metadata["level"]) for each in samples if str(each.metadata.get("level", "")).isdigit()]
        earlier = Earlier(
            frozenset(sample_name(each.id, each.epoch) for each in samples),
            frozenset(str(each.uuid) for each in samples),
            max(levels, default=None),
            header.eval.task,
            str(header.eval.model),
            header.eval.task_args_passed,
        )
        found[header.eval.task_id] = header.eval.created, earlier, header.status == "success"
    return {task_id: (earlier, complete) for task_id, (_, earlier, complete) in found.items()}
