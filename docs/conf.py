"""Sphinx's settings for the documentation site: `make site` builds it in build/site, without a network."""

import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from waybench import __version__

DOCS = Path(__file__).parent.resolve()
ROOT = DOCS.parent
DEMO = ROOT / "build" / "demo" / "site"  # what `make site` adds, by Sphinx's tag "demo"

project = "waybench"
author = "waybench contributors"
copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
# The guide is a list of links for readers who look for it in the repository.
exclude_patterns = ["guide.md"]

# Every heading of these levels is an anchor, named as GitHub names it: the pages are read there, too.
myst_heading_anchors = 4
myst_enable_extensions = ["fieldlist"]

# Docstrings are written with Markdown's single backticks.
default_role = "code"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
# Types of other packages and the type variables of generic classes have no page here.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r".*")]

html_theme = "furo"
html_title = "waybench"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
# A search result would fetch its page, which browsers refuse for pages that are read without a server.
html_show_search_summary = False
html_theme_options = {"top_of_page_buttons": []}


def _prepare(app: Sphinx, name: str, source: list[str]) -> None:
    """Put CONTRIBUTING.md in the place of its page, and names in the place of links to files that are no pages."""
    folder = (DOCS / name).parent
    if name == "contributing":
        folder = ROOT
        app.env.note_dependency(str(ROOT / "CONTRIBUTING.md"))
        source[0] = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    def linked(found: re.Match[str]) -> str:
        text, path, anchor = found.groups(default="")
        target = (folder / path).resolve()
        if "://" in path or not target.exists():
            return found[0]
        if target.is_relative_to(DOCS):
            return f"[{text}]({path.removeprefix('docs/') if folder == ROOT else path}{anchor})"
        return text

    if name == "index" and app.tags.has("demo"):
        report = "the demonstration's report"
        source[0] = source[0].replace(report, f'<a href="demo/index.html">{report}</a>')
    source[0] = re.sub(r"(?<!!)\[([^\]\n]+)\]\(([^)#\s]+)(#[^)\s]*)?\)", linked, source[0])


def _mark_pictures(app: Sphinx, document: nodes.document, name: str) -> None:
    """Give the pictures of games the class that puts them beside their texts."""
    for image in document.findall(nodes.image):
        if "images/games/" in image["uri"] and not image["uri"].endswith("strip.svg"):
            image["classes"].append("game")


def _add_demo(app: Sphinx, error: Exception | None) -> None:
    """Put the report of the demonstration into the site."""
    if error is None and app.tags.has("demo"):
        shutil.copytree(DEMO, Path(app.outdir) / "demo", dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    """Connect what prepares the pages."""
    app.connect("source-read", _prepare)
    app.connect("doctree-resolved", _mark_pictures)
    app.connect("build-finished", _add_demo)
