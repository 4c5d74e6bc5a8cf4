"""Pages to follow an episode step by step, which episodes have one, and commands that reproduce it."""

import base64
import json
import re
import shlex
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from markupsafe import Markup

from waybench.core import PREFIX, Instance, Json, TurnRecord
from waybench.core._prefix import RECORDED
from waybench.core._presentation import DrawFrames
from waybench.envs import registry
from waybench.results import Row
from waybench.results.papers import parameter_text
from waybench.results.results import RunKey, environment_options, group_by

MOST_FRAMES = 240  # of a page; of longer episodes, some turns are not drawn
_PIECES = re.compile(r"[^<]*<[^<]*")  # an element's tag with what follows it


@dataclass(frozen=True, slots=True)
class Frames:
    """Drawings of an episode from its start to its end.

    Attributes:
        values: All drawings for the page's script: `pieces` has each part of a drawing once, each of `frames` lists the
            numbers of its parts (`_encode_runs`), `turns` has for each frame the number of turns before it, and `moves`
            the number of steps in which its last turn is shown.
        stride: Number of turns from one drawing to the next; the last turn is always drawn.
    """

    last: Markup
    values: Mapping[str, Any]
    stride: int


def draw_replay_frames(draw_frames: DrawFrames, instance: Instance, turns: Sequence[TurnRecord]) -> Frames:
    """Draw an episode after each of its confirmed turns, or after every few turns to have at most `MOST_FRAMES`."""
    stride = -(-len(turns) // (MOST_FRAMES - 1)) or 1  # rounded up
    turn_counts = sorted({*range(0, len(turns) + 1, stride), len(turns)})
    drawings = list(draw_frames(instance, turns, turn_counts))
    numbers: dict[str, int] = {}  # of the pieces, most of which are in several drawings
    frames = [_encode_runs(_PIECES.findall(svg), numbers) for svg in drawings]
    # Moves of the last turn that are shown one by one (see `waybench._svg.walk`).
    walks = (
        re.search(rf'data-walk="{count}" data-moves="(\d+)"', svg)
        for count, svg in zip(turn_counts, drawings, strict=True)
    )
    moves = [int(walk[1]) if walk else 1 for walk in walks]
    values = {"pieces": list(numbers), "frames": frames, "turns": turn_counts, "moves": moves}
    return Frames(Markup(drawings[-1]), values, stride)


def pack_json(values: Mapping[str, Any]) -> str:
    """Return values for a page's script as compressed JSON in base64.

    Drawings and messages of a replay repeat each other: compressed, they have a tenth of the size.
    """
    data = json.dumps(values, separators=(",", ":")).encode("ascii")
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def _encode_runs(pieces: Iterable[str], numbers: dict[str, int]) -> list[int]:
    """Return the numbers of pieces; after the first of consecutive numbers, -n stands for the n numbers that follow.

    `numbers` has the number of each piece; new pieces are added.
    """
    encoded: list[int] = []
    positions = enumerate(numbers.setdefault(piece, len(numbers)) for piece in pieces)
    # In a run of consecutive numbers, number and position differ by the same amount.
    for _, run in groupby(positions, key=lambda pair: pair[1] - pair[0]):
        (_, first), *others = run
        encoded += [first, -len(others)] if others else [first]
    return encoded


def steps_without_drawings(turns: Sequence[TurnRecord]) -> Frames:
    """Return frames without drawings, one for each step: the page shows the messages to the player instead."""
    counts = list(range(len(turns) + 1))
    return Frames(Markup(), {"pieces": [], "frames": [], "turns": counts, "moves": [1] * len(counts)}, 1)


def replay_file_name(results_page: str, number: int) -> str:
    """Return the file name of a replay, from that of its group's results page and the episode's number in the group."""
    return f"{results_page.removesuffix('.html')}-{number}.html"


MOST_OF_ALL = 1_000  # episodes, up to which each has a page by default
# Pages of a group's replays in a larger report: the most of these that keep it below `MOST_OF_ALL` pages.
MOST_OF_GROUP = 20, 10, 5, 2, 1
LATER = "index.html"  # the page in `replays` that says how to make the replays that are left out


class Replays(NamedTuple):
    """Which replays are wanted.

    Attributes:
        most: Most replays of each group; None for `MOST_OF_GROUP`, or for all replays if there are at most
            `MOST_OF_ALL` episodes.
        also: File names of further replays that are wanted.
    """

    most: int | None = None
    everything: bool = False
    also: frozenset[str] = frozenset()


BY_DEFAULT = Replays()


class ChosenReplays:
    """The pages of a report's replays: their names, and which of them are written.

    `numbers` are those of the rows in their groups, and `pages` has the file name of each group's results page.
    """

    def __init__(
        self, rows: Sequence[Row], numbers: Sequence[int], pages: Mapping[RunKey, str], wanted: Replays
    ) -> None:
        self._pages = pages
        self._left_out: set[str] = set()
        if wanted.everything or (wanted.most is None and len(rows) <= MOST_OF_ALL):
            return
        most = wanted.most
        if most is None:
            share = MOST_OF_ALL // max(len(pages), 1)
            most = next((most for most in MOST_OF_GROUP if most <= share), MOST_OF_GROUP[-1])
        by_group = group_by(zip(rows, numbers, strict=True), lambda pair: pair[0].group)
        for group, pairs in by_group.items():
            # Over all levels and items, first attempts before others.
            names = [replay_file_name(pages[group], number) for _, number in sorted(pairs, key=_replay_sort_key)]
            self._left_out.update(set(names) - set(_evenly_spaced(names, most)) - wanted.also)

    @property
    def is_complete(self) -> bool:
        """Whether each replay has a page."""
        return not self._left_out

    def is_written(self, group: RunKey, number: int) -> bool:
        """Return whether the replay of an episode, by its number in its group, has a page."""
        return replay_file_name(self._pages[group], number) not in self._left_out

    def link(self, group: RunKey, number: int) -> str:
        """Return the address of a replay's page among replays, or of the page that says how to make it."""
        name = replay_file_name(self._pages[group], number)
        return f"{LATER}?{name}" if name in self._left_out else name


def _replay_sort_key(row_and_number: tuple[Row, int]) -> tuple[int, int, int, str, int]:
    row, number = row_and_number
    return row.attempt, row.level, row.index, row.item, number


def _evenly_spaced(names: Sequence[str], most: int) -> Iterable[str]:
    """Return at most `most` names at equal distances, with the first and the last."""
    if len(names) <= most or most < 1:
        return names[:most]
    return [names[number * (len(names) - 1) // max(most - 1, 1)] for number in range(most)]


def play_command(row: Row) -> str:
    """Return the command with which a person plays an episode's item."""
    group = row.group
    options = dict(group.options)
    parts = ["waybench", "play", group.env, "--level", str(row.level), "--index", str(row.index)]
    if group.key != registry.load(group.env).items.public_key:
        parts += ["--key", parameter_text(group.key)]
    defaults: dict[str, Json] = {option.name: option.default for option in environment_options(group.env)}
    for name, value in options.items():
        if name in defaults and value not in (defaults[name], None):
            parts += ["-T", f"{name}={parameter_text(value)}"]
    prefix = options.get(PREFIX)
    if isinstance(prefix, str) and not prefix.startswith(
        RECORDED
    ):  # a recorded prefix is a file that is not known here
        parts += ["-T", f"{PREFIX}={prefix}"]
    return shlex.join(parts)


def view_command(row: Row) -> str:
    """Return the command that opens the folder of an episode's log in Inspect's viewer; "" without a log of Inspect."""
    path = PurePosixPath(row.log.replace("\\", "/"))
    if path.suffix not in (".eval", ".json"):
        return ""
    return shlex.join(["inspect", "view", "--log-dir", path.parent.name or "."])
