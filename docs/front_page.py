"""The results on the first pages, README.md and docs/index.md: `python docs/front_page.py [FOLDER]`.

It runs `COMMANDS` in FOLDER, which continues runs that are there, and writes the means beside the numbers that the
papers published. It takes about ten minutes, most of them of the small language model that runs in this process.

`python docs/front_page.py --atlas [FOLDER]` draws the chart of Atlas's profiles only, in some minutes.
"""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pieces import between, table

import waybench
from waybench.results.papers import papers

DOCS = Path(__file__).parent
PAGES = DOCS.parent / "README.md", DOCS / "index.md"
REFERENCES = "--model waybench/oracle --model waybench/random"
SMALL = "--model waybench/smollm2 --max-tokens 96"
COMMANDS = (
    f"waybench run gtb -T source=published -T skip=2 {REFERENCES}",
    f"waybench run messenger_l1 -T source=published {REFERENCES}",
    f"waybench run hanoi_3 {REFERENCES}",
    f"waybench run gtb -T source=published -T skip=2 --limit 2 {SMALL}",
    f"waybench run messenger_l1 -T source=published --limit 5 {SMALL}",
    f"waybench run hanoi_3 --limit 1 {SMALL}",
)
# Players that lack one ability each, for the chart of profiles.
PLAYERS = "".join(f" --model waybench/{name}" for name in ("able", "forgets", "plans-4"))
ATLAS = f"waybench run atlas --limit 4 -T max_level=11{PLAYERS}"
PICTURE = DOCS / "images" / "atlas.svg"
# Task -> environment, its level in the paper's table, and what the column is called.
COLUMNS = {
    "gtb": ("tilemap/gtb", None, "Tile maps: GTB score, 0 to 100"),
    "hanoi_3": ("hanoi/rods", 3, "Tower of Hanoi: disks in place, 0 to 3"),
    "messenger_l1": ("messenger/roles", 1, "Messenger: reward, −1 to 1"),
}
PUBLISHED = ("Human Baseline", "o1", "GPT-4-Turbo", "GPT-4-0613", "Claude", "llama-2-13b")
OURS = {
    "waybench/oracle": "the oracle",
    "waybench/random": "a random player",
    "waybench/smollm2": "SmolLM2, 135 million parameters",
}


def published_score(model: str, env: str, level: int | None) -> str:
    """Return the headline number that a paper gives for a model, as it is printed; "" for none."""
    for paper in papers():
        for block in (block for one in paper.tables for block in one.published):
            if (block.env, block.level, block.metrics[0], block.statistic) != (env, level, "score", "mean"):
                continue
            for row in block.rows:
                if row.model == model and not row.versus and not row.cluster and row.values[0] is not None:
                    return f"{row.values[0]}".replace("-", "−")
    return ""


def means(folder: Path) -> dict[tuple[str, str], tuple[float, int]]:
    """Return the mean of each model at each task, and the number of its episodes."""
    rows: list[dict[str, Any]] = waybench.read_logs(folder).scores.to_pylist()
    return {
        (row["model"], row["task"]): (row["value"], row["n"])
        for row in rows
        if (row["metric"], row["level"], row["statistic"]) == ("score", None, "single") and row["value"] is not None
    }


def results_table(folder: Path) -> str:
    """Return our means in a folder beside the published numbers, as Markdown."""
    results = means(folder)

    def published() -> Iterator[tuple[str, ...]]:
        for model in PUBLISHED:
            cells = (published_score(model, env, level) for env, level, _ in COLUMNS.values())
            name = "people" if model == "Human Baseline" else model
            yield f"*{name}*", *(cell and f"*{cell}*" for cell in cells)

    def ours() -> Iterator[tuple[str, ...]]:
        for model, name in OURS.items():
            cells = (results.get((model, task)) for task in COLUMNS)
            yield name, *(f"{cell[0]:.2f} ({cell[1]})".replace("-", "−") if cell else "" for cell in cells)

    oracle, *others = ours()
    return table(("", *(title for _, _, title in COLUMNS.values())), [oracle, *published(), *others])


def run(command: str, folder: Path) -> None:
    """Run one of the commands in a folder."""
    _, *arguments = shlex.split(command)
    options = ["--out", str(folder), "--display", "none"]
    subprocess.run([sys.executable, "-m", "waybench", *arguments, *options], check=True)


def draw_profiles(folder: Path) -> None:
    """Play Atlas in a folder, and put the report's chart of profiles into the documentation."""
    run(ATLAS, folder)
    waybench.report(folder, out=folder / "site")
    (chart,) = (folder / "site" / "charts").glob("atlas-world-profiles-*.svg")
    PICTURE.write_bytes(chart.read_bytes())


def main() -> None:
    """Run the commands, and write the table into the pages."""
    _, *arguments = sys.argv
    is_atlas = "--atlas" in arguments
    folder = Path(next((argument for argument in arguments if argument != "--atlas"), "waybench-front-page"))
    if is_atlas:
        draw_profiles(folder / "atlas")
        return
    for command in COMMANDS:
        run(command, folder)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(between(text, "results", results_table(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
