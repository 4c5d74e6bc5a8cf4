"""Colours of lines and bars: a model has the same colour in all charts of a report."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from waybench.analysis.logs import is_embedded

COLOURS = 7
_NO_MODELS: Mapping[str, int] = {}
_NUMBERS = ContextVar("model colours", default=_NO_MODELS)


@contextmanager
def model_colours(models: Sequence[str]) -> Generator[None, None, None]:
    """Give each model of a report a colour of its own, as far as there are colours.

    Args:
        models: The models, in the order of the colours; one that comes again keeps its first place.
    """
    token = _NUMBERS.set({model: number for number, model in enumerate(dict.fromkeys(models))})
    try:
        yield
    finally:
        _NUMBERS.reset(token)


def colour_number(model: str) -> int | None:
    """Return the place of a model's colour among those of a report; None if it has none."""
    return _NUMBERS.get().get(model)


def colour_numbers(models: Sequence[str]) -> list[int]:
    """Return the number of the colour of each line of a chart, from 0 to `COLOURS` - 1.

    A line has its model's colour. Where several lines would have the same one, because they are of one model or the
    report has more models than colours, the later ones take free colours; reference players come last.
    A line alone has the first colour, so that the pages of a model do not change with the other models.

    Args:
        models: The model of each line.
    """
    if len(models) == 1:
        return [0]
    known, seen = _NUMBERS.get(), Counter[str]()
    order: list[tuple[bool, int, int, int]] = []
    for line, model in enumerate(models):
        order.append((is_embedded(model), seen[model], known.get(model, line), line))
        seen[model] += 1
    found, taken = [0] * len(models), set[int]()
    for _, _, wanted, line in sorted(order):
        if len(taken) == COLOURS:
            taken.clear()
        free = (number % COLOURS for number in range(wanted, wanted + COLOURS))
        found[line] = next(number for number in free if number not in taken)
        taken.add(found[line])
    return found
