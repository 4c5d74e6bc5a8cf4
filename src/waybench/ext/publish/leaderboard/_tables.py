"""The sections of a leaderboard's first page, and the names of its pages."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from waybench.core import plural
from waybench.envs import registry
from waybench.ext.publish.leaderboard._entries import Entry, Refused, Settings, Status
from waybench.reporting import BoardSection, BoardTable, model_page, slug
from waybench.reporting.tables import Cell, Note, RowGroup, Table, TableColumn, TableRow, name_of, rows_of
from waybench.results.estimates import Matrix
from waybench.results.formatting import one_line

CONFIRMED, COMMUNITY = "report", "community"


class Part(NamedTuple):
    """A report of a leaderboard: that of the confirmed submissions, or that of the others.

    Attributes:
        folder: Its folder.
        matrix: Its matrix of models by families.
        table: The same as a table.
    """

    folder: str
    matrix: Matrix
    table: Table


def page_stem(entry: Entry) -> str:
    """Return the name of the files of a submission's verdict, without suffix."""
    return slug(entry.id, entry.id)


_TITLES = {
    Status.RUN_AGAIN: "Run again",
    Status.VERIFIED: "Verified",
    Status.COMMUNITY: "Community: not verified",
    Status.WITHDRAWN: "Withdrawn",
}
_MEANING = (
    "Verified: every item was made again and every record simulated again, without the model. This does not prove "
    "which model gave the replies. Run again: the maintainers also ran the model themselves. Community: not verified; "
    "the verdict says why. Refused: no submission of this leaderboard."
)
_LEADS = {
    True: "Only submissions that are verified or run again are ranked.",
    False: "These submissions are not verified: records may be missing or wrong. Their scores have no rank among the "
    "others.",
}


def sections(
    settings: Settings, entries: Sequence[Entry], refused: Sequence[Refused], parts: Sequence[Part]
) -> list[BoardSection]:
    """Return the sections of the first page.

    Args:
        settings: The leaderboard's settings.
        entries: Its submissions.
        refused: The files that are refused.
        parts: Its reports.
    """
    found = [_scores(part, entries) for part in parts if part.folder == CONFIRMED]
    if not found:
        found = [BoardSection("Ranking", "No submission is verified yet.", ())]
    found += _earlier(entries)
    found += [_scores(part, entries) for part in parts if part.folder != CONFIRMED]
    if entries or refused:
        found.append(_submissions(entries, refused, parts))
    if settings.private_sets:
        found.append(_private(settings))
    return found


def _scores(part: Part, entries: Sequence[Entry]) -> BoardSection:
    is_confirmed = part.folder == CONFIRMED
    by_name = {name: entry for entry in entries for name in entry.names.values()}
    heads = {model_page(name): entry for name, entry in by_name.items()}  # a name that is shown can be cut

    def marked(row: TableRow) -> TableRow:
        entry = heads.get(row.head.link)
        if entry is None:
            return row
        status = Note(str(entry.status), "good" if entry.is_confirmed else "flag", _verdict(entry, "../"))
        return replace(row, head=replace(row.head, notes=(*row.head.notes, status)))

    groups = [replace(group, rows=[marked(row) for row in group.rows]) for group in part.table.groups]
    title = part.table.title if is_confirmed else f"{part.table.title}, not verified"
    table = replace(part.table, id=f"matrix-{part.folder}", title=title, groups=groups)
    return BoardSection(
        "Ranking" if is_confirmed else "Community",
        _LEADS[is_confirmed],
        [BoardTable(table, f"{part.folder}/")],
        [("Every family, comparison and replay", f"{part.folder}/index.html")],
    )


