"""Pages of the report."""

from waybench.reporting.pages._compare import Verdicts, comparable_tasks, comparison
from waybench.reporting.pages._episode import conversation, episode_source, probes, repeated
from waybench.reporting.pages._home import Compared, Section, SectionFamily, section_families, sections
from waybench.reporting.pages._models import ledger_page, model
from waybench.reporting.pages._results import Attempt, Item, Results, item_kinds

__all__ = [
    "Attempt",
    "Compared",
    "Item",
    "Results",
    "Section",
    "SectionFamily",
    "Verdicts",
    "comparable_tasks",
    "comparison",
    "conversation",
    "episode_source",
    "item_kinds",
    "ledger_page",
    "model",
    "probes",
    "repeated",
    "section_families",
    "sections",
]
