"""The manifest of a submission, whose fields are checked before they are used."""

from typing import Any

from waybench.core import is_object
from waybench.submission._archive import FORMAT, MANIFEST, MOST_FILES, VERSION

_NAMES = ("file", "model", "task", "created", "version")  # these are kept with every record
_LONGEST_NAME = 1_000  # characters


def manifest_of(data: Any) -> dict[str, Any]:
    """Return a manifest whose fields have the right types.

    Raises:
        ValueError: If it is no manifest; the message says what is wrong.
    """
    if not is_object(data) or data.get("format") != FORMAT:
        raise ValueError(f"{MANIFEST} does not say that it is a {FORMAT}")
    if data.get("schema") != VERSION:
        raise ValueError(
            f"its schema is {str(data.get('schema'))[:40]}; this waybench reads schema {VERSION}: update it"
        )
    manifest: dict[str, Any] = data
    kinds: dict[str, type] = {"submitter": str, "about": str, "runs": list, "files": dict, "waybench": str}
    _check(manifest, kinds, MANIFEST)
    if len(manifest["runs"]) > MOST_FILES:
        raise ValueError(f"it has {len(manifest['runs']):,} runs; the maximum is {MOST_FILES:,}")
    read: set[str] = set()
    for run in manifest["runs"]:
        kinds = {"file": str, "model": str, "task": str, "created": str, "version": str, "subset": str, "records": int}
        kinds |= {"epochs": int, "parameters": dict, "settings": dict, "search": dict}
        if not is_object(run):
            raise ValueError("a run is no object")
        _check(run, kinds, "a run")
        if not 1 <= run["epochs"] <= 1000:
            raise ValueError("a run has no or too many epochs")
        if run["records"] < 0:
            raise ValueError("a run has a negative number of records")
        # Otherwise a small archive could have one file read any number of times.
        if run["file"] in read:
            raise ValueError("two runs name one file of records")
        read.add(run["file"])
    for name, file in manifest["files"].items():
        if not is_object(file):
            raise ValueError(f"the entry of file {name[:80]} is no object")
        _check(file, {"sha256": str, "bytes": int}, f"file {name[:80]}")
    return manifest


def _check(data: dict[str, Any], kinds: dict[str, type], what: str) -> None:
    for name, kind in kinds.items():
        if type(data.get(name)) is not kind:
            raise ValueError(f"{what}: {name!r} is missing or of another type")
        if name in _NAMES and len(data[name]) > _LONGEST_NAME:
            raise ValueError(f"{what}: {name!r} has more than {_LONGEST_NAME:,} characters")
