"""The site's folder, the templates of its pages, and the files that pages share."""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any, cast

from jinja2 import BytecodeCache, PackageLoader, StrictUndefined
from jinja2 import Environment as Templates
from jinja2.bccache import Bucket
from markupsafe import Markup

from waybench._version import __version__
from waybench.core import UsageError, plural
from waybench.core._errors import with_article
from waybench.reporting._format import (
    count_text,
    dollars_text,
    interval_text,
    metric_heading,
    metric_in_sentence,
    percent_text,
    to_anchor,
)
from waybench.results.formatting import mean_text, one_line, visible
from waybench.results.stats import CONFIDENCE

LIST = "assets/files.json"
READABLE = 60  # characters of a name that its file name begins with, at most
SECTION_BEGIN, SECTION_END = "<!-- others -->", "<!-- /others -->"
_SECTION = re.compile(f"(?<={SECTION_BEGIN}).*?(?={SECTION_END})".encode(), re.DOTALL)
_ROOT_FILES = {"index.html", "summary.json", "table.md"}
# Only files of a report, in its folders, are removed, whatever else the list in the folder names.
_REPORT_FILE = re.compile(
    r"(agents|all|assets|charts|clusters|compare|data|families|ledger|models|replays|results|tasks|verdicts)/[a-z0-9][a-z0-9.-]*"
)


def slug(name: str, identity: str) -> str:
    """Return a file name without suffix: the beginning of a readable name, and the digest of an identity.

    It is safe ASCII of at most 69 characters, and always the same for the same name and identity.
    """
    # Cut before normalization, since a name from a log can have any length.
    ascii_ = unicodedata.normalize("NFKD", name[:1000]).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", ascii_).strip("-")[:READABLE].rstrip("-")
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}" if readable else digest


ScoreKey = tuple[str, tuple[str, ...]]  # an environment's id, and the settings that have tables of their own, in words


def task_page_name(env: str, separate_by: tuple[str, ...]) -> str:
    """Return the name of a task's page without suffix, which is also its anchor in other pages.

    `separate_by` are the settings, in words, that keep its scores out of others' tables.
    """
    settings = "".join(separate_by)
    # Settings are text from a record, which may hold anything: only the hash tells them apart for certain.
    return slug(f"{env}-{settings}", f"{env} {settings}") if settings else to_anchor(env)


class SiteFolder:
    """The folder that a site is written to.

    A page can have one section between the comments `SECTION_BEGIN` and `SECTION_END` that depends on other results
    than the rest of the page. When these change, `replace_section` replaces the section alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: dict[str, str] = {}
        self._existing_folders: set[Path] = set()

    @property
    def written(self) -> dict[str, str]:
        """Names of the files written or taken over -> their digests (`_content_hashes`), separated by a space."""
        return dict(self._written)

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file in one piece, so that readers see the old or the new one whole; raise UsageError on failure."""
        self._write_bytes(name, content.encode() if isinstance(content, str) else content)

    def _write_bytes(self, name: str, data: bytes) -> None:
        path = self.path / name
        self._written[name] = " ".join(_content_hashes(data))
        try:
            # Most pages of a report that is made again are unchanged, and need not be written.
            with suppress(FileNotFoundError):
                if path.read_bytes() == data:
                    return
            if path.parent not in self._existing_folders:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._existing_folders.add(path.parent)
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                temporary.write_bytes(data)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UsageError(f"cannot write the report to {path.parent} ({reason}): give another folder") from None

    @contextmanager
    def record_written_files(self) -> Generator[dict[str, str], None, None]:
        """Yield a mapping that receives the files written within the block, with their digests."""
        before, written = self._written, dict[str, str]()
        self._written = written
        try:
            yield written
        finally:
            self._written = before | written

    def replace_section(self, name: str, section: str) -> None:
        """Replace the section of a file in the folder; a file without a section stays as it is."""
        data = section.encode()
        self._write_bytes(name, _SECTION.sub(lambda _: data, (self.path / name).read_bytes(), count=1))

    def has_files(self, file_digests: Mapping[str, str], *, sections: bool = True) -> bool:
        """Return whether these files are in the folder with these digests; `sections=False` ignores the sections."""
        for name, digests in file_digests.items():
            try:
                is_report_file = name in _ROOT_FILES or _REPORT_FILE.fullmatch(name)
                current = _content_hashes((self.path / name).read_bytes() if is_report_file else b"")
            except OSError:
                return False
            expected = digests.split()
            # The last digest is that of the content without a section.
            if current != expected if sections else current[-1] != expected[-1]:
                return False
        return True

    def take_over(self, file_digests: Mapping[str, str]) -> None:
        """Count unchanged files of an earlier report as written by this one."""
        self._written |= file_digests

    def finish(self) -> None:
        """Delete the files of an earlier report that this one has not written, and write the list of files."""
        for name in _listed_files(self.path) - self._written.keys():
            with suppress(OSError):
                (self.path / name).unlink()
        self.write(LIST, json.dumps(sorted(self._written), indent=0) + "\n")

    def remove_files(self) -> None:
        """Delete all files of an earlier report."""
        if not (self.path / LIST).is_file():  # then the folder holds no report, and its files are somebody's
            return
        for name in _listed_files(self.path) | _ROOT_FILES | {LIST}:
            with suppress(OSError):
                (self.path / name).unlink()


