"""The published data sets that environments declare, those of other installed packages included."""

import warnings
from functools import cache

from waybench.core import CatalogueWarning, Download, UsageError, unknown
from waybench.envs import registry


@cache
def downloads() -> dict[str, Download]:
    """Return the published data sets of all environments (`Dataset.download`) by name."""
    found: dict[str, Download] = {}
    for entry in sorted(registry.entries, key=lambda entry: entry not in registry.built_in):
        try:
            declared = [each.download for each in registry.load(entry.id).items.datasets if each.download is not None]
        except Exception as error:  # another package's code; it must not take the other data sets with it
            _warn(f"the data sets of environment {entry.id} are skipped: {type(error).__name__}: {error}")
            continue
        for each in declared:
            if found.setdefault(each.name, each) != each:
                _warn(f"environment {entry.id}: a data set {each.name} exists already; this one is skipped")
    return dict(sorted(found.items()))


def _warn(message: str) -> None:
    warnings.warn(message, CatalogueWarning, stacklevel=3)


def find_download(name: str) -> Download:
    """Return a data set by its name.

    Raises:
        UsageError: If there is none of this name.
    """
    if name not in downloads():
        raise UsageError(unknown("data set", name, downloads()))
    return downloads()[name]
