"""Writes the digests of the safety net again: only for a change that is meant to change what users see."""

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the tests; it is read when numpy is imported

from tests.net.digests import FILE, committed, differences, digests, present


def main() -> None:
    """Write the digests, or the outputs; in both cases name the outputs that differ from the committed digests."""
    arguments = argparse.ArgumentParser(prog="python -m tests.net", description=__doc__)
    arguments.add_argument(
        "--out", type=Path, help="write the outputs to this folder, and leave the digests as they are"
    )
    out: Path | None = arguments.parse_args().out
    with TemporaryDirectory() as folder:
        texts = present(Path(folder))
    digests_by_name = digests(texts)
    for line in differences(committed() if FILE.exists() else {}, digests_by_name):
        print(line)
    if out is None:
        FILE.write_text(json.dumps(digests_by_name, indent=0) + "\n", encoding="utf-8")
        return
    for name, text in texts.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")


if __name__ == "__main__":
    main()
