"""Write the generated pages of docs/: `make docs`; `--check` only says whether they are up to date.

They are docs/environments/*.md, docs/reproduce.md, docs/tasks.md, docs/reference/cli.md and docs/concepts/json.md.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from cli_page import cli_page
from pieces import table
from task_page import tasks_page

from waybench.core import FORMS, Environment, Episode, EpisodeRecord, Metric, Option, play_out, policy
from waybench.envs import registry
from waybench.envs.spaces import TREES
from waybench.results.papers import Paper, PaperTable, papers

FOLDER = Path(__file__).parent / "environments"


def option_table(options: Iterable[Option]) -> str:
    """Return a table of options."""
    return table(
        ("option", "default", "values", "meaning"),
        (
            (
                f"`{option.name}`",
                "" if option.default is None else f"`{option.default}`",
                ", ".join(option.all_choices) or _range(option),
                option.doc,
            )
            for option in options
        ),
    )


def _range(option: Option) -> str:
    if option.low is None:
        return option.type.__name__
    return f"{option.low:.12g} to {option.high:.12g}" if option.high is not None else f"from {option.low:.12g}"


def _metric_range(metric: Metric, record: EpisodeRecord) -> str:
    low, high = metric.range_of(record)
    return replace(metric, low=low, high=high, range=None).range_text + ("*" if metric.range else "")


def _levels(environment: Environment[Any, Any, Any]) -> str:
    items = environment.items
    upper = "upwards" if items.highest_level is None else f"to {items.highest_level}"
    return f"Levels from {items.smallest_level} {upper}"


def page(environment: Environment[Any, Any, Any]) -> str:
    """Return an environment's page."""
    item = environment.source().item(0)
    first = Episode(environment, item).record()
    parts = [
        f"# {environment.title}\n\n`{environment.id}`, version {environment.version}\n\n{environment.about}",
        "## How it is played\n\n" + option_table(environment.playing.options),
        f"## How its items are drawn\n\n{_levels(environment)}; the public set's key "
        f"is `{environment.items.public_key}`.\n\n" + option_table(environment.items.options),
        "## Metrics\n\nThe first is the headline. A range with a star depends on the options and the item, and is that "
        "of the item below with the default options. No interval goes beyond a range.\n\n"
        + table(
            ("metric", "unit", "range", "better", "meaning"),
            ((f"`{m.name}`", m.unit, _metric_range(m, first), m.better, m.doc) for m in environment.scoring.metrics),
        )
        + "".join(f"\n\nAt each step, `{one.name}`: {one.doc}" for one in environment.scoring.series)
        + "".join(
            f"\n\nOf a set of episodes, `{one.name}`: {one.doc}{f' {one.sample_size.doc}' if one.sample_size else ''}"
            for one in environment.scoring.aggregates
        ),
        "## Failures\n\nEach failed episode is counted once, under its main cause: one of these or of the "
        "[general kinds](../evidence.md#how-attempts-fail).\n\n"
        + table(
            ("kind", "fails by", "when"),
            ((f"`{kind.name}`", kind.title, kind.doc) for kind in environment.scoring.failures),
        ),
        "## Players\n\n"
        + table(
            ("player", "what it does"),
            (
                (f"`waybench/{name}`", _first_line(player))
                for name, player in sorted(environment.players.policies.items())
            ),
        ),
    ]
    if environment.probes:
        parts.append(
            "## Belief probes\n\n`--probe every:N` asks for these parts of the state "
            "([Ask what a model knows](../howto/beliefs.md)).\n\n"
            + table(("name", "the right answer"), ((f"`{each.name}`", each.doc) for each in environment.probes))
        )
    if environment.id == "maze/alicia":
        parts.append(maze_difficulty())
    parts.append("## What the player reads first\n\nItem " + item.id + " of the public set, in each wording.")
    for name in next(option for option in environment.playing.options if option.name == "wording").choices:
        opening = Episode(environment, item, {"wording": name}).messages
        shown = "\n\n".join(f"[{message.role}]\n{message.text}" for message in opening)
        parts.append(f"### {name}\n\n```text\n{shown}\n```")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _first_line(player: Any) -> str:
    return (player.__doc__ or "").strip().splitlines()[0]


def maze_difficulty() -> str:
    """Measure how the tree algorithm and the share of loops move the difficulty."""
    environment = registry.load("maze/alicia")
    rows: list[tuple[object, ...]] = []
    for size in (11, 21, 41):
        for algorithm in sorted(TREES):
            for loops in (0.0, 0.05, 0.2):
                items = environment.source("difficulty", size, algorithm=algorithm, loops=loops).head(50)
                reached = [play_out(environment, item, policy("noisy-0.05")).end_reason == "solved" for item in items]
                rows.append(
                    (
                        size,
                        algorithm,
                        f"{loops:g}",
                        f"{fmean(item.proof['minimum'] for item in items):.0f}",
                        f"{fmean(len(item.proof['solution']) for item in items):.0f}",
                        f"{fmean(item.proof['junctions'] for item in items):.0f}",
                        f"{100 * fmean(reached):.0f} %",
                    )
                )
    return (
        "## How algorithm and loops move the difficulty\n\nMeans over 50 mazes each, key `difficulty`. The "
        "backtracker's long corridors make the longest ways with the fewest junctions, Prim's mazes the shortest with "
        "the most; Wilson's are spread evenly over all mazes. Loops shorten the way and add junctions. The last column "
        "is how often `waybench/noisy-0.05`, which errs in one cell of twenty, gets out in one attempt.\n\n"
        + table(("N", "algorithm", "loops", "shortest path", "its movements", "junctions", "noisy-0.05"), rows)
    )


