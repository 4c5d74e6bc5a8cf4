"""Pages of the report."""

from waybench.report.pages._compare import comparison
from waybench.report.pages._episode import conversation
from waybench.report.pages._home import Compared, Section, sections
from waybench.report.pages._ledger import ledger_page
from waybench.report.pages._models import model
from waybench.report.pages._results import Attempt, Item, Results, item_kinds
from waybench.report.pages._verdicts import MOST, Verdicts

__all__ = [
    "MOST",
    "Attempt",
    "Compared",
    "Item",
    "Results",
    "Section",
    "Verdicts",
    "comparison",
    "conversation",
    "item_kinds",
    "ledger_page",
    "model",
    "sections",
]
