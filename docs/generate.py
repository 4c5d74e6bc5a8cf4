"""Write the generated pages of docs/: `make docs`; `--check` only says whether they are up to date.

They are docs/environments/*.md, docs/images/games/*.svg, docs/reproduce.md, docs/tasks.md, docs/reference/cli.md and
docs/concepts/json.md; and the example in README.md and docs/index.md.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import fsum, isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from cli_page import cli_page
from gallery import (
    PICTURES,
    Example,
    example_blocks,
    excerpt,
    file_name,
    gallery_page,
    ids,
    picture,
    play_example,
    strip,
)
from pieces import between, table
from task_page import tasks_page

from waybench.core import FORMS, Environment, Episode, EpisodeRecord, Metric, Option, play_to_end, policy
from waybench.core._conversation import options_that_repeat_replies
from waybench.envs import registry
from waybench.envs.spaces import TREES
from waybench.reporting._files import task_page_name
from waybench.results.papers import Paper, PaperTable, PublishedBlock, papers

FOLDER = Path(__file__).parent / "environments"
# Family -> what its games pay for, and how that differs from the score.
REWARDS = {
    "atlas": "1 with the reply that solves the item, otherwise 0. The sum is the headline.",
    "bandit": "what the machine pays or takes, after each pull. The score counts pulls of the best machine instead.",
    "crafter": "1 for an achievement, and 0.1 for each health gained, or -0.1 for each lost. The score also counts how "
    "early achievements come.",
    "graph": "1 for the right answer, otherwise 0. The sum is the headline.",
    "hanoi": "100 with the move that puts the last disk in place, -1 for an illegal move, otherwise 0. The score "
    "counts disks in place.",
    "maze": "1 with the reply that reaches the exit, otherwise 0. Only the score falls with detours.",
    "messenger": "0.5 for the message, 1 for its delivery, -1 or less for a death. The score is the last step's alone.",
    "rps": "what the round wins or loses. The score counts rounds with the best choice instead.",
    "search": "1 with the answer that reaches the goal (the target, or the last node), otherwise 0. The headline also "
    "counts how near an episode came.",
    "sokoban": "1 with the move that solves the room, otherwise 0. Only the score falls with needless pushes.",
    "textmap": "what the answer is worth, from 0 to 1; in `textmap/extract` each right triplet has its share of 1.",
    "tilemap": "one divided by the number of objectives, with each reply that reaches its objective. The score also "
    "counts moves and how near the others ended.",
    "voxel": "1 with the step that finds the biome, otherwise 0. The sum is the headline.",
}


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
    summary, _, details = environment.about.partition("\n\n")
    parts = [
        f"# {environment.title}\n\n{summary}",
        example_blocks(play_example(environment.id), pictures="../images/games", lines=16),
        f"This is `{environment.id}`, version {environment.version}, played by the oracle.",
        f"## Rules\n\n{details}" if details else "",
        "## How it is played\n\n" + option_table(environment.playing.options) + reasoning_text(environment),
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
        reward_text(environment),
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
    parts.append(
        f"## What the player reads first\n\nItem {item.id} of the public set, in each wording; of long prompts the "
        f"first and the last lines. `waybench generate {environment.id} --prompts -T wording=NAME` writes them whole."
    )
    for name in next(option for option in environment.playing.options if option.name == "wording").choices:
        opening = Episode(environment, item, {"wording": name}).messages
        shown = "\n\n".join(f"[{message.role}]\n{message.text}" for message in opening)
        parts.append(f"### {name}\n\n```text\n{excerpt(shown, 40, 2_000)}\n```")
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def reasoning_text(environment: Environment[Any, Any, Any]) -> str:
    """Return what becomes of reasoning between turns, where prompts do not repeat the model's replies by default."""
    others = options_that_repeat_replies(environment, {})
    if others is None:
        return ""
    advice = f"`-T {' or '.join(others)}` repeats them" if others else "No option of it repeats them"
    return (
        "\n\nWith the default options a prompt does not repeat the model's replies of earlier steps as they came, and "
        f"so none of their reasoning. {advice} "
        "([What is sent back](../howto/reasoning.md#what-is-sent-back-in-later-turns))."
    )


