"""Write docs/reference/checks.md, what `waybench check` finds: `python docs/check_page.py` (a minute).

The mistakes are those of tests/contract/test_mistakes.py, which compares the page with what is printed.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
_INTRODUCTION = """\
# Checks

`waybench check NAME` or `waybench check FILE.py` runs these checks on an environment, and prints for each failure the
check, the item, the reply, what is wrong, the line of your code, and what to do. Failures with one cause are one.

## What each check says to do
"""
_MISTAKES = """\
## Mistakes, and what is printed

Each of these mistakes is a test. LINE is the file and the line.
"""


def main() -> None:
    """Write the page."""
    sys.path.insert(0, str(ROOT))
    from tests.contract.test_mistakes import CHECKS, MISTAKES, mistake_row, mistaken
    from waybench.cli._environments import find_environment
    from waybench.testing import find_breach
    from waybench.testing._findings import ADVICE

    rows: list[str] = []
    with TemporaryDirectory() as folder:
        for name, mistake in MISTAKES.items():
            breach = find_breach(find_environment(str(mistaken(Path(folder), name))), mistake.check)
            assert breach is not None
            rows.append(mistake_row(name, breach))
    advice = [f"| {check} | {text.replace('<', chr(92) + '<')} |" for check, text in ADVICE.items()]
    CHECKS.write_text(
        "\n".join(
            [
                *(_INTRODUCTION, "| check | what to do |\n|---|---|", *advice),
                *("", _MISTAKES, "| mistake | check | wrong |\n|---|---|---|", *rows),
            ]
        )
        + "\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
