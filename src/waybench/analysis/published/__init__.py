"""Published numbers beside what was run. They are in no estimate and in no comparison."""

from waybench.analysis.published._beside import Beside, Result, beside, label_of, metric_of, number_of
from waybench.analysis.published._frame import published_frame
from waybench.analysis.published._text import published_text

__all__ = ["Beside", "Result", "beside", "label_of", "metric_of", "number_of", "published_frame", "published_text"]
