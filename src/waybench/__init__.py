"""waybench: how well does a language model find its way?

* `list_environments`, `load`: the environments;
* `play`: one episode with a function of text to text, or with a reference player;
* `evaluate`: models on tasks;
* `read_logs`, `report`: the results of runs, as tables and as a site;
* `score`: stored replies, without a model.

Importing the package loads neither numpy nor the evaluation engine. `waybench.core` has what environments are made of,
`waybench.testing` contract tests for environments of your own.
"""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench._version import __version__

if TYPE_CHECKING:
    from waybench._episodes import EpisodeResult, Prompt, list_environments, load, play, score
    from waybench._runs import Results, evaluate, read_logs, report

__all__ = [
    "EpisodeResult",
    "Prompt",
    "Results",
    "__version__",
    "evaluate",
    "list_environments",
    "load",
    "play",
    "read_logs",
    "report",
    "score",
]

__getattr__ = late_names(
    __name__,
    {
        "_episodes": ("EpisodeResult", "Prompt", "list_environments", "load", "play", "score"),
        "_runs": ("Results", "evaluate", "read_logs", "report"),
    },
)
