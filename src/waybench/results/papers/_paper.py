"""What is known of a paper: types only. `_load` reads them from TOML files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from shlex import join
from typing import NamedTuple

from waybench.core import Json

FOUR_DECIMALS = 0.000051  # how far a value may be from one that is given with four decimals
MEAN = "mean"  # the statistic of a number that a run's own means can stand beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that makes a table or figure, or a part of it.

    Attributes:
        tasks: The tasks of a `waybench run`; none of another command.
        parameters: Their parameters.
        each: Parameters of which every value is run.
        line: Another command line, without the models; "" for a `waybench run`.
        not_yet: What is missing for this part; "" where the command can be run.
    """

    tasks: tuple[str, ...] = ()
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    each: Mapping[str, tuple[Json, ...]] = field(default_factory=dict[str, tuple[Json, ...]])
    line: str = ""
    not_yet: str = ""

    @property
    def arguments(self) -> list[str]:
        """The arguments of `waybench run`, without models."""
        given = [text for name, value in self.parameters.items() for text in ("-T", f"{name}={value_text(value)}")]
        several = [
            text
            for name, values in self.each.items()
            for text in ("--each", f"{name}={','.join(map(value_text, values))}")
        ]
        return [*self.tasks, *given, *several]

    @property
    def text(self) -> str:
        """The command as a person types it, with MODEL for the model; "" where there is none yet."""
        if not self.tasks:
            return self.line
        return join(["waybench", "run", *self.arguments, "--model", "MODEL"])


def value_text(value: Json) -> str:
    """Return a parameter's value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class PublishedRow(NamedTuple):
    """A published row.

    Attributes:
        model: The model, as the paper calls it.
        values: The numbers, in the order of the block's metrics; None where one is not printed or cannot be read.
        versus: The other model, on whose questions alone the numbers are; "" for all questions.
        cluster: The map, where the numbers are those of one map; "" for all.
    """

    model: str
    values: tuple[float | None, ...]
    versus: str = ""
    cluster: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBlock:
    """Published rows of one environment in one setting.

    Attributes:
        env: The environment's id.
        setting: The setting in words.
        metrics: Names of metrics of the environment, which are the columns.
        rows: The rows.
        level: The level; None for all.
        options: Settings that a run has to have for its numbers to stand beside these; those not named do not matter.
        statistic: What the numbers are: "mean", or "margin_min" and "margin_max", how far the mean is from the least
            and the greatest of several runs.
    """

    env: str
    setting: str
    metrics: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    level: int | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    statistic: str = MEAN

    def fits(self, env: str, settings: Mapping[str, Json]) -> bool:
        """Return whether results of an environment with some settings are of the setting that the block names."""
        return env == self.env and all(
            (settings.get(name) or 0) == (value or 0) for name, value in self.options.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Published numbers that are values of no metric of an episode, such as counts and coefficients.

    Attributes:
        title: What they are.
        columns: Names of the columns.
        rows: The rows: a name and a number for each column; None where one cannot be read.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What came out for an embedded player, which `make reproduce` computes again.

    Attributes:
        player: Its name, after "waybench/".
        env: The environment's id.
        values: Metric -> value.
        tolerance: How far a value may be from it.
        command: Number of the command, from 0.
        parameters: Parameters that are given besides the command's, such as a limit.
        published: The published number for it or for what it stands for, in words; "" for none.
        why: Why they differ if they do, in words.
    """

    player: str
    env: str
    values: Mapping[str, float]
    tolerance: float = FOUR_DECIMALS
    command: int = 0
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    published: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table or figure of a paper.

    Attributes:
        id: What the user types, such as "table-3".
        shows: What it shows.
        report: Where in the report the result is.
        agreement: How far the result can agree with it, and why.
        commands: The commands that make it.
        published: Its rows.
        numbers: Its numbers that are values of no metric.
        embedded: What came out for embedded players.
    """

    id: str
    shows: str
    report: str
    agreement: str
    commands: tuple[Command, ...] = ()
    published: tuple[PublishedBlock, ...] = ()
    numbers: tuple[Numbers, ...] = ()
    embedded: tuple[Embedded, ...] = ()

    @property
    def title(self) -> str:
        """Its name in words, such as "Table 3"."""
        return self.id.replace("-", " ").capitalize()


class PublishedValue(NamedTuple):
    """One published number.

    Attributes:
        paper: Name of the paper.
        table: Id of the table.
        env: The environment's id.
        level: The level; None for all.
        setting: The setting in words.
        model: The model.
        versus: The other model, on whose questions alone it is; "" for all.
        cluster: The map that it is of; "" for all.
        metric: The metric's name.
        statistic: What the number is, as "mean".
        value: The number.
    """

    paper: str
    table: str
    env: str
    level: int | None
    setting: str
    model: str
    versus: str
    cluster: str
    metric: str
    statistic: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper.

    Attributes:
        name: What the user types.
        title: Its title.
        source: Where it is published.
        about: What to know of all of its tables.
        tables: Its tables and figures.
    """

    name: str
    title: str
    source: str
    about: str
    tables: tuple[PaperTable, ...]

    def values(self) -> Iterator[PublishedValue]:
        """Yield all published numbers that are values of metrics."""
        for table in self.tables:
            for block in table.published:
                for row in block.rows:
                    for metric, value in zip(block.metrics, row.values, strict=True):
                        if value is not None:
                            yield PublishedValue(
                                self.name,
                                table.id,
                                block.env,
                                block.level,
                                block.setting,
                                row.model,
                                row.versus,
                                row.cluster,
                                metric,
                                block.statistic,
                                value,
                            )
