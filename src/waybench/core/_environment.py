"""An environment: everything that one family of problems consists of, as one value."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core._axes import Axis
from waybench.core._beliefs import Belief
from waybench.core._board import TypedAction
from waybench.core._context import CONTEXT_OPTIONS
from waybench.core._datasets import FILE, GENERATED, PUBLISHED, DataFiles, Dataset, HorizonSpec, read_items
from waybench.core._explanatory import ExplanatoryVariables
from waybench.core._failures import GENERAL_FAILURES, FailureKind, general_failure
from waybench.core._first_errors import FirstError, FirstErrors
from waybench.core._game import A, End, Json, S
from waybench.core._images import Images, with_image_options
from waybench.core._instance import Instance, Item, Source, nothing_known
from waybench.core._keys import PrivateSource, is_public_key
from waybench.core._metrics import Aggregate, Metric, Series
from waybench.core._options import Option, resolve, with_common_options
from waybench.core._play import Play, play_with_options, resolve_play_options
from waybench.core._potential import Potential
from waybench.core._prefix import PREFIX, PREFIX_OPTION, without_prefix
from waybench.core._presentation import Presentation
from waybench.core._programs import Program
from waybench.core._random import Stream
from waybench.core._reasoning import THINK_TAGS_OPTION
from waybench.core._record import EpisodeRecord, TurnRecord, all_turns
from waybench.core._tool_wording import INTERFACE_OPTION
from waybench.core._user_files import user_path

I = TypeVar("I", bound=Instance)  # noqa: E741

_encode = json.JSONEncoder(sort_keys=True).encode  # which `dumps` would make anew each time
_PLAYS = 16  # of an environment that are kept; one with a long context can have megabytes

Player = Callable[[S, Stream], A]  # a scripted player sees the true state and chooses an action


class ReferenceScores(NamedTuple):
    """Scores of players that need no model at an item, by the headline metric.

    Attributes:
        nothing: The score of saying nothing; None if that is not defined.
        constants: The score of the same reply in every turn, for some replies.
        ceiling: The oracle's score, likewise; None where the best possible score is not known.
        chance: Whether `nothing` is the expected score of a player that chooses at random, which is the floor where
            each action is as likely to be the right one as another.
    """

    nothing: float | None
    constants: Mapping[str, float]
    ceiling: float | None
    chance: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Generic[I, S, A]):
    """A family of problems.

    Attributes:
        id: "family/variant".
        version: Raised whenever a score can move.
        title: Its name for people.
        about: What it measures and how; becomes its page in the documentation.
        options: How it is played. If "protocol" ("paper", "sound" or both) or "wording" is not declared, there is only
            "sound" or "plain".
        source_options: Options of its items, in addition to key and level; none by default.
        smallest_level: The easiest level.
        sample_levels: A few levels, easiest first, for tests and demonstrations.
        public_key: The key of its public set.
        best_of: Whether an item's score is that of its best attempt, and attempts after a perfect one are skipped;
            otherwise it is the mean of all attempts.
        pooled: Whether a set holds items of several levels at once, so that its score is the mean over all of them.
        play: Resolved options -> game, wording and limits, which keep no state: episodes with the same options share
            what it returns. `play_with` also knows templates.
        make_source: (key, level, resolved source options) -> source of items.
        datasets: What a task can play in addition to generated items and files of JSON lines, or in place of them.
        horizon: The levels on which a model's horizon is searched for, as `Entry.horizon` says; None if there is
            no such search.
        decode: JSON -> instance; raises DataError for anything that is no instance.
        resolve_references: (JSON, where) -> JSON, for instances that can name published data instead of containing
            it: puts the data in its place; `where` gives the path of a file of a data set. None if there are no such
            instances.
        level_of: Instance -> its level; by default its attribute `level`.
        prove: Instance -> what is known of its solution, as JSON values; by default nothing is.
        metrics: What an episode is measured by, the headline metric first.
        axes: What makes items hard, where success falls with it; the first one is that of the horizon.
        success: What counts as success for horizons, as it follows "success if", for their readers. Every environment
            with axes has it.
        competent: EpisodeRecord of a solved episode -> whether it is such a success, where not every solved one is: a
            random walk that meets the goal some time shows no competence. It does not depend on the options of play,
            such as a greater limit on steps. None if every solved episode is a success.
        series: What is measured at every step of an episode.
        aggregates: Measures of a set of episodes in addition to the means of the metrics.
        failures: The kinds of failure that `failure` adds to the general ones. One with a general kind's name
            takes its place, for a title that says more.
        failure: EpisodeRecord of a finished episode that was not solved -> its main cause, one of `failure_kinds`. None
            only where the episode went on to its limit on turns and that is no failure, as in a game of a fixed length.
            By default outcomes and end alone are looked at.
        first_errors: What the first error of an episode is; None if that is not defined.
        beliefs: What belief probes can ask a player about the state, in the order in which it is asked.
        action_turns: EpisodeRecord -> the turns whose replies had to name an action; by default all. Shares of outcomes
            are shares of these. Other turns ask for a thought, say, and whatever is replied to them is right.
        cluster: EpisodeRecord -> the name of what was drawn, within the set, if several instances share it, such as a
            map with many questions: they are no independent observations. The instance itself if None.
        published_setting: EpisodeRecord -> the name of the published setting that its instance and options are, None
            if they are none; for benchmarks with published scores on such settings. None if there are no such settings.
        implied: (EpisodeRecord, its options) -> values of options that were left to their default and that follow from
            the set, the same for all of its items, as where a published set is shown up to a published step.
        sound_items: Resolved source options -> the same with what `protocol="sound"` has in place of those that are not
            given (None). None if items do not depend on the protocol.
        not_replayable: EpisodeRecord -> why it cannot be simulated again here, in words that follow "not simulated
            again:", such as for a live world, or an engine that is not installed; "" if it can. Where it cannot, the
            recorded values count. None if every record can.
        reference_scores: EpisodeRecord -> scores of players without a model at its item with the same options,
            where they are known without playing: computed, or measured beforehand for items that take too long to be
            played again; None where they are not.
        check_options: Options of play with which checks play whole episodes, where episodes with the defaults would
            take too long: fewer steps of a long game.
        parse_typed: (what a person types, state) -> the action that it stands for, where whole replies are
            tedious to type; None for what is not understood.
        format_typed: Action -> what a person would type for it, in one part or several; what `parse_typed` reads.
        typed_help: What a person can type, in a sentence.
        programs: The programs outside waybench that it can use, such as engines of worlds; none is needed by default.
        typed_actions: State -> the actions that a person can choose from a list or by a key; empty where there are too
            many. None if there are never any.
        presentation: Its words and drawings for reports and terminals.
        explanatory_variables: Explanatory variables of items, and of clusters (for example, of maps); None if there are
            none.
        reasoning: State -> how the oracle comes to its next action, step by step, in the terms of the prompts, for data
            to train on; None if nobody has written it down.
        potentials: How far a state is on the way to the goal, for shaped rewards in training; none by default.
        isomorph: (instance, key of its set, number of the isomorphic set, from 1) -> an instance that is the same
            problem in another appearance, so that it is as difficult, while its solution is written in another way: a
            mirrored maze, a map with other names. The same for the same arguments. None if there are none.
        twin: For an environment with an embodied wording, the id of the one with the plain wording. Both have the same
            instances for the same key and level, and the same options and metrics. Their results are compared item by
            item, and a file of items of one can be played in the other. "" if there is none.
        players: Scripted players that see the true state: at least "heuristic" and "oracle"; "random" where a uniform
            choice among the elementary legal actions would be no sensible player.
        oracle_is_ceiling: EpisodeRecord of the oracle -> whether no player can have a better score on this item with
            these options. Where it is False, nothing calls the oracle's score the best possible one. None if it never
            is; in a game of chance it means the best expected score.
        images: How its messages are drawn, for the wordings "image" and "image+text"; None if they cannot be.
        takes_context: Whether an item can be asked among others of its level in one prompt (`context_tokens`): the
            rules say all of it, and other items of a level are as difficult.
    """

    id: str
    version: int
    title: str
    about: str
    smallest_level: int
    sample_levels: tuple[int, ...]
    public_key: str
    play: Callable[[Mapping[str, Json]], Play[I, S, A]]
    make_source: Callable[[str, int, Mapping[str, Json]], Source[I]]
    decode: Callable[[Json], I]
    metrics: tuple[Metric, ...]
    options: tuple[Option, ...] = ()
    source_options: tuple[Option, ...] = ()
    level_of: Callable[[I], int] = attrgetter("level")
    prove: Callable[[I], Mapping[str, Json]] = nothing_known
    axes: tuple[Axis, ...] = ()
    success: str = ""
    competent: Callable[[EpisodeRecord], bool] | None = None
    series: tuple[Series, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    failures: tuple[FailureKind, ...] = ()
    failure: Callable[[EpisodeRecord], FailureKind | None] = general_failure
    first_errors: FirstErrors | None = None
    beliefs: tuple[Belief[S], ...] = ()
    datasets: tuple[Dataset, ...] = ()
    horizon: HorizonSpec | None = None
    action_turns: Callable[[EpisodeRecord], Sequence[TurnRecord]] = all_turns
    best_of: bool = False
    pooled: bool = False
    resolve_references: Callable[[Json, Callable[[str, str], Path]], Json] | None = None
    cluster: Callable[[EpisodeRecord], str] | None = None
    published_setting: Callable[[EpisodeRecord], str | None] | None = None
    implied: Callable[[EpisodeRecord, Mapping[str, Json]], Mapping[str, Json]] | None = None
    sound_items: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None
    not_replayable: Callable[[EpisodeRecord], str] | None = None
    reference_scores: Callable[[EpisodeRecord], ReferenceScores | None] | None = None
    check_options: Mapping[str, Json] = field(default_factory=dict[str, Any])
    parse_typed: Callable[[str, S], A | None] | None = None
    format_typed: Callable[[A], Sequence[str]] | None = None
    typed_help: str = ""
    programs: tuple[Program, ...] = ()
    typed_actions: Callable[[S], Sequence[TypedAction]] | None = None
    presentation: Presentation = field(default_factory=Presentation)
    explanatory_variables: ExplanatoryVariables | None = None
    potentials: tuple[Potential[S], ...] = ()
    reasoning: Callable[[S], str] | None = None
    isomorph: Callable[[I, str, int], I] | None = None
    twin: str = ""
    players: Mapping[str, Player[S, A]] = field(default_factory=dict[str, Any])
    oracle_is_ceiling: Callable[[EpisodeRecord], bool] | None = None
    images: Images | None = None
    takes_context: bool = False
    _defaults: dict[str, Json] = field(init=False, repr=False, compare=False, default_factory=dict[str, Any])
    _play_of: Callable[[str], Play[I, S, A]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Add the options of play that every environment has, and those of pictures, to those that are declared."""
        object.__setattr__(self, "options", with_image_options(self.images, with_common_options(self.options)))
        # Most episodes have the options of another one; games and wordings keep no state.
        object.__setattr__(self, "_play_of", lru_cache(maxsize=_PLAYS)(self._make_play))

    @property
    def item_variables(self) -> tuple[Axis, ...]:
        """The explanatory variables of its items; none if it declares none."""
        return self.explanatory_variables.items if self.explanatory_variables is not None else ()

    @property
    def failure_kinds(self) -> tuple[FailureKind, ...]:
        """All kinds in which an episode can fail: the general ones first, and then those of this environment alone.

        This is the order of columns and of what is named first where several kinds are equally frequent.
        """
        declared = {kind.name: kind for kind in self.failures}
        general = [declared.pop(kind.name, kind) for kind in GENERAL_FAILURES]
        return (*general, *declared.values())

    def succeeded(self, record: EpisodeRecord) -> bool:
        """Return whether an episode is a success for horizons: solved, and competently so (`competent`)."""
        return record.end is End.SOLVED and (self.competent is None or self.competent(record))

    def failure_of(self, record: EpisodeRecord) -> FailureKind | None:
        """Return the main cause of an episode's failure.

        Returns:
            The kind; None for an episode that was solved, is not over or ended in an infrastructure error, and where
            its limit on turns is no failure.
        """
        return None if record.end in (None, End.SOLVED, End.INFRASTRUCTURE) else self.failure(record)

    def first_error_of(self, record: EpisodeRecord) -> FirstError | None:
        """Return the first error of an episode that failed.

        Returns:
            The error; None for an episode that was solved, is not over or ended in an infrastructure error, for one
            without an error, where errors are not defined, and where the first one is in the prefix.
        """
        if self.first_errors is None or record.end in (None, End.SOLVED, End.INFRASTRUCTURE):
            return None
        found = self.first_errors.find(record)
        return None if found is not None and record.turns[found.turn].prefix else found

    def source(
        self, key: str | None = None, level: int | None = None, *, protocol: str = "paper", **options: Json
    ) -> Source[I]:
        """Return the source of items of a key and level.

        Args:
            key: The set's key; the public set if None.
            level: The difficulty; the smallest level if None.
            protocol: The protocol in which the items are to be played (see `items_for`).
            **options: Source options.

        Raises:
            UsageError: For a level that does not exist, or a wrong option.
        """
        resolved = self.items_for(protocol, resolve(self.source_options, options))
        level = self.smallest_level if level is None else level
        if key is None:
            return self.make_source(self.public_key, level, resolved)
        return self.marked(self.make_source(key, level, resolved), key)

    def marked(self, source: Source[I], key: str) -> Source[I]:
        """Return a source of items of a key, which are marked as private unless it is a public set's."""
        return source if is_public_key(key, self.public_key) else PrivateSource(source)

    def items_for(self, protocol: str, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return resolved source options, with the protocol's values for options that are not given."""
        return self.sound_items(options) if protocol == "sound" and self.sound_items is not None else options

    @property
    def all_datasets(self) -> tuple[Dataset, ...]:
        """The data sets of a task: generated items, published ones if there are any, and a file of the user's."""
        by_name = {GENERATED: self._generated(), FILE: self._file()} | {
            dataset.name: dataset for dataset in self.datasets
        }
        return tuple(by_name[name] for name in (GENERATED, PUBLISHED, FILE) if name in by_name)

    def _generated(self) -> Dataset:
        names = tuple(option.name for option in self.source_options)

        def open_(values: Mapping[str, Any], files: DataFiles) -> Source[I]:
            source_values = {name: values[name] for name in names}
            return self.source(values["key"], values["level"], protocol=values["protocol"], **source_values)

        return Dataset(name=GENERATED, doc="items by key", open=open_)

    def _file(self) -> Dataset:
        def open_(values: Mapping[str, Any], files: DataFiles) -> Source[I]:
            return read_items(user_path(values["source"]), self.id, self.decode, self.level_of, self.prove)

        return Dataset(name=FILE, doc="path of a file of JSON lines from `waybench generate`", open=open_)

    @property
    def play_options(self) -> tuple[Option, ...]:
        """Its options of play, with those that more than one environment has, such as `interface` and `prefix`."""
        context = CONTEXT_OPTIONS if self.takes_context else ()
        return (*self.options, INTERFACE_OPTION, PREFIX_OPTION, THINK_TAGS_OPTION, *context)

    def resolve_options(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return all options of play with their values.

        With `interface=tools` the name of the wording begins with "tools:" in the options that are returned. Options of
        pictures are left out unless the wording has pictures.

        If `wording` names a file, the options that are returned have the name of its template in its place, and the
        template's texts as a further option, `template`: they need the file no more.

        There is an option `prefix` only if a prefix is given; the same holds for those of a context and `think_tags`.

        Raises:
            UsageError: For an unknown option or an unfit value, or a template that cannot be read or does not fit.
        """
        if values:
            return resolve_play_options(self, values)
        if not self._defaults:  # most episodes are played with them
            self._defaults.update(resolve_play_options(self, values))
        return self._defaults.copy()

    def play_with(self, options: Mapping[str, Json]) -> Play[I, S, A]:
        """Return how an episode is played with resolved options, with the words of a template if they have one.

        Raises:
            UsageError: If the template does not fit the wording that it is based on.
        """
        if PREFIX in options:
            return self.play_with(without_prefix(options))
        return self._play_of("" if options == self._defaults else _encode(options))

    def _make_play(self, options: str) -> Play[I, S, A]:
        return play_with_options(self, json.loads(options) if options else self._defaults)

    def item(self, data: Json, examples: Sequence[Json] = ()) -> Item[I]:
        """Make an item of an instance that came from outside, with its proof.

        Args:
            data: The instance as JSON.
            examples: The instances of its in-context examples.

        Raises:
            DataError: If the data is no instance.
        """
        instance = self.decode(data)
        return Item(
            instance,
            id=instance.hash[:12],
            level=self.level_of(instance),
            proof=self.prove(instance),
            examples=tuple(self.decode(example) for example in examples),
        )
