"""The site of a leaderboard: first page, feed, reports and verdicts."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from waybench._version import __version__
from waybench.core import Json, plural
from waybench.envs import registry
from waybench.ext.publish.leaderboard._commitments import Committed, commitment_json
from waybench.ext.publish.leaderboard._entries import (
    BoardEntry,
    RefusedFile,
    Settings,
    Status,
    submission_json,
    verdict_file_stem,
)
from waybench.reporting import write_report
from waybench.reporting._files import slug
from waybench.reporting._write import (
    BoardSection,
    BoardTable,
    model_page_path,
    remove_report,
    report_matrix,
    write_board,
)
from waybench.reporting.tables import Note, Table, TableCell, TableColumn, TableRow, model_label, single_group
from waybench.reporting.tables._table import RowGroup
from waybench.results.estimates import Matrix
from waybench.results.formatting import one_line
from waybench.results.logs import LoggedEpisode, Skipped
from waybench.results.results import group_by
from waybench.submission import verdict_page
from waybench.submission._parameters import changed_options
from waybench.submission._records import submission_episodes
from waybench.submission._verdict import NOT_PROVEN

CONFIRMED, OTHER_OPTIONS, COMMUNITY = "report", "options", "community"

_TITLES = {
    Status.COMMITTED: "Committed before the run",
    Status.RUN_AGAIN: "Run again",
    Status.VERIFIED: "Verified",
    Status.COMMUNITY: "Community: not verified",
    Status.WITHDRAWN: "Withdrawn",
}
_MEANING = (
    "Verified: every item was made again and every record simulated again, without the model. This does not prove "
    f"{'; '.join(NOT_PROVEN)}. Committed: verified, and a signed commitment fixed task, items, options and model "
    "before the run began. Run again: the maintainers also ran the model themselves. Community: not verified; the "
    "verdict says why. Refused: no submission of this leaderboard."
)
_LEADS = {
    CONFIRMED: "Only submissions that are verified or run again are ranked, at the declared presets with their default "
    "options.",
    OTHER_OPTIONS: "These runs are verified, with other options than the presets have by default. They have no ranks, "
    "for options can make items easier. Each set of options has a table of its own.",
    COMMUNITY: "These submissions are not verified: records may be missing or wrong. They have no ranks.",
}
_HEADINGS = {CONFIRMED: "Ranking", OTHER_OPTIONS: "Other options", COMMUNITY: "Community"}
FORMAT = "waybench-leaderboard"
VERSION = 1
_MOST_SKIPPED = 1_000  # records that are named; a hostile submission can have a million of them
_ABOUT = (
    "How well models find their way. The scores are computed from the records of each submission, which are simulated "
    "again."
)


class BoardReport(NamedTuple):
    """A part of a leaderboard: the folder of its report, its matrix (also as a table), and its runs' options.

    `options` are texts of the options that differ from the defaults of the declared presets.
    """

    folder: str
    matrix: Matrix
    table: Table
    options: tuple[str, ...] = ()


def front_page_sections(
    settings: Settings, entries: Sequence[BoardEntry], refused: Sequence[RefusedFile], parts: Sequence[BoardReport]
) -> list[BoardSection]:
    ranking = [_ranking_section(part, entries) for part in parts if part.folder == CONFIRMED]
    return [
        *(ranking or [BoardSection("Ranking", "No submission is verified yet.", ())]),
        *_earlier_version_sections(entries),
        *(_ranking_section(part, entries) for part in parts if part.folder != CONFIRMED),
        *([_submissions_section(entries, refused, parts)] if entries or refused else []),
        *([_private_sets_section(settings)] if settings.private_sets else []),
    ]


def _board_table(
    table_id: str,
    title: str,
    caption: str,
    name_headings: Sequence[str],
    number_headings: Sequence[str] = (),
    **attributes: Any,
) -> BoardTable:
    """Return a table whose first column has the rows' headers, the others names, and the last ones numbers."""
    head, *others = name_headings
    columns: list[TableColumn[Any]] = [
        TableColumn(heading=head),
        *(TableColumn(heading=name, kind="name") for name in others),
    ]
    columns += [TableColumn(heading=number) for number in number_headings]
    return BoardTable(Table(id=table_id, title=title, caption=(Note(caption),), columns=columns, **attributes))


