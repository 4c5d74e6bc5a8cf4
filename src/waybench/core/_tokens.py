"""Tokens of language models: tokenizers by name, and the cost of tokens by the user's or by list prices."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

from waybench.core._errors import DataError, UsageError
from waybench.core._json import is_array, is_object
from waybench.core._record import EpisodeRecord
from waybench.core._user_files import read_json_file, user_path

ESTIMATE = "characters"  # the name of the tokenizer that only estimates
_CHARACTERS_PER_TOKEN = 4  # of English text
MILLION = 1_000_000
_LARGEST_FILE = 1 << 24  # bytes
_REQUIRED_FIELDS = ("input", "output")  # of a model in a table of prices
_PRICE_FIELDS = (*_REQUIRED_FIELDS, "input_cache_read")
# Inspect's files, which can be given as tables of prices, have this price, too; records do not count these tokens.
_UNUSED_FIELD = "input_cache_write"
_HIGHEST_PRICE = MILLION  # a dollar for each token
_TABLE_EXAMPLE = (
    '{"provider/model": {"input": 2.5, "output": 10, "input_cache_read": 1.25}}, in dollars per million tokens'
)
_BUDGET = re.compile(
    r"\$?(?P<number>\d+(?:\.\d+)?) ?(?P<thousands>[kM]?) ?(?P<unit>USD|tokens?|)", re.ASCII | re.IGNORECASE
)
_UNIT_SIZES = {"": 1, "k": 1000, "m": 1_000_000}
PACKAGE = "genai-prices"
_FREE = ("waybench/", "python:", "human")
# Inspect's name of a provider -> the package's. Others, such as those of local models, have no list price.
_PROVIDERS = {
    **{name: name for name in ("anthropic", "cloudflare", "deepseek", "fireworks", "google", "groq", "mistral")},
    **{name: name for name in ("openai", "openrouter", "perplexity", "together")},
    **{"azureai": "azure", "bedrock": "aws", "cf": "cloudflare", "grok": "x-ai", "vertex": "google"},
}
_OWN_SERVER = "openai-api"  # followed by the name of a provider that speaks OpenAI's protocol
_PRICE = re.compile(r"(?:(?P<model>.+)=)?\$?(?P<input>[\d.]+)/\$?(?P<output>[\d.]+)(?:/\$?(?P<cached>[\d.]+))?")


class CharacterTokens:
    """Counts four characters as a token: an estimate that needs no tokenizer."""

    def encode(self, text: str, /) -> Sequence[str]:
        """Return pieces of four characters."""
        starts = range(0, len(text), _CHARACTERS_PER_TOKEN)
        return [text[start : start + _CHARACTERS_PER_TOKEN] for start in starts]

    def decode(self, tokens: Any, /) -> str:
        """Return the text that is made of the pieces."""
        return "".join(tokens)


class _FileTokens:
    """Adapter of a tokenizer of the library `tokenizers`, whose `encode` returns an object."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str, /) -> Sequence[int]:
        """Return the ids of a text's tokens."""
        token_ids: Sequence[int] = self._tokenizer.encode(text).ids
        return token_ids

    def decode(self, tokens: Any, /) -> str:
        """Return the text of tokens, given by their ids."""
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
        input: Price of a request's tokens.
        output: Price of a reply's tokens, reasoning included.
        input_cache_read: Price of those tokens of a request that the provider says it read from its cache.
    """

    input: float
    output: float
    input_cache_read: float

    def episode_cost(self, record: EpisodeRecord) -> float | None:
        """Return the cost of an episode in dollars; None if its tokens are not known."""
        if not any(record.tokens):
            return None
        cached_tokens = sum(turn.usage.cached_tokens for turn in record.turns if turn.usage)
        return self.cost(*record.tokens, cached_tokens)

    def cost(self, input_tokens: float, output_tokens: float, cached_tokens: float = 0) -> float:
        """Return the cost of tokens in dollars; the cached tokens are a part of the input tokens."""
        input_cost = (input_tokens - cached_tokens) * self.input + cached_tokens * self.input_cache_read
        return (input_cost + output_tokens * self.output) / MILLION


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices in a user's JSON file, by model.

    Where "input_cache_read" is not given, the price of "input" is taken. A null counts as not given; a model with nulls
    alone, as in a table that is still to be filled in (`price_table_json`), is left out.

    Raises:
        UsageError: If the file cannot be read or is no such table.
    """
    prices = {name: _price_of_entry(path, name, entry) for name, entry in _read_price_table(path).items()}
    return {name: price for name, price in prices.items() if price is not None}


