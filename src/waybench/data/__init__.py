"""Published data sets: download, and where copies are found.

None of them is part of waybench; environments declare them. `fetch` is the only function of the whole package that
downloads anything.
"""

from waybench.data._fetch import LocalFiles, cache_dir, downloads, fetch, find_download, folder, locate

__all__ = ["LocalFiles", "cache_dir", "downloads", "fetch", "find_download", "folder", "locate"]
