"""Tokens of language models: tokenizers by name, and the cost of tokens by the user's table of prices."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from waybench.core._errors import DataError, UsageError
from waybench.core._json import is_object
from waybench.core._record import EpisodeRecord
from waybench.core._user_files import read_json_file, user_path

ESTIMATE = "characters"
_CHARACTERS = 4  # of English text in a token
MILLION = 1_000_000
_LARGEST_FILE = 1 << 24  # bytes
_FIELDS = ("input", "output", "input_cache_read")
_UNUSED = "input_cache_write"  # in Inspect's files, which may be given here; records do not count these tokens apart
_HIGHEST = MILLION  # a dollar for each token
_SHAPE = '{"provider/model": {"input": 2.5, "output": 10, "input_cache_read": 1.25}}, in dollars per million tokens'
_BUDGET = re.compile(r"\$?(\d+(?:\.\d+)?) ?([kM]?) ?(USD|tokens?|)", re.ASCII | re.IGNORECASE)
_TIMES = {"": 1, "k": 1000, "m": 1_000_000}


class CharacterTokens:
    """Counts four characters as a token: an estimate that needs no tokenizer."""

    def encode(self, text: str, /) -> Sequence[str]:
        """Return pieces of four characters."""
        return [text[at : at + _CHARACTERS] for at in range(0, len(text), _CHARACTERS)]

    def decode(self, tokens: Any, /) -> str:
        """Return the text of pieces."""
        return "".join(tokens)


class _FileTokens:
    """Adapter of a tokenizer of the library `tokenizers`, whose `encode` returns an object."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str, /) -> Sequence[int]:
        ids: Sequence[int] = self._tokenizer.encode(text).ids
        return ids

    def decode(self, tokens: Any, /) -> str:
        return str(self._tokenizer.decode(list(tokens)))


def load_tokenizer(name: str) -> Any:
    """Return a tokenizer by its name.

    Args:
        name: "characters" for an estimate; "tiktoken/ENCODING", as in tiktoken/cl100k_base; or the path of a
            tokenizer.json.

    Raises:
        UsageError: If there is no such tokenizer, or its library is not installed.
    """
    if name == ESTIMATE:
        return CharacterTokens()
    kind, _, encoding = name.partition("/")
    try:
        if kind == "tiktoken" and encoding:
            return import_module("tiktoken").get_encoding(encoding)
        if (path := user_path(name)).is_file():
            return _FileTokens(import_module("tokenizers").Tokenizer.from_file(str(path)))
    except ImportError:
        library = "tiktoken" if kind == "tiktoken" else "tokenizers"
        raise UsageError(f"tokenizer={name[:80]!r}: it is read by {library}: pip install {library}") from None
    except Exception as error:  # libraries raise different errors for wrong names, damaged files or a missing network
        message = " ".join(str(error).split())[:200]
        if kind == "tiktoken" and isinstance(error, OSError):
            raise UsageError(
                f"tokenizer={name[:80]!r}: tiktoken cannot fetch its vocabulary ({type(error).__name__}): load it once "
                "where there is a network, and copy tiktoken's cache ($TIKTOKEN_CACHE_DIR) to this machine"
            ) from None
        raise UsageError(f"tokenizer={name[:80]!r}: it cannot be loaded ({type(error).__name__}: {message})") from None
    raise UsageError(
        f"tokenizer={name[:80]!r}: give characters, tiktoken/ENCODING, or the path of a tokenizer.json that is there"
    )


