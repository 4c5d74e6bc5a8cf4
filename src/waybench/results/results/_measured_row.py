"""The row of an episode, simulations of records, and the rows that never count."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from waybench.core import (
    DIFFICULTY_INDEX,
    OPTION_AXES,
    WORDING,
    Axis,
    DataError,
    End,
    Environment,
    Episode,
    EpisodeRecord,
    ItemIndex,
    Json,
    LiveError,
    Outcome,
    Price,
    ProbeRecord,
    TurnRecord,
    WaybenchError,
    own_turns,
    replay,
    searched_index,
    wording_name,
)
from waybench.envs import registry
from waybench.results.logs import LoggedEpisode, Skipped, skipped
from waybench.results.results._anchors import Anchoring, known_anchors
from waybench.results.results._groups import (
    EXAMPLES,
    SEARCHED,
    Cluster,
    Group,
    follows_from_others,
    option_defaults,
    option_setting,
)
from waybench.results.results._rows import (
    UNCONFIRMED,
    UNFINISHED,
    Anchors,
    Probed,
    Row,
    grouped,
    is_perfect,
    record_ranges,
    search_range,
)


def _is_guided(record: EpisodeRecord) -> bool:
    """Return whether a teacher has played; where its number of steps is given, scores are of the free ones after it."""
    steps = record.options.get("teacher_guided")
    helped = record.turns[steps:] if type(steps) is int else record.turns
    return steps is True or any(turn.executed is not None for turn in helped)


def row(
    episode: LoggedEpisode,
    *,
    confirmed: bool = True,
    price: Price | None = None,
    anchors: Anchors | None = None,
    not_simulated: str = "",
) -> Row:
    """Return an episode's row.

    Args:
        episode: The episode.
        confirmed: Whether a new simulation confirms its record; otherwise it is not measured, for anything may stand
            in it.
        price: What its model's tokens cost, if known.
        anchors: What its headline metric lies between, if known (`Anchoring`); what was measured beforehand if None.
        not_simulated: Why its record was not simulated again; it counts nevertheless.

    Raises:
        UsageError: If the episode's environment is not installed.
        DataError: If the record lacks what its environment's metrics need.
    """
    record = episode.record
    environment = registry.load(record.env)
    error = record.end in (None, End.INFRASTRUCTURE)
    unmeasured = error or not confirmed
    used = any(turn.usage for turn in record.turns)
    # A player without a model reports none, and so do some servers: no reply takes no tokens at all.
    tokens = record.tokens if any(record.tokens) else (None, None)
    guided = _is_guided(record)
    searched = _searched(environment, episode.search)
    try:
        failed = None if unmeasured or guided else environment.scoring.failure_of(record)
        judged = own_turns(environment.playing.action_turns(record) if confirmed else record.turns)
        published = _published_setting(environment, record)
        item = dict(record.item)
        return Row(
            group=_group(environment, episode, published, searched),
            level=item["level"],
            item=str(item["id"]),
            instance=record.instance_hash,
            cluster=_cluster(environment, record, item) if confirmed else Cluster(record.instance_hash),
            index=item["index"],
            attempt=episode.attempt or record.attempt,
            end=str(record.end or ""),
            error=error,
            succeeded=not unmeasured and environment.difficulty.succeeded(record),
            metrics={m.name: None if unmeasured else _number(m.of(record)) for m in environment.scoring.metrics},
            axes=_axes(searched.axes, record, known=not unmeasured) if confirmed else {},
            variables={}
            if unmeasured
            else {each.name: each.of(record) for each in environment.difficulty.item_variables},
            sizes={}
            if unmeasured
            else {m.name: float(m.per(record)) for m in environment.scoring.metrics if m.per is not None},
            ranges=record_ranges(environment, record) if confirmed else {},
            exclusion_reason=UNCONFIRMED if not confirmed else "" if record.end is not None else UNFINISHED,
            series={}
            if unmeasured
            else {one.name: tuple(map(float, one.of(record))) for one in environment.scoring.series},
            guided=guided,
            outcomes=Counter(str(turn.outcome) for turn in judged),
            other_replies=len(record.own_turns) - len(judged),
            failure=failed.name if failed else "",
            first_error=environment.scoring.first_error_of(record) if failed and confirmed else None,
            probes=tuple(map(_probed, record.probes)) if not unmeasured else (),
            probe_tokens=_probe_tokens(record),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cached_tokens=_spent(record, "cached_tokens"),
            reasoning_tokens=_spent(record, "reasoning_tokens"),
            seconds=record.seconds if used else None,
            cost=price.episode_cost(record) if price else None,
            answered=tuple(dict.fromkeys(turn.usage.model for turn in record.turns if turn.usage and turn.usage.model)),
            replies=_digest([turn.reply for turn in record.own_turns]),
            setting=published,
            anchors=anchors if anchors is not None or unmeasured else known_anchors(environment, record),
            not_simulated=not_simulated,
            adaptive=bool(episode.search),
            search_range=search_range(episode.search),
            log=episode.log,
            run=episode.run,
            origin=episode.origin,
        )
    except Exception as problem:  # what a record from outside makes an environment trip over is no error of its own
        raise DataError(_unmeasurable(record, problem)) from None


def _axes(axes: Sequence[Axis], record: EpisodeRecord, *, known: bool) -> dict[str, float | None]:
    """Return what makes an item hard; of an episode without a result, as far as the item alone tells it."""
    found: dict[str, float | None] = {}
    for axis in axes:
        with nullcontext() if known else suppress(Exception):
            found[axis.name] = axis.of(record)
    return found


class _Searched(NamedTuple):
    """What a search for a horizon makes of an episode: the option along which it goes, "" for none, and the axes."""

    option: str
    item_index: ItemIndex | None
    axes: tuple[Axis, ...]


def _searched(environment: Environment[Any, Any, Any], search: Mapping[str, Any]) -> _Searched:
    axis = search.get("axis")
    if isinstance(axis, str) and axis in OPTION_AXES:
        return _Searched(axis, None, (OPTION_AXES[axis],))
    index = searched_index(environment, search)
    first = () if index is None else (index.axis(environment),)
    return _Searched("", index, (*first, *environment.difficulty.axes[len(first) :]))


def _published_setting(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> str:
    changed = any(option.separate_tables and option.name in record.options for option in environment.extension_options)
    if environment.scoring.published_setting is None or changed:
        return ""
    return environment.scoring.published_setting(record) or ""


def _group(
    environment: Environment[Any, Any, Any], episode: LoggedEpisode, published: str, searched: _Searched
) -> Group:
    record, defaults = episode.record, option_defaults(episode.record.env)
    options: dict[str, Any] = {
        **defaults,
        **{name: value for name, value in record.options.items() if not follows_from_others(name)},
        **({WORDING: wording_name(environment, record.options)} if WORDING in record.options else {}),
        **episode.settings,
        **({EXAMPLES: len(record.examples)} if record.examples else {}),
        # A task that fixes the setting has no parameter that says so.
        **(dict([SEARCHED[searched.option]]) if searched.option else {}),
        **({DIFFICULTY_INDEX: searched.item_index.digest} if searched.item_index is not None else {}),
        **({"setting": published} if published and "setting" in defaults else {}),
    }
    implied: Mapping[str, Json] = environment.playing.implied(record, options) if environment.playing.implied else {}
    options |= {name: value for name, value in implied.items() if options.get(name) is None}
    return Group(
        model=episode.model,
        task=episode.task,
        env=record.env,
        version=record.env_version,
        # An option that came after the record was written had its default then.
        options=tuple((name, option_setting(value, defaults.get(name))) for name, value in options.items()),
        key=str(record.item["key"]),
        embedded=episode.embedded,
    )


def _probed(probe: ProbeRecord) -> Probed:
    return Probed(probe.turn, probe.name, probe.reason is None, probe.correct, probe.share)


def _probe_tokens(record: EpisodeRecord) -> tuple[int, int] | None:
    usages = [probe.usage for probe in record.probes if probe.usage]
    spent = sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages)
    return spent if any(spent) else None


def _cluster(environment: Environment[Any, Any, Any], record: EpisodeRecord, item: Mapping[str, Json]) -> Cluster:
    if environment.items.cluster is None:
        return Cluster(record.instance_hash)
    return Cluster(environment.items.cluster(record), str(item["key"]), item["level"])


def _spent(record: EpisodeRecord, kind: str) -> int | None:
    return sum(getattr(turn.usage, kind) for turn in record.turns if turn.usage) if any(record.tokens) else None


def _digest(replies: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(replies).encode("ascii")).hexdigest()[:16] if replies else ""


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _unmeasurable(record: EpisodeRecord, problem: Exception) -> str:
    return (
        f"the record of {record.env}, item {str(record.item.get('id'))[:60]!r}, cannot be measured "
        f"({type(problem).__name__} {str(problem)[:100]}): the record is damaged"
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
    """Simulate an episode again from its record."""
    record, env = episode.record, registry.load(episode.record.env)
    read: list[str] = []
    executed: list[str] = []

    def reading(again: Episode[Any, Any, Any], turn: TurnRecord) -> None:
        play = again.play
        given = None if turn.action is None else play.game.decode(turn.action)
        read.append("" if given is None else play.wording.render(given, again.state)[:_LONGEST])
        is_replaced = turn.executed is not None and turn.executed != turn.action
        done = play.game.decode(turn.executed) if is_replaced else given if turn.outcome is Outcome.UNPARSED else None
        executed.append("" if done is None else play.wording.action_name(done, again.state)[:_LONGEST])

    try:
        turns = replay(env, record, watch=reading).turns
    except LiveError as reason:  # nothing of it is drawn, for anything may stand in it
        return Simulated(confirmed=False, skipped=str(reason))
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


def with_outcomes(episode: LoggedEpisode, again: Simulated) -> LoggedEpisode:
    """Return an episode with the outcomes of its simulation."""
    if not again.outcomes:
        return episode
    turns = zip(episode.record.turns, again.outcomes, strict=True)
    judged = tuple(turn._replace(outcome=outcome) for turn, outcome in turns)
    return replace(episode, record=replace(episode.record, turns=judged))


REPEATED = "repeated"
AFTER_PERFECT = "after a perfect attempt"


def measurable(
    episodes: Iterable[LoggedEpisode],
    *,
    prices: Mapping[str, Price] | None = None,
    on_problem: Callable[[Skipped], None] | None = None,
    confirm: bool = False,
) -> tuple[list[LoggedEpisode], list[Row]]:
    """Return the episodes that can be measured, in the given order, and the row of each, as `exclude` leaves it.

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
            if confirm:
                again = simulate(episode)
                episode = with_outcomes(episode, again)
                made = row(episode, price=price, confirmed=not again.mismatch, not_simulated=again.skipped)
            else:
                made = row(episode, price=price)
            episode_rows.append(made)
            measured.append(episode)
        except WaybenchError as error:
            problem = skipped(episode.log, error, episode.sample)
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
    """Return one row for each episode that can be measured: the rows of `measurable`."""
    return measurable(episodes, on_problem=on_problem, confirm=confirm)[1]