def reward_text(environment: Environment[Any, Any, Any]) -> str:
    """Return what the reward is: what it is paid for, the declared range, and what two players got."""
    headline = environment.scoring.metrics[0]
    low, high = environment.play_with(environment.resolve_options({})).game.properties.reward
    item = environment.source(level=environment.items.smallest_level).item(0)
    sums: list[str] = []
    for name in ("oracle", "random"):
        episode = play_to_end(environment, item, policy(name))
        gained, score = fsum(turn.reward for turn in episode.turns), headline.of(episode.record())
        sums.append(f"{gained:.4g} for `waybench/{name}` (`{headline.name}` {score:.4g})")
    span = f"from {low:,.12g} to {high:,.12g}" if isfinite(low) else f"at most {high:,.12g}, with no lower limit"
    return (
        "## Reward\n\nA reply earns, for [training](../howto/train.md): "
        f"{REWARDS[environment.id.partition('/')[0]]} The sum over an episode is {span}; on the first item of the "
        f"smallest level {' and '.join(sums)}."
    )


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
                reached = [
                    play_to_end(environment, item, policy("noisy-0.05")).end_reason == "solved" for item in items
                ]
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
        "`data/published.csv`. No published number is in any estimate, comparison or chart.",
        "`make reproduce` runs every table and figure with the null player and the oracle, on one item of each level "
        "(`waybench reproduce --all`). What cannot run is named, with the reason; commands that several tables share "
        "run once. A slow test computes the values of embedded players below again from the published data, to four "
        "decimals. A value is the mean over the items of the command, with the parameters in parentheses.",
    ]
    for paper in papers():
        parts.append(f"## {paper.title}\n\n{paper.source}; `waybench reproduce {paper.name}`\n\n{paper.about}")
        parts += [_reproduced(paper, one) for one in paper.tables]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _reproduced(paper: Paper, one: PaperTable) -> str:
    lines = [command.text for command in one.commands]
    parts = [
        f"### {paper.name} {one.id}\n\n{one.shows}",
        "```sh\n" + "\n".join(lines) + "\n```",
        f"* In the report: {one.report}\n* Agreement: {one.agreement}",
    ]
    published = sum(len(block.rows) for block in one.published) + sum(len(each.rows) for each in one.numbers)
    if published:
        parts[-1] += f"\n* Published rows that are entered: {published}"
        pages = dict.fromkeys(
            f"`tasks/{task_page_name(block.env, ())}.html`" for block in one.published if _has_rows(block)
        )
        if pages:
            parts[-1] += f"\n* Pages where the rows stand (`waybench report DIR --published`): {', '.join(pages)}"
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


def _has_rows(block: PublishedBlock) -> bool:
    """Return whether a block has rows of all items; those of single maps stand in data/published.csv alone."""
    return any(not row.cluster for row in block.rows)


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
    pages = {FOLDER / f"{env_id.replace('/', '-')}.md": partial(page, registry.load(env_id)) for env_id in ids()}
    pages[FOLDER / "index.md"] = partial(gallery_page, list(pages))
    examples = filter(Example.frames, map(play_example, ids()))
    pages |= {PICTURES / file_name(example.environment.id): partial(picture, example) for example in examples}
    pages[PICTURES / "strip.svg"] = strip
    for path, pictures in (
        (FOLDER.parents[1] / "README.md", "docs/images/games"),
        (FOLDER.parent / "index.md", "images/games"),
    ):
        example = example_blocks(play_example("maze/alicia"), pictures=pictures, lines=16)
        pages[path] = partial(between, path.read_text(encoding="utf-8"), "example", example)
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
