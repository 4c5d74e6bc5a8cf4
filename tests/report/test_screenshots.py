"""The pictures of the pages."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.browser import PHONE, WIDE
from tests.report.screenshots import SCALE, pages, take

pytestmark = pytest.mark.slow

# Of a picture its measures, the number of its colours, and how light it is on average, from 0 to 255.
LOOK = """async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const { data } = canvas.getImageData(0, 0, image.width, image.height);
    const colours = new Set();
    let light = 0;
    for (let at = 0; at < data.length; at += 4) {
        colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
        light += data[at] + data[at + 1] + data[at + 2];
    }
    return [image.width, image.height, colours.size, light / (data.length / 4 * 3)];
}"""


def test_there_is_a_picture_of_every_kind_of_page(chromium: Any, site: Path, tmp_path: Path) -> None:
    assert set(pages(site)) == {"home", "task", "model", "results", "compare", "replay", "replay-other"}
    taken = list(take(chromium, site, tmp_path / "pictures"))
    assert sorted(taken) == sorted((tmp_path / "pictures").iterdir())
    assert {path.stem for path in taken} == {
        f"{name}-{colours}-{width}"
        for name in pages(site)
        for colours in ("light", "dark")
        for width in ("wide", "phone")
    }
    page = chromium.new_page()
    for path in taken:
        source = f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"
        width, height, colours, light = page.evaluate(LOOK, source)
        window = PHONE if "phone" in path.stem else WIDE
        assert (width, height) == (window["width"] * SCALE, window["height"] * SCALE)
        assert colours > 100, path.name
        assert light < 80 if "dark" in path.stem else light > 150, path.name
    page.close()
