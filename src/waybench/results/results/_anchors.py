"""Floors and ceilings of the items of a run: stored, measured on independent items, or on these items themselves."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from waybench.core import (
    LABEL,
    PREFIX,
    Environment,
    Episode,
    EpisodeRecord,
    IsomorphicSource,
    Policy,
    WaybenchError,
    evenly_spaced_values,
    is_public_key,
    play_to_end,
    policy,
)
from waybench.core._designs import SHOWN
from waybench.core._errors import reraise_as_defect
from waybench.core._items import split_isomorphic_label
from waybench.envs import registry
from waybench.results.references import Budget, measure_reference_scores, reference_setting
from waybench.results.references._measure import (
    KEY,
    LADDER_ATTEMPTS,
    MOST_CONSTANTS,
    ConstantPolicy,
    ReferenceScores,
    replies_on_oracle_path,
)
from waybench.results.references._stored import Setting, stored_scores
from waybench.results.results._groups import RunKey, is_derived_option
from waybench.results.results._rows import ReferenceBounds, Row

MOST_TURNS = 500  # an episode that may last longer is not played again
MOST_CHARACTERS = 200_000  # of a prompt; to write a longer one takes as long as many turns
MOST_ITEMS = 5_000  # about ten seconds of playing for a summary in a terminal
# Independent items that are played for a report where nothing is stored: about a second for most settings.
_BUDGET = Budget(items=50, turns=50_000)


class ReferenceLookup:
    """Finds the floors and ceilings of items; what is measured for a setting or an item serves all players.

    Args:
        plays_items: Whether items without stored scores that cannot be drawn again are played themselves.
        measures: Whether other items of the level are played where no scores are stored.
    """

    def __init__(self, *, plays_items: bool = True, measures: bool = True) -> None:
        self._plays_items, self._measures = plays_items, measures
        self._of_items: dict[str, ReferenceBounds | None] = {}
        self._of_settings: dict[str, ReferenceScores | None] = {}

    def scores(self, record: EpisodeRecord, group: RunKey) -> ReferenceScores | ReferenceBounds | None:
        """Return the reference scores of an episode's headline metric.

        They are the first available of these: what the environment knows without playing (`reference_scores`); what is
        stored for the level and the options; the scores at independent items of the same level and options, which are
        played now; and, where such items cannot be drawn, as of a user's own maps, or the oracle is not the best
        possible player at some of them, the scores at the very item. No model takes part.

        Args:
            record: The episode's record, confirmed by a new simulation.
            group: The settings of its run.

        Returns:
            The scores; None where whole episodes take too long even for tests (`Playing.check_options`), may have more
            than 500 turns or begin with more than 200,000 characters, where a record cannot be simulated again, and
            where a teacher acted.
        """
        environment = registry.load(record.env)
        if (known := known_bounds(environment, record)) is not None:
            return known
        setting = _setting_of_record(environment, record, group)
        scores = setting and self._scores_of_setting(environment, record, setting)
        if (scores is not None and scores.ceiling is not None) or not self._plays_items:
            return scores
        name = _item_name(record)
        if name not in self._of_items:
            can_play = _can_replay_item(environment, record)
            self._of_items[name] = _bounds_of_played_item(environment, record, name) if can_play else None
        return self._of_items[name]

    def _scores_of_setting(
        self, environment: Environment[Any, Any, Any], record: EpisodeRecord, setting: Setting
    ) -> ReferenceScores | None:
        """Return the stored scores of a setting, or else measure them on independent items."""
        isomorph = split_isomorphic_label(str(record.item["key"]))[1]
        if not isomorph and (stored := stored_scores(setting)) is not None:
            return stored
        if not self._measures:
            return None
        name = f"{setting.name} {isomorph}"
        if name not in self._of_settings:
            self._of_settings[name] = None
            if not _can_replay_item(environment, record):
                return None
            with suppress(WaybenchError):  # options of items that have another form in results
                plain = registry.load(setting.env)
                source = plain.source(KEY, setting.level, protocol=str(setting.played["protocol"]), **setting.drawn)
                if isomorph and plain.items.isomorph is not None:
                    source = IsomorphicSource(source, plain.items.isomorph, plain.items.prove, isomorph)
                attempts = LADDER_ATTEMPTS if environment.scoring.best_of else (1,)
                scores = [
                    measure_reference_scores(environment, source, dict(record.options), _BUDGET, count)
                    for count in attempts
                ]
                pairs = zip(attempts, scores, strict=True)
                best_random = {count: references.random for count, references in pairs if references.random}
                self._of_settings[name] = replace(scores[0], best_random=best_random, origin="measured", name=name)
        return self._of_settings[name]


def with_reference_bounds(records: Iterable[EpisodeRecord], rows: Iterable[Row]) -> list[Row]:
    """Return rows with the floors and ceilings of their items, for records that are not simulated again.

    With more than 5,000 items none of them is played, and rows of which nothing else is known are returned as they are.
    """
    pairs = list(zip(records, rows, strict=True))
    n_items = len({(record.env, record.instance_hash) for record, _ in pairs})
    references, anchored_rows = ReferenceLookup(plays_items=n_items <= MOST_ITEMS), list[Row]()
    for record, row in pairs:
        anchors = None
        if row.is_included:
            with suppress(WaybenchError), reraise_as_defect(record.env):  # a record may have been edited
                anchors = references.scores(record, row.group)
        anchored_rows.append(replace(row, anchors=anchors))
    return anchored_rows


def _setting_of_record(environment: Environment[Any, Any, Any], record: EpisodeRecord, group: RunKey) -> Setting | None:
    """Return the setting of a record for its reference scores; None unless its item was drawn by key."""
    label, _ = split_isomorphic_label(str(record.item["key"]))
    is_drawn = is_public_key(label, environment.items.public_key) or LABEL.fullmatch(label) is not None
    options = dict(group.options)
    if not is_drawn or options.get(SHOWN[0]) or PREFIX in record.options or any(map(is_derived_option, record.options)):
        return None
    return reference_setting(environment, record.item["level"], record.options, options)


def _can_replay_item(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> bool:
    """Return whether a record's item can be played again here, without a teacher and within limits of size."""
    playing = environment.playing
    if playing.check_options or (playing.not_replayable is not None and playing.not_replayable(record)):
        return False
    episode = Episode(environment, environment.item(record.instance), dict(record.options))
    characters = sum(len(message.text) for message in episode.messages)
    return episode.play.guide is None and episode.limits.turns <= MOST_TURNS and characters <= MOST_CHARACTERS


