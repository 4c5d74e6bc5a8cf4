"""The row of an episode, simulations of records, and the rows that never count."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from waybench.core import (
    DIFFICULTY_INDEX,
    OPTION_AXES,
    WORDING,
    Axis,
    DataError,
    DefectError,
    End,
    Environment,
    Episode,
    EpisodeRecord,
    ItemIndex,
    Json,
    LiveError,
    Outcome,
    Price,
    TurnRecord,
    WaybenchError,
    replay,
    turns_without_prefix,
)
from waybench.core._designs import is_stream_design, ladder_levels, stream_position
from waybench.core._environment import index_of_search
from waybench.core._errors import defect_or_same_error
from waybench.core._extensions import wording_name_with_options
from waybench.core._items import split_isomorphic_label
from waybench.core._unreadable import is_refusal_in_words
from waybench.envs import registry
from waybench.results.logs import LoggedEpisode, Skipped, skipped_part
from waybench.results.references._measure import ReferenceScores
from waybench.results.results._anchors import ReferenceLookup, known_bounds
from waybench.results.results._exclusion import exclude
from waybench.results.results._groups import (
    EXAMPLES,
    SEARCHED,
    Cluster,
    RunKey,
    hashable_setting,
    is_derived_option,
    option_defaults,
)
from waybench.results.results._rows import (
    UNCONFIRMED,
    UNFINISHED,
    Probed,
    ReferenceBounds,
    Row,
    record_ranges,
    search_range,
)

_LONGEST = 1_000  # characters of the action that a reply was read as, and of why a record does not agree


class Simulated(NamedTuple):
    """The result of simulating a record again.

    Attributes:
        confirmed: Whether it agrees with the record; False also where there was no simulation.
        mismatch: Where the two do not agree; "" if they do, or if there was no simulation.
        skipped: Why there was no simulation, so that the recorded values count; "" if there was one.
        read: Of each turn the action that its reply was read as, in the words of a reply; "" if it was none.
        outcomes: Of each turn its outcome in the simulation, where an earlier version recorded others (see `replay`);
            empty where they are the recorded ones.
        executed: Of each turn the name of the action that was carried out, where the reply did not name it: the
            protocol's or a teacher's; "" elsewhere.
    """

    confirmed: bool
    mismatch: str = ""
    skipped: str = ""
    read: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    executed: tuple[str, ...] = ()


def simulate(episode: LoggedEpisode) -> Simulated:
    """Simulate an episode again from its record; `DefectError` if its environment raises at one of the replies."""
    record, env = episode.record, registry.load(episode.record.env)
    read: list[str] = []
    executed: list[str] = []

    def record_reading(simulation: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        """Append how the simulation read a turn's reply, and the action that was carried out instead."""
        play = simulation.play
        action = None if turn.action is None else play.game.decode(turn.action)
        read.append("" if action is None else play.wording.render(action, simulation.state)[:_LONGEST])
        executed_action = None
        if turn.executed is not None and turn.executed != turn.action:
            executed_action = play.game.decode(turn.executed)
        elif turn.outcome is Outcome.UNPARSED:  # the protocol's action, in place of one in the reply
            executed_action = action
        executed.append(
            "" if executed_action is None else play.wording.action_name(executed_action, simulation.state)[:_LONGEST]
        )

    try:
        turns = replay(env, record, watch=record_reading).turns
    except LiveError as reason:  # an environment that cannot be simulated again
        return Simulated(confirmed=False, skipped=str(reason))
    except DefectError:  # a fault of the environment's: no reply, whatever it is, may make it raise
        raise
    except Exception as error:  # a record is data from outside; whatever a simulation trips over, it does not agree
        message = str(error) if isinstance(error, WaybenchError) else f"{type(error).__name__} {error}"
        return Simulated(confirmed=False, mismatch=message[:_LONGEST] or "it does not replay")
    outcomes = tuple(turn.outcome for turn in turns)
    recorded = tuple(turn.outcome for turn in record.turns)
    return Simulated(
        confirmed=True,
        read=tuple(read),
        outcomes=outcomes if outcomes != recorded else (),
        executed=tuple(executed) if any(executed) else (),
    )