def _earlier(entries: Sequence[Entry]) -> Iterator[BoardSection]:
    """Yield the scores of earlier versions of environments, which are never mixed with those of other versions."""
    scores = [(entry, score) for entry in entries if entry.is_confirmed for score in entry.earlier]
    versions = sorted({(score.env, score.version) for _, score in scores})
    if not versions:
        return
    tables: list[BoardTable] = []
    for env, version in versions:
        environment = registry.load(env)
        rows = [
            TableRow(
                Cell(
                    text=name_of(entry.names.get(score.model, score.model)),
                    notes=(Note(str(entry.status), "good", _verdict(entry)),),
                ),
                [
                    Cell(text=one_line(score.task, 60), kind="name"),
                    Cell(text=one_line(score.metric, 60), kind="name"),
                    Cell(text=f"{score.value:.3f}"),
                    Cell(
                        text=score.lost
                        or ("–" if score.low is None or score.high is None else f"{score.low:.3f} – {score.high:.3f}")
                    ),
                ],
            )
            for entry, score in scores
            if (score.env, score.version) == (env, version)
        ]
        tables.append(
            BoardTable(
                Table(
                    id=f"version-{len(tables)}",
                    title=f"{environment.title}, version {version}",
                    caption=(
                        Note(f"Scores of version {version} are not comparable with version {environment.version}."),
                    ),
                    columns=[
                        TableColumn(heading="Model"),
                        *(TableColumn(heading=heading, kind="name") for heading in ("Task", "Score")),
                        *(TableColumn(heading=heading) for heading in ("Mean", "95 % interval")),
                    ],
                    groups=rows_of(rows),
                )
            )
        )
    yield BoardSection(
        "Earlier versions of environments",
        "These scores are from verdicts that were signed when the version was current. Each version has its own table.",
        tables,
    )


def _submissions(entries: Sequence[Entry], refused: Sequence[Refused], parts: Sequence[Part]) -> BoardSection:
    groups = [
        RowGroup([_row(entry, parts) for entry in own], _TITLES[status], "references")
        for status in Status
        if (own := [entry for entry in entries if entry.status is status])
    ]
    if refused:
        rows = [
            TableRow(
                Cell(text=one_line(each.file, 80)), [Cell(text=one_line(each.reason, 200), kind="words", columns=4)]
            )
            for each in refused
        ]
        groups.append(RowGroup(rows, "Refused", "references"))
    table = Table(
        id="submissions",
        title=plural(len(entries), "submission"),
        caption=(Note(_MEANING),),
        columns=[
            TableColumn(heading="File"),
            *(
                TableColumn(heading=heading, kind="name")
                for heading in ("Models", "Episodes confirmed", "Submitted by", "Notes")
            ),
        ],
        groups=groups,
        kind="prose submissions",
    )
    return BoardSection(
        "Submissions", "Each file leads to its verdict, each model to its results and replays.", [BoardTable(table)]
    )


def _row(entry: Entry, parts: Sequence[Part]) -> TableRow:
    verdict = entry.verdict
    head = Cell(text=one_line(entry.label, 120), link=_verdict(entry) if verdict else "")
    note = one_line(entry.note, 300)
    if verdict is None:
        return TableRow(head, [Cell(text=note or "–", kind="words", columns=4)])
    models = tuple(Note(name_of(name), "", _results(name, parts)) for name in entry.names.values())
    confirmed, played = sum(run.confirmed for run in verdict.runs), [run.played for run in verdict.runs]
    known = [number for number in played if number is not None]
    total = f"{sum(known):,}" if len(known) == len(played) else "?"
    signed = f"verified by {entry.signer}" if entry.signer else ""
    said = " ".join(filter(None, (signed, note))) or "–"
    return TableRow(
        head,
        [
            Cell(kind="words", notes=models),
            Cell(text=f"{confirmed:,} of {total}", kind="words"),
            Cell(text=one_line(verdict.submitter, 120) or "–", kind="words"),
            Cell(text=said, kind="words"),
        ],
    )


def _private(settings: Settings) -> BoardSection:
    rows = [
        TableRow(
            Cell(text=each.label),
            [Cell(text=each.commitment, kind="words code"), Cell(text=each.key or "not revealed", kind="words code")],
        )
        for each in settings.private_sets
    ]
    table = Table(
        id="private-sets",
        title="Commitments",
        caption=(Note("waybench verify --key-file FILE --commitment TEXT checks a revealed key."),),
        columns=[
            TableColumn(heading="Set"),
            *(TableColumn(heading=heading, kind="name") for heading in ("Commitment", "Key")),
        ],
        groups=rows_of(rows),
        kind="prose",
    )
    lead = "The keys of these sets were fixed by their commitments before the sets were used."
    return BoardSection("Private sets", lead, [BoardTable(table)])


def _verdict(entry: Entry, root: str = "") -> str:
    return f"{root}verdicts/{page_stem(entry)}.html"


def _results(name: str, parts: Sequence[Part]) -> str:
    folders = [part.folder for part in parts if any(row.model == name for row in part.matrix.rows)]
    return f"{folders[0]}/{model_page(name)}" if folders else ""
