"""The site of a leaderboard: first page, feed, reports and verdicts."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from waybench._package_data import read_text
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
    """Return the sections of the first page in their order."""
    ranking = [_ranking_section(part, entries) for part in parts if part.folder == CONFIRMED]
    return [
        *(ranking or [BoardSection("Ranking", "No submission is verified yet.", ())]),
        *_earlier_version_sections(entries),
        *(_ranking_section(part, entries) for part in parts if part.folder != CONFIRMED),
        *([_submissions_section(entries, refused, parts)] if entries or refused else []),
        *([_private_sets_section(settings)] if settings.private_sets else []),
    ]


def _words_cell(text: str) -> TableCell:
    """Return a cell with a text, or a dash for an empty one."""
    return TableCell(text=text or "–", kind="words")


def _board_table(
    table_id: str,
    title: str,
    caption: str,
    name_headings: Sequence[str],
    number_headings: Sequence[str] = (),
    **attributes: Any,
) -> BoardTable:
    """Return a table: a column of row headers, further columns of names, and columns of numbers."""
    row_heading, *other_headings = name_headings
    columns: list[TableColumn[Any]] = [TableColumn(heading=row_heading)]
    columns += [TableColumn(heading=name, kind="name") for name in other_headings]
    columns += [TableColumn(heading=number) for number in number_headings]
    return BoardTable(Table(id=table_id, title=title, caption=(Note(caption),), columns=columns, **attributes))


def _ranking_section(part: BoardReport, entries: Sequence[BoardEntry]) -> BoardSection:
    """Return a part's matrix of models by families, with the status of each model's submission."""
    by_name = {name: entry for entry in entries for name in entry.names.values()}
    entry_by_page = {model_page_path(name): entry for name, entry in by_name.items()}  # a shown name can be cut

    def with_status(row: TableRow) -> TableRow:
        """Return a row with the number of items and, in the head, the status of its submission."""
        entry = entry_by_page.get(row.head.link)
        row = replace(row, cells=[TableCell(n_items_by_page.get(row.head.link, ""), kind="score"), *row.cells])
        if entry is None:
            return row
        status = Note(str(entry.status), "good" if entry.is_confirmed else "flag", _verdict_link(entry, "../"))
        return replace(row, head=replace(row.head, notes=(*row.head.notes, status)))

    n_items_by_page = {
        model_page_path(row.model): f"{sum(cell.items for cell in row.cells.values()):,}" for row in part.matrix.rows
    }
    groups = [
        replace(group, rows=[with_status(row) for row in rows], title=group.title or title)
        for group in part.table.groups
        for title, rows in _rows_by_status(group.rows, entry_by_page)
    ]
    head, *others = part.table.columns
    n_items: TableColumn[Any] = TableColumn(heading="n", help="Items")
    title = ", ".join([part.table.title, *part.options, *["not verified"] * (part.folder == COMMUNITY)])
    table_id = "-".join(["matrix", part.folder, *([slug(title, title)] if part.options else [])])
    table = replace(part.table, id=table_id, title=title, columns=[head, n_items, *others], groups=groups)
    return BoardSection(
        ": ".join([_HEADINGS[part.folder], *([", ".join(part.options)] if part.options else [])]),
        _LEADS[part.folder],
        [BoardTable(table, f"{part.folder}/")],
        [("Every family, comparison and replay", f"{part.folder}/index.html")],
    )


def _rows_by_status(
    rows: Sequence[TableRow], entry_by_page: Mapping[str, BoardEntry]
) -> Iterator[tuple[str, Sequence[TableRow]]]:
    """Yield the title and rows of each status in turn."""
    by_status = group_by(rows, lambda row: entry.status if (entry := entry_by_page.get(row.head.link)) else None)
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
        headings = ("Model", "Task", "Score")
        table_id = f"version-{len(tables)}"
        tables.append(_board_table(table_id, title, caption, headings, numbers, groups=single_group(rows)))
    yield BoardSection(
        "Earlier versions of environments",
        "These scores are from verdicts that were signed when the version was current. Each version has its own table.",
        tables,
    )


def _submissions_section(
    entries: Sequence[BoardEntry], refused: Sequence[RefusedFile], parts: Sequence[BoardReport]
) -> BoardSection:
    groups = [
        RowGroup([_submission_row(entry, parts) for entry in entries_with_status], _TITLES[status], "references")
        for status in Status
        if (entries_with_status := [entry for entry in entries if entry.status is status])
    ]
    if refused:
        cells = [(TableCell(text=one_line(file, 80)), _words_cell(one_line(reason, 200))) for file, reason in refused]
        rows = [TableRow(file_cell, [replace(reason_cell, columns=4)]) for file_cell, reason_cell in cells]
        groups.append(RowGroup(rows, "Refused", "references"))
    headings = ("File", "Models", "Episodes confirmed", "Submitted by", "Notes")
    title = plural(len(entries), "submission")
    table = _board_table("submissions", title, _MEANING, headings, groups=groups, kind="prose submissions")
    lead = "Each file leads to its verdict, each model to its results and replays."
    return BoardSection("Submissions", lead, [table])


def _submission_row(entry: BoardEntry, parts: Sequence[BoardReport]) -> TableRow:
    """Return the row of a submission: models, confirmed episodes, submitter and notes."""
    verdict = entry.verdict
    head_cell = TableCell(text=one_line(entry.label, 120), link=_verdict_link(entry) if verdict else "")
    note = one_line(entry.note, 300)
    if verdict is None:
        return TableRow(head_cell, [replace(_words_cell(note), columns=4)])
    pages = {name: next(iter(_result_pages(name, parts)), "") for name in entry.names.values()}
    models = tuple(Note(model_label(name), "", page) for name, page in pages.items())
    n_confirmed, n_played = sum(run.confirmed for run in verdict.runs), [run.played for run in verdict.runs]
    total = "?" if None in n_played else f"{sum(filter(None, n_played)):,}"
    signature = f"verified by {entry.signer}" if entry.signer else ""
    return TableRow(
        head_cell,
        [
            TableCell(kind="words", notes=models),
            _words_cell(f"{n_confirmed:,} of {total}"),
            _words_cell(one_line(verdict.submitter, 120)),
            _words_cell(" ".join(filter(None, (signature, note)))),
        ],
    )


def _commitments_section(committed: Sequence[Mapping[str, Any]]) -> BoardSection:
    """Return the section of commitments to runs, commitments without a result first."""
    rows = [
        TableRow(
            TableCell(text=one_line(facts["file"], 80)),
            [
                _words_cell(model_label(facts["model"])),
                _words_cell(", ".join(filter(None, (facts["task"], facts["options"])))),
                _words_cell(facts["problem"] or ", ".join(facts["submissions"]) or "no result"),
                _words_cell(f"{facts['time']}, signed by {facts['signer']}" if facts["time"] else ""),
            ],
        )
        for facts in sorted(committed, key=lambda facts: (bool(facts["submissions"]), bool(facts["problem"])))
    ]
    valid = [facts for facts in committed if not facts["problem"]]
    n_missing = sum(not facts["submissions"] for facts in valid)
    headings = ("Commitment", "Model", "Task", "Result", "Committed")
    caption = "Results are submissions whose runs began after the commitment, with its task, items, options and model."
    title = plural(len(valid), "commitment")
    table = _board_table("commitments", title, caption, headings, groups=single_group(rows), kind="prose")
    numbers = f"{n_missing} of {len(valid)}"
    lead = f"{numbers} commitments to runs have no result here: a run that was not submitted is visible."
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
    headings = ("Set", "Commitment", "Key")
    table = _board_table("private-sets", "Commitments", caption, headings, groups=single_group(rows), kind="prose")
    lead = "The keys of these sets were fixed by their commitments before the sets were used."
    return BoardSection("Private sets", lead, [table])


def _verdict_link(entry: BoardEntry, root: str = "") -> str:
    """Return the link to a verdict's page from a page whose path to the first page is `root`."""
    return f"{root}verdicts/{verdict_file_stem(entry)}.html"


