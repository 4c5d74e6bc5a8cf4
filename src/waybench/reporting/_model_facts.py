"""Facts about models (names, sizes, dates, series) from a user's file."""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

from waybench.core import UsageError, unknown
from waybench.results.formatting import one_line
from waybench.results.frames import Column, Frame, column_data

_LEAST = 1000  # parameters; less is a number of billions by mistake
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_FIELDS = ("name", "size", "date", "series")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Facts about one model.

    Attributes:
        name: What charts call it; "" for its name in the logs.
        size: Number of parameters; None if it is not given.
        released: When it was released; None if it is not given.
        series: The series that it belongs to, whose models make a line; "" for none.
    """

    name: str = ""
    size: float | None = None
    released: date | None = None
    series: str = ""


def read_models(path: Path) -> dict[str, ModelFacts]:
    """Read a file of models: a TOML table for each, by its name as in the logs.

    ["openai/some-model"] can have name, size (7e9 or "7B"), date (2023-07-18 or "2023-07") and series.

    Raises:
        UsageError: If the file cannot be read, or a field of a model does not fit; the message names both.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}): give a file of models") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not valid TOML ({one_line(str(error), 80)}): see `--models` in the guide"
        ) from None
    return {name: _model(f"{path}: {one_line(name, 80)}", value) for name, value in data.items()}


def _model(where: str, value: Any) -> ModelFacts:
    if not isinstance(value, dict):
        raise UsageError(f'{where}: give a table, as ["provider/model"] and below it size = "7B"')
    fields = cast("dict[str, Any]", value)
    for field in fields:
        if field not in _FIELDS:
            hint = " (a name with a dot or a slash needs quotes)" if isinstance(fields[field], dict) else ""
            raise UsageError(f"{where}: {unknown('field', field, _FIELDS)}{hint}")
    return ModelFacts(
        name=_text(f"{where}: name", fields.get("name", "")),
        size=_size(f"{where}: size", fields.get("size")),
        released=_date(f"{where}: date", fields.get("date")),
        series=_text(f"{where}: series", fields.get("series", "")),
    )


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: give text, not {one_line(str(value), 40)}")
    return one_line(value, 80)


def _size(where: str, value: Any) -> float | None:
    if isinstance(value, str) and (size := _SIZE.fullmatch(value.strip())):
        return float(size[1]) * _UNITS[size[2].upper()]
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= _LEAST:
        return float(value)
    raise UsageError(f'{where}: give the number of parameters, as 7e9 or "7B", not {one_line(repr(value), 40)}')


def _date(where: str, value: Any) -> date | None:
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(f"{value}-01" if _MONTH.fullmatch(value) else value)
        except ValueError:
            pass
    raise UsageError(f'{where}: give a day, as 2023-07-18, or a month, as "2023-07", not {one_line(str(value), 40)}')


def with_models(frame: Frame, models: Mapping[str, ModelFacts]) -> Frame:
    """Return a frame with the columns of what is known of each row's model, if any is, after its own."""
    if not models or all(fact.name != "model" for fact in frame.schema):
        return frame
    rows = [models.get(name, _NOTHING) for name in frame.table.column("model").to_pylist()]
    return frame.with_columns(column_data(_FACTS, rows))


_NOTHING = ModelFacts()
_FACTS: tuple[Column[ModelFacts], ...] = (
    Column(
        "model_name", str, "The model's name in the file of models; null without.", lambda facts: facts.name or None
    ),
    Column("model_size", float, "Its number of parameters by that file; null without.", "size"),
    Column(
        "model_date",
        str,
        "The date of its release by that file; null without.",
        lambda facts: facts.released and facts.released.isoformat(),
    ),
    Column("model_series", str, "Its series by that file; null without.", lambda facts: facts.series or None),
)