def price_table_json(models: Iterable[str], path: Path | None = None, known: Mapping[str, Price] | None = None) -> str:
    """Return a table of prices as JSON for a user to fill in; unknown prices are null.

    Args:
        models: The models of the table.
        path: The user's own table, whose entries go before others and are added unchanged; None without one.
        known: The prices of models, as far as they are known.

    Raises:
        UsageError: If the file at `path` is no table of prices.
    """
    user_table: dict[str, Any] = {}
    if path is not None:
        read_prices(path)  # raises an error for an unfit table
        user_table = _read_price_table(path)
    table: dict[str, Any] = {}
    for name in models:
        price = (known or {}).get(name)
        table[name] = dict.fromkeys(_PRICE_FIELDS) if price is None else asdict(price)
    return json.dumps({**table, **user_table}, indent=2)


def _read_price_table(path: Path) -> dict[str, Any]:
    """Return the JSON object of a price table, unchecked."""
    try:
        data = read_json_file(user_path(path), _LARGEST_FILE, "a price table, see `waybench prices`")
    except DataError as error:
        raise UsageError(f"{error}: it should be {_TABLE_EXAMPLE}") from None
    if not is_object(data):
        raise UsageError(f"{path} is not a price table: it should be {_TABLE_EXAMPLE}")
    return data


def _price_of_entry(path: Path, name: str, entry: Any) -> Price | None:
    """Return the price of a model in a table; None if its fields are all null."""
    fields: Mapping[str, Any] = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    amounts = {field: fields[field] for field in _PRICE_FIELDS if fields.get(field) is not None}
    has_unknown_fields = bool(fields.keys() - {*_PRICE_FIELDS, _UNUSED_FIELD})
    if {*_REQUIRED_FIELDS} <= fields.keys() and not amounts and not has_unknown_fields:
        return None
    are_numbers = all(isinstance(amount, int | float) and not isinstance(amount, bool) for amount in amounts.values())
    are_in_range = are_numbers and all(0 <= amount <= _HIGHEST_PRICE for amount in amounts.values())  # NaN is not
    if not {*_REQUIRED_FIELDS} <= amounts.keys() or not are_in_range or has_unknown_fields:
        raise UsageError(f"{path}: the prices of {name[:80]!r} are invalid: they should be as in {_TABLE_EXAMPLE}")
    return Price(amounts["input"], amounts["output"], amounts.get("input_cache_read", amounts["input"]))


def parse_budget(text: str | None) -> tuple[float | None, bool]:
    """Return the amount of a budget such as "5USD", "$5", "200k tokens" or "200000", and whether it is in dollars.

    Without a budget the result is (None, False).

    Raises:
        UsageError: If the text is no budget.
    """
    if text is None:
        return None, False
    match, has_dollar_sign = _BUDGET.fullmatch(text.strip()), text.strip().startswith("$")
    if match is None or (has_dollar_sign and match["unit"]):
        raise UsageError(f"budget={text[:40]!r}: give dollars or tokens, as in 5USD or 200k tokens")
    amount = float(match["number"]) * _UNIT_SIZES[match["thousands"].lower()]
    if not amount > 0:
        raise UsageError(f"budget={text[:40]!r}: give a positive amount, as in 5USD or 200k tokens")
    return amount, has_dollar_sign or match["unit"].upper() == "USD"


