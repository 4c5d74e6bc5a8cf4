"""The papers of the published benchmarks as data: their tables, the commands that make them, and published numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from shlex import join
from typing import Any, NamedTuple, cast

from waybench._package_data import read_toml
from waybench.core import Json, UsageError, unknown_name_message
from waybench.results.papers._entry import TomlEntry

__all__ = ["Paper", "PaperTable", "papers"]

FOUR_DECIMALS = 0.000051  # how far a value may be from one that is given with four decimals
MEAN = "mean"  # the statistic of a number that a run's own means can stand beside
_KINDS = ("rows", "pairs", "counts")
ERROR = "error"
# The statistic -> what a row of it is called beside the mean's.
STATISTICS = {MEAN: "Avg", "margin_min": "Margin_min", "margin_max": "Margin_max", ERROR: "±"}
SETS, ATTEMPTS = "sets", "attempts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that makes a table or figure, or a part of it.

    Attributes:
        tasks: The tasks of a `waybench run`; none of another command.
        each: Parameters of which every value is run.
        line: Another command line, which needs no model; "" for a `waybench run`.
        files: Name -> text of the files that the line reads, which stand in the folder of the results.
        needs: The files that only the user can write.
        by_hand: Why a person types it, in words; "" where nobody has to.
    """

    tasks: tuple[str, ...] = ()
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    each: Mapping[str, tuple[Json, ...]] = field(default_factory=dict[str, tuple[Json, ...]])
    line: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    needs: tuple[str, ...] = ()
    by_hand: str = ""

    @property
    def arguments(self) -> list[str]:
        """The arguments of `waybench run`, without models."""
        arguments = list(self.tasks)
        for name, value in self.parameters.items():
            arguments += ["-T", f"{name}={parameter_text(value)}"]
        for name, values in self.each.items():
            arguments += ["--each", f"{name}={','.join(map(parameter_text, values))}"]
        return arguments

    @property
    def text(self) -> str:
        """The command as a person types it, with MODEL for the model."""
        if not self.tasks:
            return self.line
        return join(["waybench", "run", *self.arguments, "--model", "MODEL"])