def reproduce_page() -> str:
    """Return the page on reproducing the papers' tables and figures."""
    parts = [
        "# Reproducing the papers",
        "For each table and figure of the five papers: the command that makes it, where the result is in the report, "
        "how far it can agree with the published one and why, and the results of embedded players.",
        "`waybench reproduce PAPER TABLE --model MODEL` runs the commands and prints the results beside the published "
        "rows; `--dry-run` prints the commands, `--limit` asks fewer items. `waybench report DIR --published` shows "
        "the published rows on the pages of the report, marked as not run here, and writes all of them to "
        "`data/published.csv`. No published number is in any estimate, comparison or chart. Parts that cannot be made "
        "yet say so.",
        "`make reproduce` computes all values of embedded players again from the published data and checks that they "
        "agree with this page to four decimals. A value is the mean over the items of the command, with the parameters "
        "in parentheses.",
    ]
    for paper in papers():
        parts.append(f"## {paper.title}\n\n{paper.source}; `waybench reproduce {paper.name}`\n\n{paper.about}")
        parts += [_reproduced(paper, one) for one in paper.tables]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def environments_page(pages: Iterable[Path]) -> str:
    """Return the list of the environments' pages."""
    ours = [entry for entry in registry.entries if entry.target.startswith("waybench.")]
    rows = (
        (
            f"[`{entry.id}`]({entry.id.replace('/', '-')}.md)",
            entry.version,
            registry.load(entry.id).title,
            entry.summary,
        )
        for entry in ours
    )
    names = "\n".join(path.stem for path in pages)
    return (
        "# Environments\n\nEach page describes the rules, the options, the items, the metrics and the prompts. "
        "[Choose a task](../tasks.md) lists the tasks that play them. An environment is the same in `waybench run`, "
        "`play`, `generate` and `score`, in Python, and in Gymnasium.\n\n"
        + table(("id", "version", "title", "what the player does"), rows)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def _reproduced(paper: Paper, one: PaperTable) -> str:
    lines = [f"# not yet: {each.not_yet}" if each.not_yet and not each.text else each.text for each in one.commands]
    parts = [
        f"### {paper.name} {one.id}\n\n{one.shows}",
        "```sh\n" + "\n".join(lines) + "\n```",
        f"* In the report: {one.report}\n* Agreement: {one.agreement}",
    ]
    published = sum(len(block.rows) for block in one.published) + sum(len(each.rows) for each in one.numbers)
    if published:
        parts[-1] += f"\n* Published rows that are entered: {published}"
    if one.embedded:
        rows = (
            (
                f"`waybench/{each.player}`",
                f"`{each.env}`" + (f" ({_given(each.parameters)})" if each.parameters else ""),
                ", ".join(f"{name} {value:g}" for name, value in each.values.items()),
                each.published or "none",
                each.why,
            )
            for each in one.embedded
        )
        parts.append(table(("player", "environment", "came out", "published", "why they differ, if they do"), rows))
    return "\n\n".join(parts)


def _given(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def forms_page() -> str:
    """Return the table of the forms of JSON that are read in replies."""
    shown = ((form, is_read, example.replace("\n", "↵")) for form, is_read, example in FORMS)
    rows = ((form, "read" if is_read else "*unparsed*", f"`` {example} ``") for form, is_read, example in shown)
    return (
        "# Forms of JSON\n\nAnswers in JSON are read in the same forms in all environments, except by the published "
        "readers of `paper` for tile maps and text maps. In the examples, `k` is the key that the prompt asks for. In "
        "text maps the answer is a list of such objects.\n\n"
        + table(("form", "", "example"), rows)
        + "\n\nThe player's last word counts: a malformed answer after a good one makes the reply *unparsed*. It is "
        "malformed text with the key in it. A mention of the format is passed over if an answer stands beside it: a "
        "placeholder (`...`, `<text>`, `$NAME` or `__`) is in it, or all its texts are placeholders. A reply of more "
        "than 1,000,000 characters, 2,000 objects or 100 malformed ones, of brackets nested deeper than 100, or of "
        "more than 100,000 brackets, texts and commas that are no strict JSON, is *unparsed*. So is "
        "an answer with a number of more than 18 digits in the place of a number. Nothing is evaluated.\n"
    )


def main() -> None:
    """Write the pages, or check them."""
    check = "--check" in sys.argv[1:]
    pages = {
        FOLDER / (entry.id.replace("/", "-") + ".md"): partial(page, registry.load(entry.id))
        for entry in registry.entries
        if entry.target.startswith("waybench.")  # and not an environment of some installed package
    }
    pages[FOLDER / "index.md"] = partial(environments_page, list(pages))
    pages[FOLDER.parent / "reproduce.md"] = reproduce_page
    pages[FOLDER.parent / "tasks.md"] = tasks_page
    pages[FOLDER.parent / "reference" / "cli.md"] = cli_page
    pages[FOLDER.parent / "concepts" / "json.md"] = forms_page
    stale: list[str] = []
    for path, write in pages.items():
        text = write()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs`")
    print("docs:", "up to date" if not stale else f"wrote {', '.join(stale)}")


if __name__ == "__main__":
    main()
