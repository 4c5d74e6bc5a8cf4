"""Notes in logs on why a run stopped before its end."""

from pathlib import Path

from inspect_ai.log import (
    MetadataEdit,
    ProvenanceData,
    edit_eval_log,
    list_eval_logs,
    read_eval_log,
    write_eval_log,
)

STOPPED = "waybench_stopped"  # the key in a log's metadata


def mark_stopped(out: Path, reason: str) -> None:
    """Write into the metadata of unfinished logs why the run stopped; Inspect says only that it was cancelled.

    Args:
        out: The folder of the logs.
        reason: Why, in a sentence.
    """
    for info in list_eval_logs(str(out.absolute()), recursive=False):
        if read_eval_log(info, header_only=True).status == "success":
            continue
        edit = MetadataEdit(metadata_set={STOPPED: reason})
        edited = edit_eval_log(read_eval_log(info), [edit], ProvenanceData(author="waybench", reason="budget"))
        write_eval_log(edited, info.name)
