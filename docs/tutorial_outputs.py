"""Run the commands of docs/tutorial.md and put their output below them: `python docs/tutorial_outputs.py`.

A block of commands that follows a comment "not run: ..." is left alone. Only standard output is shown, without the
progress of runs, which differs each time.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "tutorial.md"
_COMMANDS = re.compile(r"(<!-- not run: [^>]*-->\n)?```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
_LONGEST = 200  # characters of a line; the page is read on phones, too


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands that are run, each with the output that the page shows."""
    return [(found[2].strip(), found[3] or "") for found in _COMMANDS.finditer(text) if not found[1]]


def outputs(lines: list[str], folder: Path) -> list[str]:
    """Run commands one after the other in a folder, and return what they print."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    printed: list[str] = []
    for line in lines:
        command = re.sub(r"^waybench\b", f"{sys.executable} -m waybench", line, flags=re.MULTILINE)
        command += " --display none" if line.startswith("waybench run") else ""
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{line}: status {done.returncode}\n{done.stderr}")
        printed.append(_shown(done.stdout))
    return printed


def _shown(output: str) -> str:
    lines = (line.rstrip() for line in output.strip("\n").splitlines())
    return "".join((line if len(line) <= _LONGEST else line[:_LONGEST] + "...") + "\n" for line in lines)


def main() -> None:
    """Write the page again."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        printed = iter(outputs([line for line, _ in commands(text)], Path(folder)))

    def filled(found: re.Match[str]) -> str:
        return found[0] if found[1] else f"```sh\n{found[2]}```\n\n```text\n{next(printed)}```"

    PAGE.write_text(_COMMANDS.sub(filled, text), encoding="utf-8")


if __name__ == "__main__":
    main()
