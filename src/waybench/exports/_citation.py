"""How to cite a set of results: waybench with its version, and the papers of the tasks that were run."""

from collections.abc import Iterable, Iterator

from waybench._version import __version__
from waybench.exports._files import FileText, yaml
from waybench.exports._results import Results
from waybench.papers import papers


def citations(found: Iterable[Results]) -> Iterator[FileText]:
    """Yield CITATION.cff and citations.bib."""
    families = {_family(one.group.env) for one in found}
    cited = [
        paper
        for paper in papers()
        if families & {_family(block.env) for table in paper.tables for block in (*table.published, *table.embedded)}
    ]
    yield FileText(
        "CITATION.cff",
        yaml(
            {
                "cff-version": "1.2.0",
                "message": "Please cite waybench and the papers whose benchmarks were run.",
                "title": "waybench",
                "type": "software",
                "version": __version__,
                "license": "MIT",
                "authors": [{"name": "waybench contributors"}],
                **(
                    {
                        "references": [
                            {
                                "type": "generic",
                                "title": paper.title,
                                "authors": [{"name": f"The authors of {paper.title.partition(':')[0]}"}],
                                "notes": paper.source,
                            }
                            for paper in cited
                        ]
                    }
                    if cited
                    else {}
                ),
            }
        )
        + "\n",
    )
    entries = [("software", "waybench", "waybench", f"version {__version__}", "waybench contributors")]
    entries += [("misc", paper.name, paper.title, paper.source, "") for paper in cited]
    yield FileText("citations.bib", "\n".join(_bibtex(*entry) for entry in entries))


def _family(env: str) -> str:
    return env.partition("/")[0]


def _bibtex(kind: str, key: str, title: str, note: str, author: str) -> str:
    fields = {"title": f"{{{title}}}", **({"author": f"{{{author}}}"} if author else {}), "note": note}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}}}\n"