def _result_pages(name: str, parts: Sequence[BoardReport]) -> list[str]:
    """Return the paths of a model's pages in the reports of all parts that have the model."""
    with_model = (part for part in parts if any(row.model == name for row in part.matrix.rows))
    return [f"{part.folder}/{model_page_path(name)}" for part in with_model]


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
    """A leaderboard that was written: its first page, and the first thousand records that cannot be read."""

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
        entries_of_part = [entry for entry in entries if entry.verdict and entry.is_confirmed == (folder != COMMUNITY)]
        if progress is not None and entries_of_part:
            progress(folder)
        parts += _write_part_reports(out, folder, title, entries_of_part, skipped)
    runs = {entry.id: entry.verdict.runs for entry in entries if entry.verdict}
    committed = [commitment_json(commitment, runs) for commitment in commitments]
    feed = feed_json(settings, entries, refused, parts) | {"commitments": committed}
    contents: dict[str, str | bytes] = {
        "data/feed.json": json.dumps(feed, indent=1) + "\n",
        "data/feed.schema.json": read_text(__file__, "feed.schema.json"),
    }
    for entry in entries:
        if entry.verdict is not None:
            contents[f"verdicts/{verdict_file_stem(entry)}.html"] = _entry_verdict_page(entry, parts)
            contents[f"verdicts/{verdict_file_stem(entry)}.json"] = json.dumps(entry.verdict.to_json(), indent=1) + "\n"
    sections = front_page_sections(settings, entries, refused, parts)
    sections += [_commitments_section(committed)] if committed else []
    return WrittenBoard(write_board(out, settings.title, settings.about or _ABOUT, sections, contents), skipped)


