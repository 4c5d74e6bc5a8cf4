"""An example of each environment: its picture, one prompt, one reply and the verdict; and the page that has them all.

The pictures are the environments' own drawings (`Presentation.draw_frames`), put on a white card that can be read on
light and on dark pages.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from waybench.core import Environment, Episode, EpisodeRecord, policy
from waybench.envs import registry

AnyEnvironment = Environment[Any, Any, Any]
PICTURES = Path(__file__).parent / "images" / "games"
CARD = 300  # the width and at most the height of a drawing, in pixels
MARGIN = 10
MOST_TURNS = 12
MOST_CHARACTERS = 300  # of a line

# The games on the first page: environment, and a level at which something can be seen to happen.
STRIP = (
    ("maze/alicia", 15),
    ("maze/explore", 7),
    ("textmap/route", 3),
    ("search/dfs", 8),
    ("tilemap/gtb", 2),
    ("sokoban/rooms", 6),
)
SECONDS = 9  # in which the games of the first page are played, and begin again


@dataclass(frozen=True, slots=True)
class Example:
    """The oracle's first turns at one item.

    Attributes:
        environment: The environment.
        episode: The episode so far.
        prompt: What the player read first.
    """

    environment: AnyEnvironment
    episode: Episode[Any, Any, Any]
    prompt: str

    @property
    def shown(self) -> int:
        """The number of the first turn with an action: some environments let the player think first ("...")."""
        return next(number for number, turn in enumerate(self.episode.turns) if re.search(r"\w", turn.reply))

    @property
    def record(self) -> EpisodeRecord:
        """The episode's record."""
        return self.episode.record()

    def frames(self) -> list[str]:
        """Return its drawings, before and after each turn; none where the environment has no drawing."""
        draw = self.environment.presentation.draw_frames
        turns = self.record.turns
        return [] if draw is None else list(draw(self.episode.item.instance, turns, range(len(turns) + 1)))


@lru_cache
def play_example(env_id: str, level: int | None = None, most: int = MOST_TURNS) -> Example:
    """Play an environment's example: the first public item of its second sample level, or of its only one.

    Args:
        env_id: The environment's id.
        level: Another level.
        most: How many turns are played at most.
    """
    environment = registry.load(env_id)
    item = environment.source(level=level or environment.items.sample_levels[:2][-1]).item(0)
    oracle = policy("oracle")
    episode = Episode(environment, item, player=oracle.name)
    prompt = "\n\n".join(message.text for message in episode.messages)
    while not episode.done and len(episode.turns) < most:
        episode.step(oracle.reply(episode))
    return Example(environment, episode, prompt)


