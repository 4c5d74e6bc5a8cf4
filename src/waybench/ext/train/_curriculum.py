"""Levels for training that are neither too easy nor too hard for the model as it is now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from waybench.core import Environment, EpisodeRecord, Json, UsageError, is_array, is_object
from waybench.envs import registry
from waybench.ext.train._session import Session
from waybench.results.stats import FIXED_DESIGN, Fit
from waybench.results.stats._curves import Curves, Trials

_FORMAT = 1
# The curves of a player that errs at a rate in each step. Difficulty is a level's index among the levels, from 0.
_SHAPE = replace(FIXED_DESIGN, links=("gumbel",), log=False)


@dataclass(frozen=True, slots=True)
class NextItem:
    """The next item to train on: its level, and its number, from 0, in the level's set and split."""

    level: int
    index: int


class Curriculum:
    """Chooses the level of each episode so that a model in training keeps succeeding at a given rate.

    The next level is the one whose predicted success rate is nearest to the rate. The prediction is the posterior mean
    of the curves that searches for a horizon use, over the levels in their order. A model changes while it learns, so
    outcomes are forgotten: the weight of one halves with every `half_life` outcomes that follow it.

    Success is what counts for horizons (`Difficulty.is_success`): solved, and competently where the environment says
    what that is. An episode that the training program cut off is none.

    Args:
        env: The environment, or its id in the catalogue.
        rate: The rate of success, between 0 and 1.
        half_life: Number of outcomes after which one counts half. A longer one predicts more exactly, but is later to
            see what the model has learned.
        levels: The levels, easiest first; by default those of the environment's horizon, or else its sample levels.
        **settings: The other settings of `Session`: key, split, source options, shaping and options of play.

    Raises:
        UsageError: For a wrong rate, half-life, level or setting, and if a level has no items of the split.
    """

    def __init__(
        self,
        env: str | Environment[Any, Any, Any],
        *,
        rate: float = 0.5,
        half_life: float = 100.0,
        levels: Sequence[int] | None = None,
        **settings: Any,
    ) -> None:
        self.environment = registry.load(env) if isinstance(env, str) else env
        if not 0 < rate < 1:
            raise UsageError(f"rate={rate}: give a rate between 0 and 1")
        if not 1 <= half_life < float("inf"):
            raise UsageError(f"half_life={half_life}: give a number of outcomes, 1 or more")
        if forbidden_settings := sorted(settings.keys() & {"level", "source"}):
            raise UsageError(f"{forbidden_settings[0]}: a curriculum chooses the level; give the levels as levels=...")
        horizon = self.environment.difficulty.horizon
        if levels is None and horizon is not None:
            settings["source_options"] = {**horizon.source_options, **(settings.get("source_options") or {})}
        if levels is None:
            levels = self.environment.items.sample_levels if horizon is None else horizon.levels
        self.rate, self.half_life, self.levels = float(rate), float(half_life), tuple(levels)
        if len(self.levels) < 2 or len({*self.levels}) < len(self.levels):
            raise UsageError(
                f"levels={list(self.levels)}: a curriculum chooses from at least two different levels: give levels=..."
            )
        self._settings = settings
        for level in self.levels:  # errors are raised before the training, not when it first comes to a level
            Session(**self.settings(level)).source.item(0)
        self._difficulties = np.arange(len(self.levels), dtype=np.float64)
        self._curves = Curves(_SHAPE, 0.0, len(self.levels) - 1.0)
        self._solved, self._trials = np.zeros((2, len(self.levels)))
        self._used = dict.fromkeys(self.levels, 0)
        self._rates: dict[int, float] | None = None

    def rates(self) -> dict[int, float]:
        """Return the predicted success rate of each level."""
        if self._rates is None:
            has_trials = self._trials > 0
            trials = Trials(self._difficulties[has_trials], self._solved[has_trials], self._trials[has_trials])
            predicted_rates = Fit(self._curves, trials).expected_rates(self._difficulties)
            self._rates = dict(zip(self.levels, predicted_rates.tolist(), strict=True))
        return self._rates

    def level(self) -> int:
        """Return the level whose predicted success rate is nearest to the wanted rate; the easier of two."""
        rates = self.rates()
        return min(self.levels, key=lambda level: abs(rates[level] - self.rate))

    def next(self) -> NextItem:
        """Choose a level, and return its first item that was not chosen before."""
        level = self.level()
        self._used[level] += 1
        return NextItem(level, self._used[level] - 1)

    def settings(self, level: int) -> dict[str, Any]:
        """Return the arguments of `Session` for a level."""
        return {"env": self.environment, "level": level, **self._settings}

    def start(self, attempt: int = 1) -> Session:
        """Return a session that has started an episode on the next item; `attempt` counts from 1."""
        next_item = self.next()
        session = Session(**self.settings(next_item.level))
        session.start(next_item.index, attempt)
        return session

    def add(self, record: EpisodeRecord) -> None:
        """Update the success rates with a finished episode; raise a UsageError for another environment or level."""
        if record.env != self.environment.id:
            raise UsageError(f"an episode of {record.env}: this curriculum is for {self.environment.id}")
        self.update(int(record.item["level"]), self.environment.difficulty.is_success(record))

    def update(self, level: int, solved: bool) -> None:
        """Update the success rates with an outcome at a level; raise a UsageError for a level that is not its own."""
        if level not in self._used:
            raise UsageError(f"level={level}: the levels are {', '.join(map(str, self.levels))}")
        index = self.levels.index(level)
        decay = 0.5 ** (1 / self.half_life)
        self._solved *= decay
        self._trials *= decay
        self._solved[index] += bool(solved)
        self._trials[index] += 1
        self._rates = None

    def to_json(self) -> dict[str, Json]:
        """Return the state of the curriculum as JSON, for `from_json`."""
        return {
            "format": _FORMAT,
            "env": self.environment.id,
            "rate": self.rate,
            "half_life": self.half_life,
            "settings": self._settings,
            "levels": [
                {"level": level, "solved": solved, "trials": trials, "next": self._used[level]}
                for level, solved, trials in zip(self.levels, self._solved.tolist(), self._trials.tolist(), strict=True)
            ],
        }

    @classmethod
    def from_json(cls, data: Json, env: Environment[Any, Any, Any] | None = None) -> "Curriculum":
        """Return the curriculum whose state `to_json` returned.

        `env` is the environment, if it is not in the catalogue.

        Raises:
            UsageError: If it is no description of a curriculum, or of one for another environment.
        """
        try:
            rows = _checked_level_rows(data)
            levels = [_checked_whole_number(row["level"]) for row in rows]
            curriculum = cls(
                env or str(data["env"]),
                rate=data["rate"],
                half_life=data["half_life"],
                levels=levels,
                **data["settings"],
            )
            for index, row in enumerate(rows):
                solved, trials = float(row["solved"]), float(row["trials"])
                if not 0 <= solved <= trials < float("inf"):
                    raise ValueError(f"{solved} of {trials} cannot be")
                curriculum._used[levels[index]] = _checked_whole_number(row["next"])
                curriculum._solved[index], curriculum._trials[index] = solved, trials
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"no state of a curriculum: {type(error).__name__}: {str(error)[:100]}") from None
        if curriculum.environment.id != data["env"]:
            raise UsageError(f"the state is of {data['env']}, not of {curriculum.environment.id}")
        return curriculum


def _checked_level_rows(data: Json) -> list[Mapping[str, Any]]:
    """Return the rows of levels in the state of a curriculum; raise a ValueError for another format."""
    if not is_object(data) or data.get("format") != _FORMAT:
        raise ValueError(f"the format is not {_FORMAT}")
    rows: Any = data["levels"]
    if not is_array(rows) or not all(is_object(row) for row in rows) or not is_object(data["settings"]):
        raise ValueError("levels or settings are missing")
    return rows


def _checked_whole_number(value: Any) -> int:
    """Return a value if it is a whole number from 0; raise a ValueError otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no whole number from 0")
    return value
