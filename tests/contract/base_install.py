"""Plays every environment in an installation without extras, and checks what it says of what is not there.

Usage: python base_install.py    It needs waybench alone.
"""

from importlib.util import find_spec

import waybench
from waybench.core import End, UsageError

HEAVY = ("inspect_ai", "openai", "pandas", "pyarrow", "scipy", "rich", "pydantic", "torch")


def main() -> None:
    """Play, and print one line."""
    there = [name for name in HEAVY if find_spec(name)]
    assert not there, f"this installation has extras: {there}"
    entries = waybench.list_environments()
    for entry in entries:
        best, random = waybench.play(entry.id), waybench.play(entry.id, "random")
        assert best.record.turns and random.record.turns, entry.id
        assert best.end is not None and best.end is not End.INFRASTRUCTURE, entry.id
        assert best.score is not None and random.score is not None, entry.id
    for call in (
        lambda: waybench.evaluate("alicia", "waybench/oracle"),
        lambda: waybench.read_logs("."),
        lambda: waybench.report("."),
    ):
        try:
            call()
        except UsageError as error:
            assert str(error).endswith("pip install 'waybench[eval]'"), error
        else:
            raise AssertionError("an evaluation ran without the extra [eval]")
    print(f"{len(entries)} environments play without extras")


if __name__ == "__main__":
    main()
