"""Scripted players at real items: records are played and measured once, rows are those of as many models as wanted.

A row depends on the model by its group alone, so a simulated model is a choice among measured rows
(`test_whole_path.py` checks that they are the rows of its records).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import waybench
from tests.analysis.episodes import detour
from waybench.core import EpisodeRecord, Item, play_to_end, policy
from waybench.results import LoggedEpisode, Row
from waybench.results.logs import Skipped
from waybench.results.results._measured_row import verify_episodes

Choices = NDArray[np.intp]
WORST_AND_BEST = ("null", "oracle")
_MODEL = "vendor/model"


@dataclass(frozen=True)
class Bank:
    """Measured rows of one task with one set of options.

    Attributes:
        episodes: For every item the episodes of one model, from the worst to the best score.
        rows: Their rows, with floors and ceilings.
    """

    episodes: tuple[tuple[LoggedEpisode, ...], ...]
    rows: tuple[tuple[Row, ...], ...]
    _by_model: dict[str, list[list[Row]]] = field(default_factory=dict[str, list[list[Row]]])

    @classmethod
    def measured(cls, task: str, records: Iterable[Sequence[EpisodeRecord]]) -> "Bank":
        """Return the bank of some records, item by item, each simulated again as for a report."""
        episodes = tuple(tuple(LoggedEpisode(_MODEL, task, record) for record in of_item) for of_item in records)
        results = verify_episodes((episode for of_item in episodes for episode in of_item), {}, _fail)
        return cls(episodes, tuple(tuple(next(results).row for _ in of_item) for of_item in episodes))

    @cached_property
    def scores(self) -> list[list[float]]:
        """The headline metric of the rows, item by item."""
        name = self.rows[0][0].group.environment.scoring.metrics[0].name
        return [[row.metrics[name] or 0.0 for row in of_item] for of_item in self.rows]

    @cached_property
    def clusters(self) -> list[int]:
        """The number of the cluster of every item, such as its map."""
        numbers: dict[Any, int] = {}
        return [numbers.setdefault(of_item[0].cluster, len(numbers)) for of_item in self.rows]

    def rows_of(self, model: str, choices: Iterable[int], items: Iterable[int] | None = None) -> list[Row]:
        """Return the rows of a simulated model.

        Args:
            model: Its name.
            choices: Which of the measured rows it has, for every item.
            items: The items; by default all.
        """
        if model not in self._by_model:
            group = replace(self.rows[0][0].group, model=model)
            self._by_model[model] = [[replace(row, group=group) for row in of_item] for of_item in self.rows]
        rows = self._by_model[model]
        return [rows[item][choice] for item, choice in zip(items or range(len(rows)), choices, strict=True)]

    def episodes_of(self, model: str, choices: Iterable[int]) -> list[LoggedEpisode]:
        """Return the episodes of a simulated model."""
        pairs = zip(self.episodes, choices, strict=True)
        return [replace(of_item[choice], model=model) for of_item, choice in pairs]


def _fail(problem: Skipped) -> None:
    raise AssertionError(str(problem))


@cache
def bank(
    env_id: str,
    level: int,
    count: int,
    players: tuple[str, ...] = WORST_AND_BEST,
    options: tuple[tuple[str, Any], ...] = (),
    first: int = 0,
) -> Bank:
    """Return the bank of public items of an environment.

    Args:
        env_id: The environment.
        level: The items' level.
        count: The number of items.
        players: The embedded players whose replies can be chosen, from the worst to the best.
        options: Options of play.
        first: The number of the first item.
    """
    return _played(env_id, level, range(first, first + count), lambda item: players, dict(options))


@cache
def map_bank(env_id: str, maps: int, questions: int, wording: str = "chat") -> Bank:
    """Return the bank of questions about public maps, which the tasks of text maps have in common."""
    drawn = 10  # the questions that the source draws about a map
    items = [drawn * place + question for place in range(maps) for question in range(questions)]
    return _played(env_id, 2, items, lambda item: WORST_AND_BEST, {"wording": wording})


@cache
def graded_bank(level: int, count: int) -> Bank:
    """Return a bank of mazes, each solved with ever fewer steps too many, so that scores are finely graded."""
    source = waybench.load("maze/alicia").source(level=level)
    return Bank.measured("maze", [_detours(source.item(number)) for number in range(count)])


def _detours(item: Item[Any]) -> list[EpisodeRecord]:
    shortest = sum(int(cells) for _, cells in item.proof["solution"])
    return [detour(item, extra) for extra in range(shortest - shortest % 2, -1, -2)]


def _played(
    env_id: str,
    level: int,
    numbers: Iterable[int],
    players: Callable[[Item[Any]], Sequence[str]],
    options: Mapping[str, Any],
) -> Bank:
    environment = waybench.load(env_id)
    source = environment.source(level=level)
    items = [source.item(number) for number in numbers]
    return Bank.measured(
        env_id,
        [
            [play_to_end(environment, item, policy(player), dict(options)).record() for player in players(item)]
            for item in items
        ],
    )


def nearest(bank: Bank, wanted: NDArray[np.float64], rng: np.random.Generator) -> list[int]:
    """Return for every item the choice with a wanted score, between two scores by chance, so that its mean is right."""
    choices: list[int] = []
    for scores, value in zip(bank.scores, wanted.tolist(), strict=True):
        above = min(max(bisect_left(scores, value), 1), len(scores) - 1)
        low, high = scores[above - 1], scores[above]
        choices.append(above - int(rng.random() > (value - low) / (high - low)))
    return choices
