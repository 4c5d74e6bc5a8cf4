"""Pictures of messages as PNG, for models that read images."""

import base64
import re
from functools import lru_cache

import vl_convert
from inspect_ai.model import ContentImage

from waybench.core import Picture

# The one font that comes with what draws the pictures, so that they have the same bytes whatever fonts a machine has.
_FONT = 'font-family="Liberation Sans"'
_GENERIC = re.compile(r'font-family="(?:sans-serif|monospace)"')
_ROOT = re.compile(r'<svg [^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"[^>]*>')
_PIXELS_PER_TOKEN = 750  # by which Anthropic's documentation estimates the tokens of a picture


def png(picture: Picture) -> bytes:
    """Return a picture as PNG, on white. The same picture has the same bytes every time.

    Args:
        picture: The picture.

    Raises:
        ValueError: If it is not drawn with a view box from 0 0.
    """
    return _png(picture.svg, picture.size)


@lru_cache(maxsize=64)  # a chat shows its first pictures again with each request
def _png(svg: str, size: int) -> bytes:
    root = _ROOT.match(svg)
    if root is None:
        raise ValueError("a drawing begins with <svg ...> and a view box from 0 0")
    width, height = float(root[1]), float(root[2])
    scale = size / max(width, height)
    across, down = max(round(width * scale), 1), max(round(height * scale), 1)
    body = svg[root.end() :]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" '
        f'viewBox="0 0 {width:g} {height:g}" {_FONT}>'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>'
    )
    return bytes(vl_convert.svg_to_png(head + _GENERIC.sub(_FONT, body)))


def content_image(picture: Picture) -> ContentImage:
    """Return a picture as a part of a message of Inspect."""
    return ContentImage(image=f"data:image/png;base64,{base64.b64encode(png(picture)).decode('ascii')}")


def picture_tokens(picture: Picture) -> float:
    """Return about how many tokens a picture takes, for estimates: a token for each 750 pixels of a square."""
    return picture.size**2 / _PIXELS_PER_TOKEN