def tokenizer_name_with_digest(name: str) -> str:
    """Return a tokenizer's name as items record it; for a file, its own name and a digest."""
    path = user_path(name)
    if name == ESTIMATE or name.startswith("tiktoken/") or not path.is_file():
        return name
    return f"{path.name[:100]}#{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class Price:
    """A model's prices, in dollars per million tokens; the names are those of Inspect's `--model-cost-config`.

    Attributes:
        input: Of requests' tokens.
        output: Of replies' tokens, reasoning included.
        input_cache_read: Of requests' tokens that the provider says it read from its cache.
    """

    input: float
    output: float
    input_cache_read: float

    def episode_cost(self, record: EpisodeRecord) -> float | None:
        """Return the cost of an episode in dollars; None if its tokens are not known."""
        usages = [turn.usage for turn in record.turns if turn.usage]
        if not any(record.tokens):
            return None
        cached = sum(usage.cached_tokens for usage in usages)
        return self.cost(*record.tokens, cached)

    def cost(self, input_tokens: float, output_tokens: float, cached: float = 0) -> float:
        """Return the cost of tokens in dollars.

        `cached` is the number of the input tokens that were read from the provider's cache.
        """
        return (
            (input_tokens - cached) * self.input + cached * self.input_cache_read + output_tokens * self.output
        ) / MILLION


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices in a user's JSON file, by model.

    "input_cache_read" is the price of "input" where it is not given. A null is a price that is not given; a model with
    nulls alone, as in a table that is still to be filled in (`price_table_json`), is left out.

    Raises:
        UsageError: If the file cannot be read or is no such table.
    """
    prices = {name: _price_of_entry(path, name, entry) for name, entry in _read_price_table(path).items()}
    return {name: price for name, price in prices.items() if price is not None}


def price_table_json(models: Iterable[str], path: Path | None = None, known: Mapping[str, Price] | None = None) -> str:
    """Return a table of prices as JSON for a user to fill in; unknown prices are null.

    What is in the user's table at `path` stays as it is; `known` has the prices of models that are not in it.

    Raises:
        UsageError: If there is such a file and it is no table of prices.
    """
    prices: dict[str, Any] = {}
    if path is not None:
        read_prices(path)
        prices = _read_price_table(path)
    listed = {name: (known or {}).get(name) for name in models}
    table = {name: dict.fromkeys(_FIELDS) if price is None else asdict(price) for name, price in listed.items()}
    return json.dumps({**table, **prices}, indent=2)


def _read_price_table(path: Path) -> dict[str, Any]:
    """Return the JSON object of a price table, unchecked."""
    try:
        data = read_json_file(user_path(path), _LARGEST_FILE, "a price table, see `waybench prices`")
    except DataError as error:
        raise UsageError(f"{error}: it should be {_SHAPE}") from None
    if not is_object(data):
        raise UsageError(f"{path} is not a price table: it should be {_SHAPE}")
    return data


def _price_of_entry(path: Path, name: str, entry: Any) -> Price | None:
    """Return the price of a model in a table; None if its fields are all null."""
    fields: Mapping[str, Any] = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    amounts = {field: fields[field] for field in _FIELDS if fields.get(field) is not None}
    if set(_FIELDS[:2]) <= fields.keys() and not amounts and fields.keys() <= {*_FIELDS, _UNUSED}:
        return None
    numbers = all(isinstance(amount, int | float) and not isinstance(amount, bool) for amount in amounts.values())
    within = numbers and all(
        0 <= amount <= _HIGHEST for amount in amounts.values()
    )  # no NaN is, which JSON can tell here
    if not {"input", "output"} <= amounts.keys() or not within or fields.keys() - {*_FIELDS, _UNUSED}:
        raise UsageError(f"{path}: the prices of {name[:80]!r} are invalid: they should be as in {_SHAPE}")
    return Price(amounts["input"], amounts["output"], amounts.get("input_cache_read", amounts["input"]))


def parse_budget(text: str | None) -> tuple[float | None, bool]:
    """Return the number in a budget such as "5USD", "$5", "200k tokens" or "200000", and whether it is in dollars.

    Without a budget these are None and False.

    Raises:
        UsageError: If the text is no budget.
    """
    if text is None:
        return None, False
    match = _BUDGET.fullmatch(text.strip())
    if match is None or (text.strip().startswith("$") and match[3]):
        raise UsageError(f"budget={text[:40]!r}: give dollars or tokens, as in 5USD or 200k tokens")
    number = float(match[1]) * _TIMES[match[2].lower()]
    if not number > 0:
        raise UsageError(f"budget={text[:40]!r}: give a positive amount, as in 5USD or 200k tokens")
    return number, text.strip().startswith("$") or match[3].upper() == "USD"
