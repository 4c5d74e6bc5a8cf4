"""What an environment declares of its drawings, and what follows from it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from waybench.core import Presentation, Scene, TurnRecord


def scene(instance: Any, turns: Sequence[TurnRecord]) -> Scene:
    return Scene(classes="mark", label=str(instance), size=(1, 1), parts=())


def frames(presentation: Presentation) -> list[str]:
    assert presentation.draw_frames is not None
    return list(presentation.draw_frames("a", [], [0]))


def test_drawing_and_frames_follow_from_the_scene() -> None:
    presentation = Presentation(scene=scene)
    assert presentation.draw is not None
    assert frames(presentation) == [presentation.draw("a")]
    without = replace(presentation, scene=None)
    assert (without.draw, without.draw_frames) == (None, None)


def test_a_copy_with_another_drawing_has_frames_of_it() -> None:
    first = Presentation(draw=lambda instance, turns=(), **options: "first")
    second = replace(first, draw=lambda instance, turns=(), **options: "second")
    assert (frames(first), frames(second)) == (["first"], ["second"])
    assert frames(replace(Presentation(scene=scene), draw=first.draw)) == ["first"]
    assert frames(replace(second, title="another")) == ["second"]