@dataclass(frozen=True, slots=True)
class Prices(Mapping[str, Price]):
    """The prices of models by name: those that the user gives, and list prices for the others.

    `len` and iteration cover only the models for which the user gives prices: list prices are looked up by name.

    Attributes:
        given: Model -> its prices, from the user.
        of_all: The prices of all other models, from the user; None for list prices.
    """

    given: Mapping[str, Price] = field(default_factory=dict[str, Price])
    of_all: Price | None = None

    def __getitem__(self, model: str) -> Price:
        price = self.given.get(model)
        if price is None and not model.startswith(_FREE):
            price = self.of_all or list_price(model)
        if price is None:
            raise KeyError(model)
        return price

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def __bool__(self) -> bool:
        return True

    def source_note(self, models: Iterable[str]) -> str:
        """Return the source of list prices of some models as a note; "" if no list price is used."""
        other_models = (model for model in models if model not in self.given and not model.startswith(_FREE))
        if self.of_all is not None or all(list_price(model) is None for model in other_models):
            return ""
        return f"prices: {PACKAGE} {price_list_version()}, list prices, the newest of {_newest_price_date()}"

    def models_without_price(self, models: Iterable[str]) -> list[str]:
        """Return the models that may cost something and have no known price."""
        return [model for model in dict.fromkeys(models) if not model.startswith(_FREE) and model not in self]


def load_prices(path: Path | None = None, texts: Iterable[str] = ()) -> Prices:
    """Return the prices of models: the user's, and list prices for others.

    Args:
        path: The user's table of prices (`read_prices`).
        texts: The user's prices as [MODEL=]INPUT/OUTPUT[/CACHED] in dollars per million tokens, which go before those
            of the table. A text without a model gives the prices of all models that have none.

    Raises:
        UsageError: If the file or a text is no price.
    """
    given, of_all = read_prices(path) if path is not None else {}, None
    for text in texts:
        match = _PRICE.fullmatch(text.strip())
        try:
            if match is None:
                raise ValueError(text)
            price = Price(float(match["input"]), float(match["output"]), float(match["cached"] or match["input"]))
        except ValueError:  # of `float`, for numbers such as 1.2.3
            raise UsageError(
                f"--price {text[:60]!r}: write it as INPUT/OUTPUT in dollars per million tokens, as in 2.5/10, or "
                "as MODEL=2.5/10"
            ) from None
        if match["model"]:
            given[match["model"]] = price
        else:
            of_all = price
    return Prices(given, of_all)


def price_list_version() -> str:
    """Return the version of the package with list prices; "" if it is not installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return ""


@lru_cache(maxsize=10_000)
def list_price(model: str) -> Price | None:
    """Return the list price of a model by its name in Inspect; None if it is not known.

    Where long prompts have a higher price, it is that of short prompts.
    """
    provider, _, name = model.partition("/")
    if provider == _OWN_SERVER:
        provider, _, name = name.partition("/")
        provider_id = provider.replace("_", "-")
    else:
        provider_id = _PROVIDERS.get(provider, "")
    snapshot = _price_list_snapshot() if provider_id and name else None
    if snapshot is None:
        return None
    listed_provider = next((entry for entry in snapshot.providers if entry.id == provider_id), None)
    listed_model = listed_provider and listed_provider.find_model(name.lower(), all_providers=snapshot.providers)
    if not listed_model:
        return None
    noon = datetime.combine(datetime.now(UTC).date(), time(12), UTC)  # some prices depend on the time of day
    prices = listed_model.get_prices(noon)
    input_price, output_price, cached_price = (
        _price_of_short_prompts(getattr(prices, part, None))
        for part in ("input_mtok", "output_mtok", "cache_read_mtok")
    )
    if input_price is None or output_price is None:
        return None
    return Price(input_price, output_price, input_price if cached_price is None else cached_price)


def _price_of_short_prompts(amount: Any) -> float | None:
    """Return a price of the list as a number: the price of short prompts where it depends on the length."""
    amount = getattr(amount, "base", amount)  # tiered prices have their first tier as `base`
    return None if amount is None else float(amount)


@cache
def _price_list_snapshot() -> Any:
    """Return the package's list of prices; None if the package is not installed."""
    try:
        return import_module("genai_prices.data_snapshot").get_snapshot()
    except ImportError:
        return None


@cache
def _newest_price_date() -> date:
    """Return the date of the newest price in the list that is in force; the earliest date possible if none has one."""
    today = datetime.now(UTC).date()
    models: list[Any] = [model for provider in _price_list_snapshot().providers for model in provider.models]
    # Only a model whose price has changed has several prices, with dates.
    dated_prices: list[Any] = [price for model in models if is_array(model.prices) for price in model.prices]
    starts = (getattr(price.constraint, "start_date", None) for price in dated_prices)
    return max((start for start in starts if start is not None and start <= today), default=date.min)
