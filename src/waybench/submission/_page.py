"""The page of a verdict, which a person reads: one HTML file that loads nothing."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from waybench.analysis.formatting import visible
from waybench.core import plural
from waybench.submission._verdict import NOT_PROVEN, PROBLEMS, Verdict


def verdict_page(verdict: Verdict, *, links: Sequence[tuple[str, str]] = (), note: str = "", signer: str = "") -> str:
    """Return the page of a verdict.

    Args:
        verdict: The verdict. Everything in it is text from outside, which is escaped.
        links: Texts and addresses of pages about the same submission.
        note: What else is known of the submission, in a sentence.
        signer: Who signed a verdict that the file is verified, which stands for the checks that are not possible here;
            "" for nobody. The page's heading is then this verdict, and what is not checked here is no failure.
    """
    templates = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    source = (files("waybench.submission") / "verdict.html").read_text(encoding="utf-8")
    headline = [
        score for score in verdict.scores if score["kind"] == "overall" and score["metrics"].get(score["headline"])
    ]
    return templates.from_string(source).render(
        verdict=verdict,
        links=links,
        note=note,
        signer=signer,
        scores=headline,
        meanings=PROBLEMS,
        not_proven=NOT_PROVEN,
        plural=plural,
        records=sum(run.records for run in verdict.runs),
    )


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) else value
