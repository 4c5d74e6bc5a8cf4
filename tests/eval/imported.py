"""What a run of the command imports sooner or later: done once, in the process that others are forked from."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import inspect_ai.model._providers.openai_compatible
    import openai

    import waybench.cli._run
    import waybench.evaluation
    import waybench.evaluation.tasks
    import waybench.results

__all__ = ["inspect_ai", "openai", "waybench"]