def _ranking_section(part: BoardReport, entries: Sequence[BoardEntry]) -> BoardSection:
    """Return a part's matrix of models by families, with each submission's status."""
    by_name = {name: entry for entry in entries for name in entry.names.values()}
    heads = {model_page_path(name): entry for name, entry in by_name.items()}  # a name that is shown can be cut

    def with_status(row: TableRow) -> TableRow:
        entry = heads.get(row.head.link)
        row = replace(row, cells=[TableCell(items.get(row.head.link, ""), kind="score"), *row.cells])
        if entry is None:
            return row
        status = Note(str(entry.status), "good" if entry.is_confirmed else "flag", _verdict_link(entry, "../"))
        return replace(row, head=replace(row.head, notes=(*row.head.notes, status)))

    items = {
        model_page_path(row.model): f"{sum(cell.items for cell in row.cells.values()):,}" for row in part.matrix.rows
    }
    groups = [
        replace(group, rows=[with_status(row) for row in rows], title=group.title or title)
        for group in part.table.groups
        for title, rows in _rows_by_status(group.rows, heads)
    ]
    head, *others = part.table.columns
    count: TableColumn[Any] = TableColumn(heading="n", help="Items")
    title = ", ".join([part.table.title, *part.options, *["not verified"] * (part.folder == COMMUNITY)])
    identity = "-".join(["matrix", part.folder, *([slug(title, title)] if part.options else [])])
    table = replace(part.table, id=identity, title=title, columns=[head, count, *others], groups=groups)
    return BoardSection(
        ": ".join([_HEADINGS[part.folder], *([", ".join(part.options)] if part.options else [])]),
        _LEADS[part.folder],
        [BoardTable(table, f"{part.folder}/")],
        [("Every family, comparison and replay", f"{part.folder}/index.html")],
    )


def _rows_by_status(
    rows: Sequence[TableRow], heads: Mapping[str, BoardEntry]
) -> Iterator[tuple[str, Sequence[TableRow]]]:
    """Yield the title and rows of each status in turn."""
    by_status = group_by(rows, lambda row: entry.status if (entry := heads.get(row.head.link)) else None)
    for status in sorted(by_status, key=[*Status, None].index):
        yield _TITLES[status] if status else "", by_status[status]


def _earlier_version_sections(entries: Sequence[BoardEntry]) -> Iterator[BoardSection]:
    """Yield the section with scores of earlier versions of environments, a table for each version."""
    scores = [(entry, score) for entry in entries if entry.is_confirmed for score in entry.earlier]
    versions = sorted({(score.env, score.version) for _, score in scores})
    if not versions:
        return
    tables: list[BoardTable] = []
    for env, version in versions:
        environment = registry.load(env)
        rows = [
            TableRow(
                TableCell(
                    text=model_label(entry.names.get(score.model, score.model)),
                    notes=(Note(str(entry.status), "good", _verdict_link(entry)),),
                ),
                [
                    TableCell(text=one_line(score.task, 60), kind="name"),
                    TableCell(text=one_line(score.metric, 60), kind="name"),
                    TableCell(text=f"{score.value:.3f}"),
                    TableCell(
                        text=score.lost
                        or ("–" if score.low is None or score.high is None else f"{score.low:.3f} – {score.high:.3f}")
                    ),
                ],
            )
            for entry, score in scores
            if (score.env, score.version) == (env, version)
        ]
        caption = f"Scores of version {version} are not comparable with version {environment.version}."
        title, numbers = f"{environment.title}, version {version}", ("Mean", "95 % interval")
        names = ("Model", "Task", "Score")
        tables.append(_board_table(f"version-{len(tables)}", title, caption, names, numbers, groups=single_group(rows)))
    yield BoardSection(
        "Earlier versions of environments",
        "These scores are from verdicts that were signed when the version was current. Each version has its own table.",
        tables,
    )


def _submissions_section(
    entries: Sequence[BoardEntry], refused: Sequence[RefusedFile], parts: Sequence[BoardReport]
) -> BoardSection:
    groups = [
        RowGroup([_submission_row(entry, parts) for entry in with_status], _TITLES[status], "references")
        for status in Status
        if (with_status := [entry for entry in entries if entry.status is status])
    ]
    if refused:
        rows = [
            TableRow(
                TableCell(text=one_line(file, 80)), [TableCell(text=one_line(reason, 200), kind="words", columns=4)]
            )
            for file, reason in refused
        ]
        groups.append(RowGroup(rows, "Refused", "references"))
    names = ("File", "Models", "Episodes confirmed", "Submitted by", "Notes")
    title = plural(len(entries), "submission")
    table = _board_table("submissions", title, _MEANING, names, groups=groups, kind="prose submissions")
    lead = "Each file leads to its verdict, each model to its results and replays."
    return BoardSection("Submissions", lead, [table])


