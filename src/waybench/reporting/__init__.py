"""Episodes as a static site, which opens from a folder with no server and no network.

`_write` is the module to read first, then `_pages` and `_site`.
"""

from typing import TYPE_CHECKING

from waybench._late import lazy_names

if TYPE_CHECKING:
    from waybench.reporting._reading import read_models
    from waybench.reporting._write import write_report

__all__ = ["read_models", "write_report"]

__getattr__ = lazy_names(__name__, {"_reading": ("read_models",), "_write": ("write_report",)})