def parameter_text(value: Json) -> str:
    """Return a parameter's value as text for the command line: true is "true"."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class PublishedRow(NamedTuple):
    """A published row.

    Attributes:
        model: The model, as the paper calls it.
        values: The numbers with the digits that are printed, in the order of the block's metrics; None where one is not
            printed or cannot be read.
        versus: The other model, on whose questions alone the numbers are; "" for all questions.
        cluster: The map, where the numbers are those of one map; "" for all.
        statistic: What the numbers are, where means and margins stand in one table; "" elsewhere.
    """

    model: str
    values: tuple[Decimal | None, ...]
    versus: str = ""
    cluster: str = ""
    statistic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBlock:
    """Published rows of one environment in one setting.

    Attributes:
        setting: The setting in words.
        metrics: Names of metrics of the environment, which are the columns.
        level: The level; None for all.
        options: Settings that a run has to have for its numbers to stand beside these; those not named do not matter.
        statistic: What the numbers are: "mean"; "margin_min" and "margin_max", how far the mean is from the least
            and the greatest of several runs; or "error", the published ±.
        over: Whether the runs are those of several "sets" of items or of several "attempts"; "" for one run.
    """

    env: str
    setting: str
    metrics: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    level: int | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    statistic: str = MEAN
    over: str = ""

    def matches(self, env: str, settings: Mapping[str, Json]) -> bool:
        """Return whether results of an environment with these settings belong beside the block's numbers."""
        return env == self.env and all(
            (settings.get(name) or 0) == (value or 0) for name, value in self.options.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Published numbers that are values of no metric of an episode, such as counts and coefficients.

    Attributes:
        rows: The rows: a name and a number or text for each column; None where one cannot be read.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Decimal | str | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What came out for an embedded player, which the slow tests compute again.

    Attributes:
        player: Its name, after "waybench/".
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
        published: Its rows.
        numbers: Its numbers that are values of no metric.
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
    """One published number, a row of the frame of published numbers, whose columns say what its fields are."""

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
        source: Where it is published.
        about: What to know of all of its tables.
        authors: Its authors as "Family name, given names"; none where it does not name them.
        year: Its year; None where it does not say.
    """

    name: str
    title: str
    source: str
    about: str
    tables: tuple[PaperTable, ...]
    authors: tuple[str, ...] = ()
    year: int | None = None

    def values(self) -> Iterator[PublishedValue]:
        """Yield all published numbers that are values of metrics."""
        for table in self.tables:
            for block in table.published:
                place = self.name, table.id, block.env, block.level, block.setting
                for row in block.rows:
                    who = row.model, row.versus, row.cluster
                    for metric, value in zip(block.metrics, row.values, strict=True):
                        if value is not None:
                            yield PublishedValue(*place, *who, metric, block.statistic, float(value))


def read_paper(name: str, content: Mapping[str, Any]) -> Paper:
    """Return a paper from its name and the parsed content of its TOML file, with arrays as tuples.

    Raises:
        DataError: If something is missing, unknown or of another type.
    """
    paper_entry = TomlEntry(content, f"{name}.toml")
    tables: list[PaperTable] = []
    for entry in paper_entry.take_value("tables", tuple):
        identity = cast("Mapping[str, Any]", entry).get("id", "?") if isinstance(entry, Mapping) else "?"
        part = TomlEntry(entry, f"{name}.toml, {identity}")
        tables.append(_read_table(part))
        part.reject_unknown_names()
    ids = [table.id for table in tables]
    twice = {table_id for table_id in ids if ids.count(table_id) > 1}
    if twice:
        paper_entry.fail(f"two tables of the id {', '.join(sorted(twice))}")
    paper = Paper(
        name=name,
        title=paper_entry.take_text("title"),
        source=paper_entry.take_text("source"),
        about=paper_entry.take_text("about", ""),
        tables=tuple(tables),
        authors=paper_entry.take_texts("authors"),
        year=paper_entry.take_value("year", int, 0) or None,
    )
    paper_entry.reject_unknown_names()
    return paper


def _read_table(entry: TomlEntry) -> PaperTable:
    return PaperTable(
        id=entry.take_text("id"),
        shows=entry.take_text("shows"),
        report=entry.take_text("report"),
        agreement=entry.take_text("agreement"),
        commands=entry.read_tables("commands", _read_command),
        published=entry.read_tables("published", _read_block),
        numbers=entry.read_tables("numbers", _read_number_table),
        embedded=entry.read_tables("embedded", _read_embedded),
    )


def _read_command(entry: TomlEntry) -> Command:
    command = Command(
        tasks=entry.take_texts("tasks"),
        parameters=entry.take_optional_table("parameters"),
        each=entry.take_optional_table("each"),
        line=entry.take_text("line", ""),
        files=entry.take_optional_table("files"),
        needs=entry.take_texts("needs"),
        by_hand=entry.take_text("by_hand", ""),
    )
    if bool(command.tasks) is bool(command.line):
        entry.fail("give tasks, or a line")
    return command


def _read_block(entry: TomlEntry) -> PublishedBlock:
    metrics, level = entry.take_texts("metrics"), entry.take_value("level", int, 0)
    kinds = [kind for kind in _KINDS if kind in entry.left]
    if len(kinds) != 1:
        entry.fail(f"give one of {', '.join(_KINDS)}")
    model = entry.take_text("model") if kinds == ["counts"] else ""
    lines = entry.take_value(kinds[0], tuple)
    rows = [row for line in lines for row in _read_rows(entry, kinds[0], model, line)]
    if any(len(row.values) != len(metrics) for row in rows):
        entry.fail(f"each row needs {len(metrics)} numbers, as there are metrics")
    block = PublishedBlock(
        env=entry.take_text("env"),
        setting=entry.take_text("setting"),
        metrics=metrics,
        rows=tuple(rows),
        level=level or None,
        options=entry.take_optional_table("options"),
        statistic=entry.take_text("statistic", MEAN),
        over=entry.take_text("over", ""),
    )
    if block.over not in ("", SETS, ATTEMPTS):
        entry.fail(f"over is neither {SETS} nor {ATTEMPTS}: {block.over!r}")
    if block.statistic not in STATISTICS:
        entry.fail(f"statistic is none of {', '.join(STATISTICS)}: {block.statistic!r}")
    return block


def _read_rows(entry: TomlEntry, kind: str, model: str, line: Any) -> Iterable[PublishedRow]:
    """Yield the rows of one line of a block: a model with its numbers, a pair of models, or the counts of a map."""
    match kind, line:
        case "rows", (str(name), *_):
            yield PublishedRow(name, _read_numbers(entry, line[1:]))
        case "pairs", (str(first), str(second), a, b):
            yield PublishedRow(first, _read_numbers(entry, [a]), versus=second)
            yield PublishedRow(second, _read_numbers(entry, [b]), versus=first)
        case "counts", (str(cluster), int(solved), int(attempted)) if 0 <= solved <= attempted and attempted:
            yield PublishedRow(model, (Decimal(solved) / attempted,), cluster=cluster)
        case _:
            entry.fail(f"{kind}: unfit line {str(line)[:60]}")


def _read_numbers(entry: TomlEntry, values: Iterable[Any]) -> tuple[Decimal | None, ...]:
    """Return numbers from TOML values; None for an empty text, which stands for an unreadable one."""
    numbers: list[Decimal | None] = []
    for value in values:
        if value == "":
            numbers.append(None)
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            numbers.append(Decimal(value))
        else:
            entry.fail(f"no number: {str(value)[:40]!r}")
    return tuple(numbers)


def _read_number_table(entry: TomlEntry) -> Numbers:
    """Return a table of published numbers that are values of no metric."""
    columns = entry.take_texts("columns")
    rows: list[tuple[str, tuple[Decimal | str | None, ...]]] = []
    for line in entry.take_value("rows", tuple):
        match line:
            case (str(name), *_) if len(line) == len(columns) + 1:
                cells = cast("tuple[Any, ...]", line[1:])
                rows.append(
                    (name, tuple(c if c and isinstance(c, str) else _read_numbers(entry, [c])[0] for c in cells))
                )
            case _:
                entry.fail(f"rows: unfit line {str(line)[:60]}")
    return Numbers(title=entry.take_text("title"), columns=columns, rows=tuple(rows))


def _read_embedded(entry: TomlEntry) -> Embedded:
    """Return the published result of an embedded player."""
    values: dict[str, Json] = entry.take_optional_table("values")
    numbers = dict(zip(values, _read_numbers(entry, values.values()), strict=True))
    return Embedded(
        player=entry.take_text("player"),
        env=entry.take_text("env"),
        values={name: float(value) for name, value in numbers.items() if value is not None},
        tolerance=float(entry.take_value("tolerance", Decimal, Decimal(FOUR_DECIMALS))),
        command=entry.take_value("command", int, 0),
        parameters=entry.take_optional_table("parameters"),
        published=entry.take_text("published", ""),
        why=entry.take_text("why", ""),
    )


PAPERS: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "aliciabench": lambda: read_toml(__file__, "aliciabench.toml", Decimal),
    "aqa": lambda: read_toml(__file__, "aqa.toml", Decimal),
    "mango": lambda: read_toml(__file__, "mango.toml", Decimal),
    "gtb": lambda: read_toml(__file__, "gtb.toml", Decimal),
    "smartplay": lambda: read_toml(__file__, "smartplay.toml", Decimal),
}


def find_paper(name: str) -> Paper:
    """Return the paper of a name.

    Raises:
        UsageError: If there is none of this name.
    """
    if name not in PAPERS:
        raise UsageError(unknown_name_message("paper", name, PAPERS))
    return read_paper(name, PAPERS[name]())


def find_table(paper: Paper, name: str) -> PaperTable:
    """Return a table or figure of a paper; "Table 3" is the same as "table-3".

    Raises:
        UsageError: If it has none of this name.
    """
    tables = {table.id: table for table in paper.tables}
    wanted = "-".join(name.lower().split())
    if wanted not in tables:
        raise UsageError(unknown_name_message(f"table of {paper.name}", name, tables))
    return tables[wanted]


def papers() -> tuple[Paper, ...]:
    """Return all papers."""
    return tuple(map(find_paper, PAPERS))
