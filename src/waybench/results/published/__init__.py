"""Published numbers beside the results of a run. No estimate and no comparison includes them."""

from waybench.results.published._published import Beside, beside, label_of, published_frame, published_text

__all__ = ["Beside", "beside", "label_of", "published_frame", "published_text"]
