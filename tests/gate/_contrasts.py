"""How often Atlas's contrasts show the deficit of a reference player, and how often they show what it does not lack."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.gate._rate import Rate
from waybench.core import End, Item, play_to_end, policy
from waybench.envs import registry
from waybench.envs.atlas._generate import LADDER
from waybench.envs.atlas._players import ABILITIES
from waybench.results.stats._contributions import Difference
from waybench.results.stats._verdicts import adjust_p_values

WORLD = registry.load("atlas/world")
_ITEMS = 10  # of each level, as `atlas` has them
_LEAST = 0.1  # as in the specification: a smaller cost is not looked for
Success = NDArray[np.float64]


def _items(worlds: int) -> list[Item[Any]]:
    return [WORLD.source("contrasts", level).item(index) for level in LADDER for index in range(worlds)]


def _solved(player: str, items: Sequence[Item[Any]]) -> dict[str, Success]:
    """Return for each condition of a contrast which items a player solves: 1 or 0."""
    contrasts = WORLD.scoring.contrasts
    conditions = sorted({value for contrast in contrasts for value in (contrast.base, contrast.demanding)})
    return {
        condition: np.array(
            [
                play_to_end(WORLD, item, policy(player), {"condition": condition}).end_reason is End.SOLVED
                for item in items
            ],
            dtype=np.float64,
        )
        for condition in conditions
    }


def variance_ratios(worlds: int, players: tuple[str, ...] = tuple(ABILITIES)) -> Iterator[tuple[str, list[float]]]:
    """Yield player, and for each contrast the variance of paired differences over that of unpaired ones.

    Both are within levels. 1 says that pairing gains nothing. Contrasts in which neither condition varies are left out.

    Args:
        worlds: Number of worlds that are played at each level.
        players: The reference players.
    """
    items = _items(worlds)

    def variance(values: Success) -> float:
        return float(values.reshape(len(LADDER), worlds).var(axis=1, ddof=1).sum())

    for player in players:
        solved = _solved(player, items)
        pairs = [(solved[contrast.base], solved[contrast.demanding]) for contrast in WORLD.scoring.contrasts]
        yield (
            player,
            [
                variance(base - demanding) / unpaired
                for base, demanding in pairs
                if (unpaired := variance(base) + variance(demanding)) > 0
            ],
        )


def shown_costs(
    samples: int, worlds: int = 30, players: tuple[str, ...] = tuple(ABILITIES)
) -> Iterator[tuple[str, float, Rate]]:
    """Yield player and contrast, the cost over all worlds, and in how many samples a cost of 10 points is shown.

    A sample draws as many worlds of each level as `atlas` has, with replacement, from those that were played; tests are
    those of the report: paired, adjusted over the contrasts of the player.

    Args:
        samples: Number of samples.
        worlds: Number of worlds that are played at each level.
        players: The reference players.
    """
    items = _items(worlds)
    contrasts = WORLD.scoring.contrasts
    rng = np.random.default_rng(1)
    draws = [
        np.concatenate([first + rng.integers(0, worlds, _ITEMS) for first in range(0, len(items), worlds)])
        for _ in range(samples)
    ]
    for player in players:
        solved = _solved(player, items)
        hits = [0] * len(contrasts)
        for drawn in draws:
            pairs = [
                Difference.from_values(
                    solved[contrast.base][drawn].tolist(),
                    solved[contrast.demanding][drawn].tolist(),
                    drawn.tolist(),
                    0,
                    1,
                )
                for contrast in contrasts
            ]
            for number, adjusted in enumerate(adjust_p_values([pair.test for pair in pairs])):
                hits[number] += adjusted.p is not None and adjusted.p < 0.05 and pairs[number].value >= _LEAST
        for contrast, count in zip(contrasts, hits, strict=True):
            cost = float(solved[contrast.base].mean() - solved[contrast.demanding].mean())
            yield f"{player}: {contrast.base} - {contrast.demanding}", cost, Rate(count, samples)
