"""The files of a new leaderboard."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from waybench._version import __version__
from waybench.core import UsageError

# File of the template -> its path in the leaderboard's folder.
_FILES = {
    "leaderboard.toml": "leaderboard.toml",
    "README.md": "README.md",
    "submissions.md": "submissions/README.md",
    "workflow.yml": ".github/workflows/leaderboard.yml",
}


def write_template(folder: Path) -> Iterator[tuple[str, bool]]:
    """Write the files of a new leaderboard, and yield the name of each and whether it is new; none is replaced.

    Raises:
        UsageError: If a file cannot be written.
    """
    source = files("waybench.ext.publish.leaderboard") / "template"
    for name, target in _FILES.items():
        path = folder / target
        text = (source / name).read_text(encoding="utf-8").replace("@VERSION@", __version__)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except FileExistsError:
            yield target, False
            continue
        except OSError as error:
            raise UsageError(f"cannot write {path} ({error.strerror}): choose another folder") from None
        yield target, True
