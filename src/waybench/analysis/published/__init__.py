"""Published numbers beside the results of a run. No estimate and no comparison includes them."""

from waybench.analysis.published._beside import Beside, beside, label_of
from waybench.analysis.published._frame import published_frame
from waybench.analysis.published._text import published_text

__all__ = ["Beside", "beside", "label_of", "published_frame", "published_text"]