def with_outcomes(episode: LoggedEpisode, simulated: Simulated) -> LoggedEpisode:
    """Return an episode with its outcomes replaced by those of a simulation, where they differ."""
    if not simulated.outcomes:
        return episode
    pairs = zip(episode.record.turns, simulated.outcomes, strict=True)
    turns = tuple(turn._replace(outcome=outcome) for turn, outcome in pairs)
    return replace(episode, record=replace(episode.record, turns=turns))


def measured_row(
    episode: LoggedEpisode,
    *,
    confirmed: bool = True,
    price: Price | None = None,
    anchors: ReferenceScores | ReferenceBounds | None = None,
    not_simulated: str = "",
) -> Row:
    """Return the row of an episode.

    Args:
        episode: The episode.
        confirmed: Whether a new simulation confirms its record; otherwise it is not measured, since its content may be
            anything.
        price: The price of its model's tokens, if known.
        anchors: Floor and ceiling of its headline metric, if known (`ReferenceLookup`); those that the environment
            knows if None.
        not_simulated: Why its record was not simulated again; it counts nevertheless.

    Raises:
        UsageError: If the episode's environment is not installed.
        DataError: If the record lacks what its environment's metrics need.
        DefectError: If a simulation confirms the record, and its environment raises an exception all the same.
    """
    record = episode.record
    environment = registry.load(record.env)
    scoring, error = environment.scoring, record.end in (None, End.INFRASTRUCTURE)
    unmeasured = error or not confirmed
    # A player without a model reports no usage, and so do some servers. Zero tokens are unknown: replies take some.
    usages = [turn.usage for turn in record.turns if turn.usage]
    has_tokens = any(record.tokens)
    # Where the number of a teacher's steps is given, scores are of the player's own steps after them.
    teacher_steps = record.options.get("teacher_guided")
    scored_turns = record.turns[teacher_steps:] if type(teacher_steps) is int else record.turns
    guided = teacher_steps is True or any(turn.executed is not None for turn in scored_turns)
    searched = _search_axes(environment, episode.search)
    try:
        failure = None if unmeasured or guided else scoring.failure_of(record)
        action_turns = turns_without_prefix(environment.playing.action_turns(record) if confirmed else record.turns)
        published = ""
        is_extended = any(
            option.separate_tables and option.name in record.options for option in environment.extension_options
        )
        if scoring.published_setting is not None and not is_extended:
            published = scoring.published_setting(record) or ""
        item: dict[str, Any] = dict(record.item)
        cluster = Cluster(record.instance_hash)
        if confirmed and environment.items.cluster is not None:
            name, key = environment.items.cluster(record), split_isomorphic_label(str(item["key"]))[0]
            cluster = cluster if name == record.instance_hash else Cluster(name, key, item["level"])
        metrics = {} if unmeasured else environment.measure(record)
        shares = [] if unmeasured else [metric for metric in scoring.metrics if metric.per is not None]
        variables = () if unmeasured else environment.difficulty.item_variables
        replies = [turn.reply for turn in record.own_turns]
        return Row(
            group=_run_key(environment, episode, published, searched),
            level=item["level"],
            item=str(item["id"]),
            instance=record.instance_hash,
            cluster=cluster,
            index=item["index"],
            attempt=episode.attempt or record.attempt,
            end=str(record.end or ""),
            error=error,
            succeeded=not unmeasured and environment.difficulty.is_success(record),
            metrics={
                metric.name: None if (value := metrics.get(metric.name)) is None else float(value)
                for metric in scoring.metrics
            },
            axes=_axis_values(searched.axes, record, strict=not unmeasured) if confirmed else {},
            variables={variable.name: variable.of(record) for variable in variables},
            sizes={metric.name: float(metric.per(record)) for metric in shares if metric.per is not None},
            ranges=record_ranges(environment, record) if confirmed else {},
            exclusion_reason=UNCONFIRMED if not confirmed else "" if record.end is not None else UNFINISHED,
            series={
                series.name: tuple(map(float, series.of(record))) for series in (() if unmeasured else scoring.series)
            },
            guided=guided,
            outcomes=Counter(str(turn.outcome) for turn in action_turns),
            refusals_in_words=sum(map(is_refusal_in_words, action_turns)),
            other_replies=len(record.own_turns) - len(action_turns),
            failure=failure.name if failure else "",
            first_error=scoring.first_error_of(record) if failure and confirmed else None,
            probes=tuple(
                Probed(probe.turn, probe.name, probe.reason is None, probe.correct, probe.share)
                for probe in (() if unmeasured else record.probes)
            ),
            probe_tokens=_probe_tokens(record),
            input_tokens=record.tokens[0] if has_tokens else None,
            output_tokens=record.tokens[1] if has_tokens else None,
            cached_tokens=sum(usage.cached_tokens for usage in usages) if has_tokens else None,
            reasoning_tokens=sum(usage.reasoning_tokens for usage in usages) if has_tokens else None,
            seconds=record.seconds if usages else None,
            cost=price.episode_cost(record) if price else None,
            reasoning_returned=record.reasoning_returned,
            reasoning_sent_back=record.reasoning_sent_back,
            answered=tuple(dict.fromkeys(usage.model for usage in usages if usage.model)),
            replies=hashlib.sha256(json.dumps(replies).encode("ascii")).hexdigest()[:16] if replies else "",
            setting=published,
            anchors=anchors if anchors is not None or unmeasured else known_bounds(environment, record),
            not_simulated=not_simulated,
            adaptive=bool(episode.search) or is_stream_design(episode.design),
            is_streamed=is_stream_design(episode.design),
            stream=stream_position(episode.design),
            search_range=search_range(episode.search),
            declared_levels=ladder_levels(episode.design),
            most_attempts=episode.most_attempts,
            log=episode.log,
            run=episode.run,
            origin=episode.origin,
        )
    except Exception as problem:
        defect = defect_or_same_error(record.env, problem)
        # Only a record that a simulation confirms shows a fault of the environment's; any other is damaged.
        if isinstance(defect, DefectError) and simulate(episode).confirmed:
            raise defect from None
        raise DataError(
            f"the record of {record.env}, item {str(record.item.get('id'))[:60]!r}, cannot be measured "
            f"({type(problem).__name__} {str(problem)[:100]}): the record is damaged"
        ) from None


