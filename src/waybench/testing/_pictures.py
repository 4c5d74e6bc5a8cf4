"""Checks of pictures: what they take the place of, and that they play like the texts."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from waybench.core import IMAGE_WORDINGS, IN_PICTURE, Episode, Message, base_wording, policy
from waybench.testing._require import AnyEnvironment, require
from waybench.testing._walks import AnyEpisode, items

_TURNS = 10
_VIEW_BOX = re.compile(r"0 0 [0-9.]+ [0-9.]+")


def check_pictures(environment: AnyEnvironment, level: int) -> None:
    """Pictures are drawings that stand where the text was, and the same replies lead to the same turns with them.

    A picture says what it takes the place of: where these texts differ, so do the pictures.
    """
    if environment.playing.images is None:
        return
    item = items(environment, level, 1)[0]
    for protocol in next(option for option in environment.playing.options if option.name == "protocol").choices:
        for wording in IMAGE_WORDINGS:
            shown: dict[str, tuple[tuple[str, str], ...]] = {}
            for player in ("oracle", "random"):
                options = {**environment.playing.check_options, "protocol": protocol, "wording": wording}
                for message in _played(environment, item, options, player):
                    assert message.picture is not None
                    svg, what = message.picture.svg, f"{options}, {player}"
                    _require_drawing(svg, what)
                    texts = message.picture.texts
                    require(shown.setdefault(svg, texts) == texts, "{}: one picture of two descriptions", what)
                    for name, text in texts:
                        stands = bool(text) and text in message.text
                        require(wording != "image" or not stands, "{}: {!r} is in the text, too", what, name)


def _played(environment: AnyEnvironment, item: Any, options: dict[str, Any], player: str) -> Iterator[Message]:
    """Play an episode in a wording with pictures and in its base; yield the messages that have a picture."""
    seen: AnyEpisode = Episode(environment, item, options)
    read: AnyEpisode = Episode(environment, item, {**options, "wording": base_wording(seen.options)})
    require(seen.messages[-1].picture is not None, "{}: the opening has no picture", options)
    chosen = policy(player)
    for _ in range(_TURNS):
        if seen.done:
            break
        yield from (message for message in seen.messages[-1:] if message.picture is not None)
        if options["wording"] == "image":
            require(
                any(IN_PICTURE in message.text for message in seen.messages) or seen.messages[0] != read.messages[0],
                "{}: the picture takes the place of nothing",
                options,
            )
        reply = chosen.reply(seen)
        turns = [episode.step(reply)._replace(message="") for episode in (seen, read)]
        require(turns[0] == turns[1], "{}: with a picture the same reply has another outcome", options)
    require(all(message.picture is None for message in seen.record().opening), "{}: a record has a picture", options)


def _require_drawing(svg: str, what: object) -> None:
    root = ElementTree.fromstring(svg)
    require(root.tag == "svg", "{}: a picture is no <svg>", what)
    require(_VIEW_BOX.fullmatch(root.get("viewBox", "")), "{}: a picture has no view box from 0 0", what)