def _submission_row(entry: BoardEntry, parts: Sequence[BoardReport]) -> TableRow:
    verdict = entry.verdict
    head = TableCell(text=one_line(entry.label, 120), link=_verdict_link(entry) if verdict else "")
    note = one_line(entry.note, 300)
    if verdict is None:
        return TableRow(head, [TableCell(text=note or "–", kind="words", columns=4)])
    models = tuple(Note(model_label(name), "", _results_link(name, parts)) for name in entry.names.values())
    confirmed, played = sum(run.confirmed for run in verdict.runs), [run.played for run in verdict.runs]
    total = "?" if None in played else f"{sum(filter(None, played)):,}"
    signed = f"verified by {entry.signer}" if entry.signer else ""
    return TableRow(
        head,
        [
            TableCell(kind="words", notes=models),
            TableCell(text=f"{confirmed:,} of {total}", kind="words"),
            TableCell(text=one_line(verdict.submitter, 120) or "–", kind="words"),
            TableCell(text=" ".join(filter(None, (signed, note))) or "–", kind="words"),
        ],
    )


def _commitments_section(committed: Sequence[Mapping[str, Any]]) -> BoardSection:
    """Return the section of commitments to runs, those without a result first."""
    rows = [
        TableRow(
            TableCell(text=one_line(facts["file"], 80)),
            [
                TableCell(text=model_label(facts["model"]) or "–", kind="words"),
                TableCell(text=", ".join(filter(None, (facts["task"], facts["options"]))) or "–", kind="words"),
                TableCell(text=facts["problem"] or ", ".join(facts["submissions"]) or "no result", kind="words"),
                TableCell(text=f"{facts['time']}, signed by {facts['signer']}" if facts["time"] else "–", kind="words"),
            ],
        )
        for facts in sorted(committed, key=lambda facts: (bool(facts["submissions"]), bool(facts["problem"])))
    ]
    valid = [facts for facts in committed if not facts["problem"]]
    missing = sum(not facts["submissions"] for facts in valid)
    names = ("Commitment", "Model", "Task", "Result", "Committed")
    caption = "Results are submissions whose runs began after the commitment, with its task, items, options and model."
    title = plural(len(valid), "commitment")
    table = _board_table("commitments", title, caption, names, groups=single_group(rows), kind="prose")
    lead = (
        f"{missing} of {len(valid)} commitments to runs have no result here: a run that was not submitted is visible."
    )
    return BoardSection("Commitments to runs", lead, [table])


def _private_sets_section(settings: Settings) -> BoardSection:
    rows = [
        TableRow(
            TableCell(text=label),
            [TableCell(text=commitment, kind="words code"), TableCell(text=key or "not revealed", kind="words code")],
        )
        for label, commitment, key in settings.private_sets
    ]
    caption = "waybench verify --key-file FILE --commitment TEXT checks a revealed key."
    names = ("Set", "Commitment", "Key")
    table = _board_table("private-sets", "Commitments", caption, names, groups=single_group(rows), kind="prose")
    lead = "The keys of these sets were fixed by their commitments before the sets were used."
    return BoardSection("Private sets", lead, [table])


def _verdict_link(entry: BoardEntry, root: str = "") -> str:
    return f"{root}verdicts/{verdict_file_stem(entry)}.html"


def _results_link(name: str, parts: Sequence[BoardReport]) -> str:
    folders = [part.folder for part in parts if any(row.model == name for row in part.matrix.rows)]
    return f"{folders[0]}/{model_page_path(name)}" if folders else ""


def feed_json(
    settings: Settings, entries: Sequence[BoardEntry], refused: Sequence[RefusedFile], parts: Sequence[BoardReport]
) -> dict[str, Json]:
    """Return the feed: the content of the first page, for programs."""
    by_name = {name: entry for entry in entries for name in entry.names.values()}
    return {
        "format": FORMAT,
        "schema": VERSION,
        "waybench": __version__,
        "title": settings.title,
        "private_sets": [
            {"set": label, "commitment": commitment, "key": key or None}
            for label, commitment, key in settings.private_sets
        ],
        "submissions": [submission_json(entry) for entry in entries],
        "refused": [{"file": file.encode("utf-8", "replace").decode(), "reason": reason} for file, reason in refused],
        "rows": [
            {
                **row,
                "options": list(part.options),
                "submission": by_name[str(row["model"])].id,
                "status": str(by_name[str(row["model"])].status),
                "page": f"{part.folder}/{model_page_path(str(row['model']))}",
            }
            for part in parts
            for row in part.matrix.to_json()
        ],
        "earlier": [
            {**score._asdict(), "submission": entry.id, "status": str(entry.status)}
            for entry in entries
            if entry.is_confirmed
            for score in entry.earlier
        ],
    }


class WrittenBoard(NamedTuple):
    """A leaderboard that was written: its first page, and records that cannot be read, the first thousand of them."""

    page: Path
    skipped: Sequence[Skipped]


