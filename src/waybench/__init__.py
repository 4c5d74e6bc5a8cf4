"""waybench: how well does a language model find its way?

* `list_environments`, `load`: the environments;
* `play`: one episode with a function of text to text, or with a reference player;
* `evaluate`: models on tasks;
* `read_logs`, `report`: the results of runs, as tables and as a site;
* `compare`, `profile`, `power`: which model is better, at what, and how many items show it;
* `score`: stored replies, without a model.

Importing the package loads neither numpy nor the evaluation engine. `waybench.core` has what environments are made of,
`waybench.testing` contract tests for environments of your own.
"""

from typing import TYPE_CHECKING

from waybench._late import lazy_names
from waybench._version import __version__

if TYPE_CHECKING:
    from waybench._analyses import Analysis, compare, power, profile
    from waybench._episodes import EpisodeResult, Prompt, list_environments, load, play, score
    from waybench._runs import Results, evaluate, read_logs, report

__all__ = [
    "Analysis",
    "EpisodeResult",
    "Prompt",
    "Results",
    "__version__",
    "compare",
    "evaluate",
    "list_environments",
    "load",
    "play",
    "power",
    "profile",
    "read_logs",
    "report",
    "score",
]

__getattr__ = lazy_names(
    __name__,
    {
        "_analyses": ("Analysis", "compare", "power", "profile"),
        "_episodes": ("EpisodeResult", "Prompt", "list_environments", "load", "play", "score"),
        "_runs": ("Results", "evaluate", "read_logs", "report"),
    },
)


def __dir__() -> list[str]:
    return list(__all__)