def _write_part_reports(
    out: Path, folder: str, title: str, entries: Sequence[BoardEntry], skipped: list[Skipped]
) -> list[BoardReport]:
    """Write the report of a part's submissions; return the part once for each set of options, [] without episodes."""
    options_by_run: dict[str, tuple[str, ...]] = {}
    episodes = _part_episodes(entries, skipped, folder, options_by_run)
    first_episode = next(episodes, None)
    if first_episode is None:
        remove_report(out / folder)
        return []
    try:
        report = write_report(chain([first_episode], episodes), out / folder, title=title)
    except Exception as error:
        if folder == CONFIRMED:
            raise
        # An unverified submission can have any content, and must not stop the verified ones.
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
    """Yield the episodes of a part, and write each run's options that differ from its preset to `options_by_run`."""

    def add_skipped(problem: Skipped) -> None:
        if len(skipped) < _MOST_SKIPPED:
            skipped.append(problem)

    for entry in entries:
        assert entry.verdict is not None

        def is_wanted(run: Mapping[str, Any], entry: BoardEntry = entry) -> bool:
            """Return whether a run is in this part, and note its options."""
            options = changed_options(run["task"], run["parameters"], run["epochs"])
            options_by_run[f"{entry.id}/{run['file']}"] = options
            return folder == COMMUNITY or (folder == OTHER_OPTIONS) == bool(options)

        episodes = submission_episodes(
            entry.path,
            entry.verdict.sha256,
            run_prefix=entry.id,
            name_in_report=entry.names.__getitem__,
            on_problem=add_skipped,
            is_wanted=is_wanted,
        )
        for episode in episodes:
            # Records of other versions cannot be simulated, and have tables of their own (`BoardEntry.earlier`).
            if episode.record.env_version == registry.load(episode.record.env).version:
                yield episode


def _entry_verdict_page(entry: BoardEntry, parts: Sequence[BoardReport]) -> str:
    """Return the HTML page of a verdict, with links to the results of the submission's models."""
    assert entry.verdict is not None
    links = [("Leaderboard", "../index.html")]
    for name in entry.names.values():
        links += [(f"Results and replays of {name}", f"../{path}") for path in _result_pages(name, parts)]
    note = f"Status on the leaderboard: {entry.status}. {entry.note}".rstrip()
    return verdict_page(entry.verdict, links=links, note=note, signer=entry.signer)