def _axis_values(axes: Sequence[Axis], record: EpisodeRecord, *, strict: bool) -> dict[str, float | None]:
    """Return an item's difficulty on each axis; unless `strict`, an axis that cannot be computed is left out."""
    values: dict[str, float | None] = {}
    for axis in axes:
        with nullcontext() if strict else suppress(Exception):
            values[axis.name] = axis.of(record)
    return values


class _Searched(NamedTuple):
    """How a search for a horizon chose an episode's item.

    Attributes:
        option: The option along which the search goes; "" for none.
        item_index: The difficulty index along which it goes; None for none.
        axes: The axes of difficulty of its episodes.
    """

    option: str
    item_index: ItemIndex | None
    axes: tuple[Axis, ...]


def _search_axes(environment: Environment[Any, Any, Any], search: Mapping[str, Any]) -> _Searched:
    """Return the option along which a search goes, its difficulty index, and the axes of its episodes."""
    axis = search.get("axis")
    if isinstance(axis, str) and axis in OPTION_AXES:
        return _Searched(axis, None, (OPTION_AXES[axis],))
    index, declared = index_of_search(environment, search), environment.difficulty.axes
    if index is None:
        return _Searched("", None, (*declared,))
    return _Searched("", index, (index.equivalent_level_axis(environment), *declared[1:]))


def _run_key(
    environment: Environment[Any, Any, Any], episode: LoggedEpisode, published: str, searched: _Searched
) -> RunKey:
    """Return the group of an episode: its model, task and settings."""
    record, defaults = episode.record, option_defaults(episode.record.env)
    options: dict[str, Any] = {
        **defaults,
        **{name: value for name, value in record.options.items() if not is_derived_option(name)},
        **({WORDING: wording_name_with_options(environment, record.options)} if WORDING in record.options else {}),
        **episode.settings,
        **({EXAMPLES: len(record.examples)} if record.examples else {}),
        # A task that fixes the setting has no parameter that says so.
        **(dict([SEARCHED[searched.option]]) if searched.option else {}),
        **({DIFFICULTY_INDEX: searched.item_index.digest} if searched.item_index is not None else {}),
        **({"setting": published} if published and "setting" in defaults else {}),
    }
    implied: Mapping[str, Json] = environment.playing.implied(record, options) if environment.playing.implied else {}
    options |= {name: value for name, value in implied.items() if options.get(name) is None}
    return RunKey(
        model=episode.model,
        task=episode.task,
        env=record.env,
        version=record.env_version,
        # An option that came after the record was written had its default then.
        options=tuple((name, hashable_setting(value, defaults.get(name))) for name, value in options.items()),
        key=str(record.item["key"]),
        embedded=episode.embedded,
    )