def exclude(episode_rows: Iterable[Row]) -> list[Row]:
    """Mark the rows that never count as excluded.

    There are four reasons:

    * "does not replay": the caller says that re-simulation does not confirm the record (see `row`);
    * "unfinished": the episode has no end, because a person quit or the stored replies ran out;
    * "repeated": several runs of one model have the same settings. All attempts at an item come from the last run that
      has one without an infrastructure error there, or else from the last run, since attempts of different runs are
      not one series. Within a run, the same holds for episodes of the same item and attempt;
    * "after a perfect attempt": the attempt has a higher number than the first perfect one at the item. A run that
      skips such attempts must have the same scores, so their results are ignored. This applies only where the best
      attempt at an item is its score; with a teacher, no attempt is perfect.

    Args:
        episode_rows: The rows, ordered by run.
    """
    listed = list(episode_rows)
    _exclude_earlier_runs(listed)
    _exclude_repeated(listed)
    _exclude_after_perfect(listed)
    return listed


def _exclude_earlier_runs(episode_rows: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    order = {run: number for number, run in enumerate(dict.fromkeys(row.run for row in episode_rows))}
    valid = [position for position, row in enumerate(episode_rows) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(episode_rows[position])).values():
        last = max((episode_rows[position] for position in positions), key=lambda row: (not row.error, order[row.run]))
        for position in positions:
            if episode_rows[position].run != last.run:
                episode_rows[position] = replace(episode_rows[position], exclusion_reason=REPEATED)


def _exclude_repeated(episode_rows: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance, row.attempt

    valid = [position for position, row in enumerate(episode_rows) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(episode_rows[position])).values():
        latest = max(positions, key=lambda position: (not episode_rows[position].error, position))
        for position in positions:
            if position != latest:
                episode_rows[position] = replace(episode_rows[position], exclusion_reason=REPEATED)


def _exclude_after_perfect(episode_rows: list[Row]) -> None:
    def same(row: Row) -> Hashable:
        return row.group, row.level, row.item, row.instance

    valid = [position for position, row in enumerate(episode_rows) if not row.exclusion_reason]
    for positions in grouped(valid, lambda position: same(episode_rows[position])).values():
        environment = registry.load(episode_rows[positions[0]].group.env)
        if not environment.scoring.best_of:
            continue
        headline = environment.scoring.metrics[0]
        scores = {
            episode_rows[p].attempt: episode_rows[p].metrics[headline.name]
            for p in positions
            if not episode_rows[p].guided
        }
        perfect = [attempt for attempt, score in scores.items() if is_perfect(score, headline)]
        for position in positions:
            if perfect and episode_rows[position].attempt > min(perfect):
                episode_rows[position] = replace(episode_rows[position], exclusion_reason=AFTER_PERFECT)


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


def verified(
    episodes: Iterable[LoggedEpisode], prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]
) -> Iterator[Verified]:
    """Simulate episodes again and measure them, one at a time.

    Args:
        episodes: The episodes.
        prices: Model -> the prices of its tokens, as far as they are known.
        on_problem: Receives each episode that is skipped since it cannot be measured.

    Yields:
        Each episode that can be measured, in the given order.
    """
    verifier = Verifier(prices, on_problem)
    for recorded in episodes:
        found = verifier.verify(recorded)
        if found is not None:
            yield found


class Verifier:
    """Simulates episodes again and measures them; what it works out of an item serves all episodes of the item.

    Args:
        prices: Model -> the prices of its tokens, as far as they are known.
        on_problem: Receives each episode that is skipped since it cannot be measured.
    """

    def __init__(self, prices: Mapping[str, Price], on_problem: Callable[[Skipped], None]) -> None:
        self._prices, self.on_problem = prices, on_problem
        self._anchoring = Anchoring()

    def verify(self, recorded: LoggedEpisode, again: Simulated | None = None) -> Verified | None:
        """Return an episode with its row; None if it cannot be measured.

        Args:
            recorded: The episode.
            again: What a simulation of it has said; None to simulate it here.
        """
        try:
            again = again or simulate(recorded)
            episode = with_outcomes(recorded, again)
            found = row(
                episode,
                confirmed=not again.mismatch,
                price=self._prices.get(episode.model),
                anchors=self._anchoring.of(episode.record) if again.confirmed else None,
                not_simulated=again.skipped,
            )
        except Exception as error:  # a record is data from outside: it is not to take the others with it
            self.on_problem(skipped(recorded.log, error, recorded.sample))
            return None
        return Verified(episode, found, again)
