"""The pages' templates, and the files that pages share."""

from collections.abc import Iterable, Iterator
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
from waybench.core import plural, with_article
from waybench.reporting._format import amount, anchor, heading, in_words, interval_text, money, percent
from waybench.results.formatting import mean_text, one_line, visible
from waybench.results.stats import CONFIDENCE

SCRIPTS = "tables.js", "unpack.js", "replay.js", "results.js", "compare.js"  # ours; each page that has one names it


class _Compiled(BytecodeCache):
    """Keeps compiled templates, for a site that is built again and again while a run goes on."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._kept[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def templates(title: str) -> Templates:
    """Return the templates of a site with a title."""

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    # Every value that a template prints goes through `shown` and is then escaped; only Markup, which is made in
    # _svg.py and of drawings, is not.
    made = Templates(
        loader=PackageLoader("waybench.reporting", "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        bytecode_cache=_COMPILED,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    values, filters = cast(dict[str, Any], made.globals), cast(dict[str, Any], made.filters)
    values |= {"site": one_line(title, 80), "version": __version__, "confidence": f"{100 * CONFIDENCE:.0f}"}
    for function in (amount, anchor, heading, in_words, money, one_line, percent, plural, with_article):
        filters[function.__name__] = function
    filters |= {"interval": interval_text, "mean": mean_text}
    return made


def assets(kinds: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield names and contents of the files that pages share: the style sheet, our scripts, and DataTables.

    Args:
        kinds: By what items can be filtered. Each is a part of an id and of a class, and has a rule in the style sheet:
            filters need no script, and a page has no styles of its own.
    """
    folder = files("waybench.reporting") / "templates"
    rules = (f"body:has(#show-{kind}:checked) .card:not(.is-{kind}) {{ display: none; }}\n" for kind in sorted(kinds))
    yield "assets/style.css", (folder / "style.css").read_text(encoding="utf-8") + "".join(rules)
    for name in SCRIPTS:
        yield f"assets/{name}", (folder / name).read_text(encoding="utf-8")
    yield "assets/datatables.js", _datatables()


def _datatables() -> str:
    """Return DataTables as a classic script, which pages opened from a folder may load while modules they may not.

    The package `itables` carries it as a module; what that exports becomes one object, `DataTables`.
    """
    found = find_spec("itables")  # importing it would import pandas
    if found is None or found.origin is None:
        raise ModuleNotFoundError("itables is not installed")
    module = Path(found.origin).with_name("html").joinpath("dt_bundle.js").read_text(encoding="utf-8")
    body, exports, rest = module.rpartition("export{")
    names, end, licences = rest.partition("}")
    if not exports or not end:
        raise ValueError("itables' script has no exports any more: see waybench.reporting._templates")
    pairs = (pair.split(" as ") for pair in names.split(","))
    made = ",".join(f'"{name}":{local}' for local, name in pairs)
    return f"globalThis.DataTables=(()=>{{{body}return {{{made}}};}})();{licences.removeprefix(';')}"