def excerpt(text: str, most: int, characters: int = MOST_CHARACTERS) -> str:
    """Return the first and the last lines of a text, each of them cut at a number of characters."""
    lines = [line if len(line) <= characters else f"{line[:characters]} ..." for line in text.split("\n")]
    if len(lines) > most:
        left_out = len(lines) - most + 1
        lines = [*lines[: most // 2], f"[... {left_out} more lines ...]", *lines[left_out + most // 2 :]]
    return "\n".join(lines)


def example_blocks(example: Example, *, pictures: str, lines: int) -> str:
    """Return an example as Markdown.

    Args:
        example: The example.
        pictures: The path of the pictures' folder from the page.
        lines: How many lines of a prompt are shown.
    """
    environment, turns = example.environment, example.record.turns
    prompt = "\n\n".join([example.prompt, *(turn.message for turn in turns[: example.shown])])
    parts = [
        f"![{environment.title}: {_label(example)}]({pictures}/{file_name(environment.id)})"
        if example.frames()
        else "",
        f"Prompt:\n\n{_fenced(excerpt(prompt, lines))}",
        f"Reply:\n\n{_fenced(excerpt(turns[example.shown].reply, 6))}",
        f"Verdict: {_verdict(example)}",
    ]
    return "\n\n".join(part for part in parts if part)


def _verdict(example: Example) -> str:
    """Return what the environment says of the first reply, and of the episode if that came to its end."""
    record, (metric, *_) = example.record, example.environment.scoring.metrics
    verdict = f"*{record.turns[example.shown].outcome}*"
    if record.end is None:
        return f"{verdict}, and the episode goes on; the picture is of turn {len(record.turns)}."
    value = example.environment.measure(record)[metric.name]
    score = "" if value is None else f", `{metric.name}` {value:.4g}{metric.unit and f' {metric.unit}'}"
    turns = "this turn" if len(record.turns) == 1 else f"{len(record.turns)} turns"
    return f"{verdict}; after {turns} the episode is *{record.end}*{score}."


def _fenced(text: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}text\n{text.strip(chr(10))}\n{fence}"


def _label(example: Example) -> str:
    return re.sub(r"[\[\]]", "", ElementTree.fromstring(example.frames()[-1]).get("aria-label", ""))


def file_name(env_id: str) -> str:
    """Return the name of the file of an environment's picture."""
    return env_id.replace("/", "-") + ".svg"


def picture(example: Example) -> str:
    """Return the drawing of an example's end as a file of its own."""
    *_, last = example.frames()
    card, (width, height) = _card([last])
    return _document(width, height, card)


def strip() -> str:
    """Return the games of the first page as one picture, in which they are played.

    Where motion is not wanted, it shows their ends.
    """
    columns, title_height = 3, 30
    size = CARD + 2 * MARGIN
    cards: list[str] = []
    styles: list[str] = []
    for number, (env_id, level) in enumerate(STRIP):
        example = play_example(env_id, level, 40)
        frames = example.frames()
        card, _ = _card(frames, prefix=f"g{number}f", square=True)
        x, y = (number % columns) * (size + MARGIN), (number // columns) * (size + title_height + MARGIN)
        title = escape(re.sub(r" \(.*", "", example.environment.title))
        cards.append(
            f'<g transform="translate({x} {y})"><rect width="{size}" height="{size + title_height}" rx="8" '
            f'fill="#fff"/>{card}<text x="{size / 2:g}" y="{size + 12}" text-anchor="middle" font-size="20" '
            f'fill="#333" font-family="sans-serif">{title}</text></g>'
        )
        styles += _animation(f"g{number}f", len(frames))
    rows = -(-len(STRIP) // columns)
    width, height = columns * (size + MARGIN) - MARGIN, rows * (size + title_height + MARGIN) - MARGIN
    style = (
        "<style>.f{visibility:hidden}.l{visibility:visible}"
        f"@media (prefers-reduced-motion:no-preference){{{''.join(styles)}}}</style>"
    )
    return _document(width, height, style + "".join(cards))


def _animation(prefix: str, frames: int) -> Iterator[str]:
    """Yield the style sheet that shows frames one after the other; the last one stays for a fifth of the time.

    A single plan (two frames) is drawn move by move.
    """
    share = 80 / (frames - 1)
    for number in range(frames):
        start, end = number * share, 100 if number == frames - 1 else (number + 1) * share
        if frames == 2:
            start, end = (0, 0.1) if number == 0 else (0.1, 100)
        name = f"{prefix}{number}"
        before = f"0%,{start:.2f}%{{visibility:hidden}}" if start else ""
        after = f"{end + 0.01:.2f}%,100%{{visibility:hidden}}" if end < 100 else ""
        shown = f"{start + 0.01 if start else 0:.2f}%,{end:.2f}%{{visibility:visible}}"
        yield f"@keyframes {name}{{{before}{shown}{after}}}.{name}{{animation:{name} {SECONDS}s step-end infinite}}"
    if frames == 2:
        yield (
            f"@keyframes {prefix}{{0%{{stroke-dashoffset:1}}80%,100%{{stroke-dashoffset:0}}}}"
            f".{prefix}1 [data-walk] path{{stroke-dasharray:1;animation:{prefix} {SECONDS}s linear infinite}}"
        )


def _card(frames: Sequence[str], *, prefix: str = "", square: bool = False) -> tuple[str, tuple[float, float]]:
    """Return drawings of the same size, one above the other, on a card, and the card's size."""
    roots = [ElementTree.fromstring(frame) for frame in frames]
    x, y, width, height = map(float, roots[-1].get("viewBox", "").split())
    scale = CARD / max(width, height)
    across, down = (CARD, CARD) if square else (max(width * scale, CARD / 2), height * scale)
    parts = [[ElementTree.tostring(child, encoding="unicode") for child in root] for root in roots]
    # What all frames begin with, such as a map, is there once.
    shared = [same[0] for same in takewhile(lambda same: len({*same}) == 1, zip(*parts, strict=False))]
    shown = parts[-1] if len(frames) == 1 else [*shared, *_groups(parts, len(shared), prefix)]
    drawing = (
        f'<svg x="{MARGIN}" y="{MARGIN}" width="{across:g}" height="{down:g}" '
        f'viewBox="{x:g} {y:g} {width:g} {height:g}" font-family="sans-serif">{"".join(shown)}</svg>'
    )
    size = across + 2 * MARGIN, down + 2 * MARGIN
    if prefix:
        return drawing, size
    return f'<rect width="{size[0]:g}" height="{size[1]:g}" rx="8" fill="#fff"/>{drawing}', size


def _groups(parts: Iterable[Sequence[str]], shared: int, prefix: str) -> Iterator[str]:
    groups = [("".join(part[shared:])) for part in parts]
    for number, group in enumerate(groups):
        group = re.sub(
            r"(<g data-walk[^>]*>.*?</g>)", lambda walk: walk[1].replace("<path ", '<path pathLength="1" '), group
        )
        last = " l" if number == len(groups) - 1 else ""
        yield f'<g class="f{last} {prefix}{number}">{group}</g>'


def _document(width: float, height: float, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" color="#222">{content}</svg>\n'
    )


def ids() -> list[str]:
    """Return the ids of waybench's own environments."""
    return [entry.id for entry in registry.entries if entry.target.startswith("waybench.")]


def gallery_page(pages: Iterable[Path]) -> str:
    """Return the list of the environments' pages, with the example of each."""
    parts = [
        "# Environments",
        "What a player reads, what it replies, and what the environment says. Here the player is the oracle, which "
        "knows the answer. Each name leads to the rules, options, metrics and whole prompts. "
        "[Choose a task](../tasks.md) lists the tasks that play them. An environment is the same in `waybench run`, "
        "`play`, `generate` and `score`, in Python, and in Gymnasium.",
    ]
    for env_id in ids():
        example = play_example(env_id)
        summary = next(entry.summary for entry in registry.entries if entry.id == env_id)
        parts.append(
            f"## [{example.environment.title}]({env_id.replace('/', '-')}.md)\n\n`{env_id}`: {summary}.\n\n"
            + example_blocks(example, pictures="../images/games", lines=10)
        )
    names = "\n".join(path.stem for path in pages)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"
