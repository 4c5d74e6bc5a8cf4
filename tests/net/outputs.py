"""What waybench makes of the corpus: named texts, in which times, versions and paths do not show."""

import base64
import csv
import io
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import waybench
from tests.contract.digests import lines
from tests.net.corpus import LARGE, ORACLE, SMALL, Corpus, waybench_
from tests.report.sites import make
from waybench import __version__
from waybench.envs import registry
from waybench.results import read_logs

_VERSION = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])")
_PACKED = re.compile(r'(?<=<script type="application/zlib" id=")(\w+)">([^<]*)')
_PRE = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
_BLANK = re.compile(r"\s+")
_INSTALLED = re.compile(r" with waybench VERSION(?=:)")  # logs name it only where the package is installed
_LONG = re.compile(r"-?\b\d+(?:\.\d{10,}(?:e[-+]?\d+)?|(?:\.\d+)?e-\d+)\b")
_DIGITS, _ZERO = 6, 1e-12  # the last digits depend on the processor's linear algebra
_MANY = "replays", "clusters"  # folders with many pages, of which those of a model at a task are one output

# Name -> arguments of `waybench compare`, of which {logs} and {folder} are replaced.
COMPARISONS = {
    "models": f"{LARGE} {SMALL} --in {{logs}}",
    "model and player": f"{LARGE} {ORACLE} --in {{logs}}",
    "solved": f"{LARGE} {SMALL} --in {{logs}} --metric solved --margin 0.2",
    "person": f"human/Ada {LARGE} --in {{logs}}",
    "folders": f"{{logs}}/probes/{SMALL} {{logs}}/effort/{SMALL}",
    "search": f"{LARGE} {SMALL} --in {{logs}}/search",
    "foreign": "{folder}/foreign/first {folder}/foreign/second",
    "twins": "{logs} --twins",
    "isomorphs": "{logs} --isomorphs",
    "wordings": "{logs} --wordings",
}

# Name -> arguments of other commands that print tables.
TABLES = {
    "profile": "profile {logs} --references",
    "prices": "prices {logs}",
    "power": "power --pilot {logs}/probes --detect 0.1",
}


def outputs(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield names and texts of all outputs."""
    outputs = {name: _plain(text, corpus.folder) for name, text in _outputs(corpus)}
    yield from sorted(outputs.items())


def _outputs(corpus: Corpus) -> Iterator[tuple[str, str]]:
    yield from _records(corpus.folder / "logs")
    for name, text in corpus.printed.items():
        yield f"terminal/run {name}.txt", text
    for name, template in COMPARISONS.items():
        arguments = template.format(logs=corpus.folder / "logs", folder=corpus.folder).split()
        told = corpus.folder / "told.json"
        yield f"terminal/compare {name}.txt", waybench_("compare", *arguments, "--json", told)
        yield f"compare/{name}.json", _indented(json.loads(told.read_text(encoding="utf-8")))
    for name, template in TABLES.items():
        yield f"terminal/{name}.txt", waybench_(*template.format(logs=corpus.folder / "logs").split())
    for entry in registry.built_in:
        yield f"contract/{_file(entry.id)}.json", _indented(list(lines(waybench.load(entry.id), 1, estimated=True)))
    sites = {"report": corpus.folder / "report", "hostile": corpus.folder / "hostile"}
    options = ("--prices", corpus.folder / "prices.json", "--models", corpus.folder / "models.toml", "--published")
    waybench_("report", corpus.folder / "logs", "--out", sites["report"], *options, "--replays", 2)
    make(sites["hostile"])
    for name, site in sites.items():
        yield from _site(name, site)


def _records(logs: Path) -> Iterator[tuple[str, str]]:
    """Yield the episodes of each model at each task, as the logs hold them."""
    texts: dict[str, list[str]] = defaultdict(list)
    for episode in read_logs(logs):
        told = {"settings": episode.settings, "search": episode.search, "record": episode.record.to_json()}
        folder = Path(episode.log).parent.name
        texts[f"records/{folder} {episode.task} {_file(episode.model)}.json"].append(_indented(told))
    for name, episodes in texts.items():
        yield name, "".join(episodes)


def _site(name: str, site: Path) -> Iterator[tuple[str, str]]:
    """Yield all outputs of a report."""
    many: dict[str, list[str]] = defaultdict(list)
    for path in sorted(site.rglob("*")):
        relative = path.relative_to(site)
        if path.is_dir() or relative.parts[0] == "assets":
            continue
        if path.suffix == ".html" and relative.parts[0] in _MANY:
            many[f"{name}/{relative.parent}/{re.sub(r'-[0-9]+$', '', path.stem)}.html"].append(_page(path))
        elif path.suffix == ".html":
            yield f"{name}/{relative}", _page(path)
        elif path.name == "summary.json":
            for key, value in json.loads(path.read_text(encoding="utf-8")).items():
                yield f"{name}/summary/{key}.json", _indented(value)
        elif path.suffix in {".csv", ".md"}:
            yield f"{name}/{relative}", path.read_text(encoding="utf-8")
        elif path.suffix == ".json":
            yield f"{name}/{relative}", _indented(json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".svg":
            yield f"{name}/{relative}", path.read_text(encoding="utf-8").replace("><", ">\n<")
    for page, parts in many.items():
        yield page, "".join(parts)


def _page(path: Path) -> str:
    """Return a page with a line for each tag, and with its packed data unpacked."""
    html = _PACKED.sub(lambda match: f'{match[1]}">{_unpacked(match[2])}', path.read_text(encoding="utf-8"))
    parts = _PRE.split(html)
    parts[::2] = [
        _BLANK.sub(" ", part).replace("> ", ">").replace(" <", "<").replace("<", "\n<") for part in parts[::2]
    ]
    return "".join(parts) + "\n"


def _unpacked(data: str) -> str:
    return zlib.decompress(base64.b64decode(data)).decode().replace("<", "&lt;") if data.strip() else ""


def _indented(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def _file(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _plain(text: str, folder: Path) -> str:
    """Return a text without the corpus's folder and the version, and with numbers to six digits."""
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")
    return _LONG.sub(_rounded, _INSTALLED.sub("", _VERSION.sub("VERSION", text)))


def _rounded(number: re.Match[str]) -> str:
    value = float(number[0])
    return f"{value:.{_DIGITS}g}" if abs(value) > _ZERO else "0"


def rows(text: str) -> int:
    """Return the number of rows of a frame as CSV."""
    return sum(1 for _ in csv.reader(io.StringIO(text, newline=""))) - 1