def _bounds_of_played_item(
    environment: Environment[Any, Any, Any], record: EpisodeRecord, name: str
) -> ReferenceBounds:
    """Return floor and ceiling of a record's item from playing it without a model."""
    item, options, headline = environment.item(record.instance), dict(record.options), environment.scoring.metrics[0]
    replies = list(dict.fromkeys(replies_on_oracle_path(environment, item, options)))

    def score(player: Policy, attempt: int = 1) -> float | None:
        """Return the headline metric of a player's attempt at the item."""
        return headline.of(play_to_end(environment, item, player, options, attempt=attempt).record())

    values = {text: score(ConstantPolicy(text)) for text in evenly_spaced_values(replies, MOST_CONSTANTS)}
    oracle_record = play_to_end(environment, item, policy("oracle"), options).record()
    is_ceiling = environment.players.oracle_is_ceiling is None or environment.players.oracle_is_ceiling(oracle_record)
    attempts = range(1, (LADDER_ATTEMPTS[-1] if environment.scoring.best_of else 1) + 1)
    return ReferenceBounds(
        nothing=score(policy("null")),
        constants={text: value for text, value in values.items() if value is not None},
        ceiling=headline.of(oracle_record) if is_ceiling else None,
        name=name,
        random=tuple(number for attempt in attempts if (number := score(policy("random"), attempt)) is not None),
        was_played=True,
    )


def known_bounds(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> ReferenceBounds | None:
    """Return floor and ceiling of a record's item that its environment knows without playing; None if it does not.

    They are for whole episodes, so none are known for an episode with a prefix.
    """
    reference_scores = None if PREFIX in record.options else environment.scoring.reference_scores
    scores = None if reference_scores is None else reference_scores(record)
    return None if scores is None else ReferenceBounds(*scores, name=_item_name(record))


def _item_name(record: EpisodeRecord) -> str:
    """Return a name of an item with its options of play."""
    options = json.dumps(dict(record.options), sort_keys=True, default=str)
    return f"{record.env} {options} {record.instance_hash}"