def _content_hashes(data: bytes) -> list[str]:
    """Return the digest of a file's content and, if it has a section, that of the content without the section."""
    contents = [data]
    if SECTION_BEGIN.encode() in data:
        without_section, n_sections = _SECTION.subn(b"", data, count=1)
        contents += [without_section] * n_sections  # none if the section has no end
    return [hashlib.sha256(content).hexdigest() for content in contents]


def _listed_files(path: Path) -> set[str]:
    """Return the names of a report's files in a folder's list; none without a valid list."""
    try:
        value: Any = json.loads((path / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    names = cast(list[Any], value) if isinstance(value, list) else []
    return {name for name in names if isinstance(name, str) and _REPORT_FILE.fullmatch(name)}


SCRIPTS = "tables.js", "unpack.js", "replay.js", "results.js", "compare.js"


class _CompiledTemplates(BytecodeCache):
    """Keeps compiled templates, for a site that is built again and again while a run goes on."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _CompiledTemplates()


def make_templates(title: str) -> Templates:
    """Return the Jinja environment with the templates of a site."""

    def make_visible(value: Any) -> Any:
        """Return a printed text with its invisible characters shown; Markup and other values unchanged."""
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    # Every value that a template prints is then escaped; only Markup, which is made in _svg.py and of drawings, is not.
    environment = Templates(
        loader=PackageLoader("waybench.reporting", "templates"),
        autoescape=True,
        finalize=make_visible,
        undefined=StrictUndefined,
        bytecode_cache=_COMPILED,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    untyped: Any = environment  # jinja2 gives its globals and filters no types
    values, filters = untyped.globals, untyped.filters
    values |= {"site": one_line(title, 80), "version": __version__, "confidence": f"{100 * CONFIDENCE:.0f}"}
    for function in (
        count_text,
        to_anchor,
        metric_heading,
        metric_in_sentence,
        dollars_text,
        one_line,
        percent_text,
        plural,
        with_article,
    ):
        filters[function.__name__] = function
    filters |= {"interval": interval_text, "mean": mean_text}
    return environment


def asset_files(filter_kinds: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the names and contents of the files that pages share: style sheet, scripts, and DataTables.

    `filter_kinds` are the kinds of items that a filter can show alone, as parts of ids and classes. Each has a rule in
    the style sheet, so that filters need no script.
    """
    folder = files("waybench.reporting") / "templates"
    rules = (
        f"body:has(#show-{kind}:checked) .card:not(.is-{kind}) {{ display: none; }}\n" for kind in sorted(filter_kinds)
    )
    yield "assets/style.css", (folder / "style.css").read_text(encoding="utf-8") + "".join(rules)
    for name in SCRIPTS:
        yield f"assets/{name}", (folder / name).read_text(encoding="utf-8")
    yield "assets/datatables.js", _datatables_script()


def _datatables_script() -> str:
    """Return DataTables as a classic script; pages that are opened from a folder cannot load modules.

    The package `itables` carries it as a module; what that exports becomes one object, `DataTables`.
    """
    spec = find_spec("itables")  # importing it would import pandas
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("itables is not installed")
    module = Path(spec.origin).with_name("html").joinpath("dt_bundle.js").read_text(encoding="utf-8")
    body, export_start, tail = module.rpartition("export{")
    names, export_end, licences = tail.partition("}")
    if not export_start or not export_end:
        raise ValueError("itables' script has no exports any more: see waybench.reporting._files")
    local_and_exported = (pair.split(" as ") for pair in names.split(","))
    members = ",".join(f'"{exported}":{local}' for local, exported in local_and_exported)
    return f"globalThis.DataTables=(()=>{{{body}return {{{members}}};}})();{licences.removeprefix(';')}"
