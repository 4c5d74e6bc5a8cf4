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

_LONGEST = 1_000  # characters of what a reply was read as, and of why a record does not agree


class Simulated(NamedTuple):
    """The result of simulating a record again.

    Attributes:
        confirmed: Whether it agrees with the record; False also where there was no simulation.
        mismatch: Where they do not agree; "" if they do, or if there was no simulation.
        skipped: Why there was no simulation, so that the record is taken for what it says; "" if there was one.
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

    def record_reading(again: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        """Append how the simulation read a turn's reply, and the action that was carried out instead."""
        play = again.play
        action = None if turn.action is None else play.game.decode(turn.action)
        read.append("" if action is None else play.wording.render(action, again.state)[:_LONGEST])
        is_replaced = turn.executed is not None and turn.executed != turn.action
        done = play.game.decode(turn.executed) if is_replaced else action if turn.outcome is Outcome.UNPARSED else None
        executed.append("" if done is None else play.wording.action_name(done, again.state)[:_LONGEST])

    try:
        turns = replay(env, record, watch=record_reading).turns
    except LiveError as reason:  # nothing of it is drawn, for anything may stand in it
        return Simulated(confirmed=False, skipped=str(reason))
    except DefectError:  # no reply, whatever it is, makes an environment raise
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
    turns = zip(episode.record.turns, simulated.outcomes, strict=True)
    judged = tuple(turn._replace(outcome=outcome) for turn, outcome in turns)
    return replace(episode, record=replace(episode.record, turns=judged))


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
        confirmed: Whether a new simulation confirms its record; otherwise it is not measured, for anything may stand
            in it.
        price: What its model's tokens cost, if known.
        anchors: What its headline metric lies between, if known (`ReferenceLookup`); measured beforehand if None.
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
    # A player without a model reports none, and so do some servers: no reply takes no tokens at all.
    usages = [turn.usage for turn in record.turns if turn.usage]
    has_tokens = any(record.tokens)
    # Where the number of a teacher's steps is given, scores are of the free ones after them.
    steps = record.options.get("teacher_guided")
    helped = record.turns[steps:] if type(steps) is int else record.turns
    guided = steps is True or any(turn.executed is not None for turn in helped)
    searched = _search_axes(environment, episode.search)
    try:
        failed = None if unmeasured or guided else scoring.failure_of(record)
        judged = turns_without_prefix(environment.playing.action_turns(record) if confirmed else record.turns)
        published = ""
        changed = any(
            option.separate_tables and option.name in record.options for option in environment.extension_options
        )
        if scoring.published_setting is not None and not changed:
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
            outcomes=Counter(str(turn.outcome) for turn in judged),
            refusals_in_words=sum(map(is_refusal_in_words, judged)),
            other_replies=len(record.own_turns) - len(judged),
            failure=failed.name if failed else "",
            first_error=scoring.first_error_of(record) if failed and confirmed else None,
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
    except Exception as problem:  # what a record from outside makes an environment trip over is no error of its own
        defect = defect_or_same_error(record.env, problem)
        if isinstance(defect, DefectError) and simulate(episode).confirmed:  # otherwise anything may stand in it
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
    """What a search for a horizon makes of an episode: the option along which it goes, "" for none, and the axes."""

    option: str
    item_index: ItemIndex | None
    axes: tuple[Axis, ...]


def _search_axes(environment: Environment[Any, Any, Any], search: Mapping[str, Any]) -> _Searched:
    """Return the option along which a search goes, its difficulty index, and the axes of its episodes."""
    axis = search.get("axis")
    if isinstance(axis, str) and axis in OPTION_AXES:
        return _Searched(axis, None, (OPTION_AXES[axis],))
    index = index_of_search(environment, search)
    first = () if index is None else (index.equivalent_level_axis(environment),)
    return _Searched("", index, (*first, *environment.difficulty.axes[len(first) :]))


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
    spent = sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages)
    return spent if any(spent) else None


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
        prices: Model -> what its tokens cost, as far as that is known.
        on_problem: Is called with each episode that is skipped since it cannot be measured; if None, it is an error.
        confirm: Whether each episode is simulated again, as for a report: one that does not agree with its simulation
            is excluded. Whatever tells numbers to users does this; rows of records just made need it not.

    Raises:
        UsageError: If an episode's environment is not installed.
        DataError: If a record lacks what its environment's metrics need.
    """
    measured: list[LoggedEpisode] = []
    episode_rows: list[Row] = []
    for episode in episodes:
        price = (prices or {}).get(episode.model)
        try:
            again = simulate(episode) if confirm else Simulated(confirmed=True)
            episode = with_outcomes(episode, again)
            episode_rows.append(
                measured_row(episode, price=price, confirmed=not again.mismatch, not_simulated=again.skipped)
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
    verifier = Verifier(prices, on_problem)
    yield from (result for recorded in episodes if (result := verifier.verify(recorded)) is not None)


class Verifier:
    """Simulates episodes again and measures them; what it works out of an item serves all episodes of the item.

    Args:
        prices: Model -> the prices of its tokens, as far as they are known.
        on_problem: Receives each episode that is skipped since it cannot be measured.
    """

    def __init__(self, prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]) -> None:
        self._prices, self.on_problem = prices, on_problem
        self._anchoring = ReferenceLookup()

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
                anchors = self._anchoring.scores(episode.record, episode_row.group)
                episode_row = replace(episode_row, anchors=anchors)
        except Exception as error:  # a record is data from outside: it is not to take the others with it
            self.on_problem(
                skipped_part(recorded.log, defect_or_same_error(recorded.record.env, error), recorded.sample)
            )
            return None
        return Verified(episode, episode_row, simulated)