def _probe_tokens(record: EpisodeRecord) -> tuple[int, int] | None:
    """Return the input and output tokens of a record's probes; None if they are not known."""
    usages = [probe.usage for probe in record.probes if probe.usage]
    tokens = sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages)
    return tokens if any(tokens) else None


def measure_episodes(
    episodes: Iterable[LoggedEpisode],
    *,
    prices: Mapping[str, Price] | None = None,
    on_problem: Callable[[Skipped], None] | None = None,
    confirm: bool = False,
) -> tuple[list[LoggedEpisode], list[Row]]:
    """Return the episodes that can be measured, in the given order, and their rows after `exclude`.

    Args:
        episodes: The episodes; those of a later run come later.
        prices: The prices of each model's tokens, as far as they are known.
        on_problem: Is called with each episode that is skipped since it cannot be measured; if None, it is an error.
        confirm: Whether each episode is simulated again, as for a report: one that does not agree with its simulation
            is excluded. All that users read is confirmed; records that were just written need not be.

    Raises:
        UsageError: If an episode's environment is not installed.
        DataError: If a record lacks what its environment's metrics need.
    """
    measured: list[LoggedEpisode] = []
    episode_rows: list[Row] = []
    for episode in episodes:
        price = (prices or {}).get(episode.model)
        try:
            simulated = simulate(episode) if confirm else Simulated(confirmed=True)
            episode = with_outcomes(episode, simulated)
            episode_rows.append(
                measured_row(episode, price=price, confirmed=not simulated.mismatch, not_simulated=simulated.skipped)
            )
            measured.append(episode)
        except WaybenchError as error:
            problem = skipped_part(episode.log, error, episode.sample)
            if on_problem is None:
                raise type(error)(str(problem).removeprefix("skipped ")) from None
            on_problem(problem)
    return measured, exclude(episode_rows)


def rows(
    episodes: Iterable[LoggedEpisode],
    *,
    on_problem: Callable[[Skipped], None] | None = None,
    confirm: bool = False,
) -> list[Row]:
    """Return one row for each episode that can be measured: the rows of `measure_episodes`."""
    return measure_episodes(episodes, on_problem=on_problem, confirm=confirm)[1]


class Verified(NamedTuple):
    """An episode with its row.

    Attributes:
        episode: The episode, with the outcomes of the simulation.
        row: Its row. It is not measured where the simulation does not agree with the record.
        simulated: What the simulation says.
    """

    episode: LoggedEpisode
    row: Row
    simulated: Simulated


def verify_episodes(
    episodes: Iterable[LoggedEpisode], prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]
) -> Iterator[Verified]:
    """Yield each episode that can be measured, with its row and the result of its simulation."""
    yield from filter(None, map(Verifier(prices, on_problem).verify, episodes))


class Verifier:
    """Simulates episodes again and measures them; what it computes for an item serves all episodes of the item.

    Args:
        prices: The prices of each model's tokens, as far as they are known.
        on_problem: Receives each episode that is skipped since it cannot be measured.
    """

    def __init__(self, prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]) -> None:
        self._prices, self.on_problem = prices, on_problem
        self._references = ReferenceLookup()

    def verify(self, recorded: LoggedEpisode, simulated: Simulated | None = None) -> Verified | None:
        """Simulate an episode and return it with its row; None if it cannot be measured.

        Args:
            recorded: The episode.
            simulated: The result of its simulation; None to simulate it here.
        """
        try:
            simulated = simulated or simulate(recorded)
            episode = with_outcomes(recorded, simulated)
            episode_row = measured_row(
                episode,
                confirmed=not simulated.mismatch,
                price=self._prices.get(episode.model),
                not_simulated=simulated.skipped,
            )
            if simulated.confirmed:
                anchors = self._references.scores(episode.record, episode_row.group)
                episode_row = replace(episode_row, anchors=anchors)
        except Exception as error:  # a record is data from outside: the others are verified all the same
            problem = defect_or_same_error(recorded.record.env, error)
            self.on_problem(skipped_part(recorded.log, problem, recorded.sample))
            return None
        return Verified(episode, episode_row, simulated)
