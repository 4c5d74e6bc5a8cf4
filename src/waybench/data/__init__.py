"""Public data sets: where their authors publish them, their checksums and licences, and where copies are found.

None of them is part of waybench. `fetch` is the only function of the whole package that downloads anything.
"""

from waybench.data._dataset import DataFile, DataSet
from waybench.data._fetch import fetch
from waybench.data._index import DATASETS, dataset
from waybench.data._places import cache_dir, folder, locate

__all__ = ["DATASETS", "DataFile", "DataSet", "cache_dir", "dataset", "fetch", "folder", "locate"]