def write_leaderboard(
    out: Path,
    settings: Settings,
    entries: Sequence[BoardEntry],
    refused: Sequence[RefusedFile],
    commitments: Sequence[Committed] = (),
    *,
    progress: Callable[[str], None] | None = None,
) -> WrittenBoard:
    """Write the site of a leaderboard (see `Board`); `progress` receives the name of each part before it is written.

    Raises:
        UsageError: If the folder cannot be written.
    """
    skipped: list[Skipped] = []
    parts: list[BoardReport] = []
    for folder, title in (
        (CONFIRMED, settings.title),
        (OTHER_OPTIONS, f"{settings.title}: other options"),
        (COMMUNITY, f"{settings.title}: not verified"),
    ):
        reported = [entry for entry in entries if entry.verdict and entry.is_confirmed == (folder != COMMUNITY)]
        if progress is not None and reported:
            progress(folder)
        parts += _write_part_reports(out, folder, title, reported, skipped)
    runs = {entry.id: entry.verdict.runs for entry in entries if entry.verdict}
    committed = [commitment_json(commitment, runs) for commitment in commitments]
    content = feed_json(settings, entries, refused, parts) | {"commitments": committed}
    contents: dict[str, str | bytes] = {
        "data/feed.json": json.dumps(content, indent=1) + "\n",
        "data/feed.schema.json": (files("waybench.ext.publish.leaderboard") / "feed.schema.json").read_text(
            encoding="utf-8"
        ),
    }
    for entry in entries:
        if entry.verdict is not None:
            contents[f"verdicts/{verdict_file_stem(entry)}.html"] = _entry_verdict_page(entry, parts)
            contents[f"verdicts/{verdict_file_stem(entry)}.json"] = json.dumps(entry.verdict.to_json(), indent=1) + "\n"
    shown = front_page_sections(settings, entries, refused, parts) + (
        [_commitments_section(committed)] if committed else []
    )
    page = write_board(out, settings.title, settings.about or _ABOUT, shown, contents)
    return WrittenBoard(page, skipped)


def _write_part_reports(
    out: Path, folder: str, title: str, entries: Sequence[BoardEntry], skipped: list[Skipped]
) -> list[BoardReport]:
    """Write the report of a part's submissions; return the part once for each set of options, [] without episodes."""
    options_by_run: dict[str, tuple[str, ...]] = {}
    logged = _part_episodes(entries, skipped, folder, options_by_run)
    first = next(logged, None)
    if first is None:
        remove_report(out / folder)
        return []
    try:
        report = write_report(chain([first], logged), out / folder, title=title)
    except Exception as error:
        if folder == CONFIRMED:
            raise
        # What is not verified may be anything; it is not to take the verified submissions with it.
        remove_report(out / folder)
        skipped.append(Skipped(folder, "", f"no report can be made of these submissions: {type(error).__name__}"))
        return []
    skipped += report.passed_over
    by_options = group_by(report.rows, lambda row: options_by_run[row.run])
    return [
        BoardReport(folder, *report_matrix(rows, ranked=folder == CONFIRMED), options)
        for options, rows in sorted(by_options.items())
    ]


def _part_episodes(
    entries: Sequence[BoardEntry], skipped: list[Skipped], folder: str, options_by_run: dict[str, tuple[str, ...]]
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of a part, and put each run's options that differ from its preset into `options_by_run`."""

    def add_skipped(problem: Skipped) -> None:
        if len(skipped) < _MOST_SKIPPED:
            skipped.append(problem)

    for entry in entries:
        assert entry.verdict is not None
        name = entry.names.__getitem__

        def is_wanted(run: Mapping[str, Any], entry: BoardEntry = entry) -> bool:
            options = changed_options(run["task"], run["parameters"], run["epochs"])
            options_by_run[f"{entry.id}/{run['file']}"] = options
            return folder == COMMUNITY or (folder == OTHER_OPTIONS) == bool(options)

        of_entry = submission_episodes(
            entry.path,
            entry.verdict.sha256,
            run_prefix=entry.id,
            name_in_report=name,
            on_problem=add_skipped,
            is_wanted=is_wanted,
        )
        for episode in of_entry:
            # Records of other versions cannot be simulated, and have tables of their own (`BoardEntry.earlier`).
            if episode.record.env_version == registry.load(episode.record.env).version:
                yield episode


def _entry_verdict_page(entry: BoardEntry, parts: Sequence[BoardReport]) -> str:
    assert entry.verdict is not None
    links = [("Leaderboard", "../index.html")]
    for name in entry.names.values():
        for part in parts:
            if any(row.model == name for row in part.matrix.rows):
                links.append((f"Results and replays of {name}", f"../{part.folder}/{model_page_path(name)}"))
    note = f"Status on the leaderboard: {entry.status}. {entry.note}".rstrip()
    return verdict_page(entry.verdict, links=links, note=note, signer=entry.signer)
