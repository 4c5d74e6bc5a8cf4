"""List prices of models' tokens from the package genai-prices, without a network, where the user gives no prices.

The package's own snapshot is read, and nothing else of it is called: what updates it is never started.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from waybench.core._errors import UsageError
from waybench.core._json import is_array
from waybench.core._tokens import Price, read_prices

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


@dataclass(frozen=True, slots=True)
class Prices(Mapping[str, Price]):
    """The prices of models by name: those that the user gives, and list prices for the others.

    Only what the user gives is listed by `len` and iteration, since every model that the package knows has a price.

    Attributes:
        given: Model -> its prices, from the user.
        of_all: The prices of all other models, from the user; None for the list's.
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
        listed = (model for model in models if model not in self.given and not model.startswith(_FREE))
        if self.of_all is not None or all(list_price(model) is None for model in listed):
            return ""
        return f"prices: {PACKAGE} {price_list_version()}, list prices, the newest of {_newest_price_date()}"

    def models_without_price(self, models: Iterable[str]) -> list[str]:
        """Return the models that may cost something and have no known price."""
        return [model for model in dict.fromkeys(models) if not model.startswith(_FREE) and model not in self]


def load_prices(path: Path | None = None, texts: Iterable[str] = ()) -> Prices:
    """Return the prices of models: the user's, and list prices for others.

    Args:
        path: The user's table of prices (`read_prices`).
        texts: The user's prices as [MODEL=]INPUT/OUTPUT[/CACHED] in dollars per million tokens, which go before the
            table's; without a model, those of all models that have none.

    Raises:
        UsageError: If the file or a text is no price.
    """
    given, of_all = read_prices(path) if path is not None else {}, None
    for text in texts:
        match = _PRICE.fullmatch(text.strip())
        try:
            numbers = [float(match[name]) for name in ("input", "output")] if match else []
            cached = float(match["cached"]) if match and match["cached"] else None
        except ValueError:  # such as 1.2.3
            numbers, cached = [], None
        if match is None or not numbers:
            raise UsageError(
                f"--price {text[:60]!r}: write it as INPUT/OUTPUT in dollars per million tokens, as in 2.5/10, or "
                "as MODEL=2.5/10"
            )
        price = Price(numbers[0], numbers[1], numbers[0] if cached is None else cached)
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

    Where long prompts have a higher price, it is that of short ones.
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
    listed = next((entry for entry in snapshot.providers if entry.id == provider_id), None)
    info = listed and listed.find_model(name.lower(), all_providers=snapshot.providers)
    if not info:
        return None
    prices = info.get_prices(datetime.combine(datetime.now(UTC).date(), time(12), UTC))
    amounts = [
        _price_of_short_prompts(getattr(prices, part, None))
        for part in ("input_mtok", "output_mtok", "cache_read_mtok")
    ]
    if amounts[0] is None or amounts[1] is None:
        return None
    return Price(amounts[0], amounts[1], amounts[0] if amounts[2] is None else amounts[2])


def _price_of_short_prompts(amount: Any) -> float | None:
    """Return an amount as a number; that for short prompts where it depends on the length."""
    amount = getattr(amount, "base", amount)
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
    """Return the date of the newest price in the list that is in force."""
    today = datetime.now(UTC).date()
    models: list[Any] = [model for provider in _price_list_snapshot().providers for model in provider.models]
    several: list[Any] = [price for model in models if is_array(model.prices) for price in model.prices]
    starts = (getattr(price.constraint, "start_date", None) for price in several)
    return max((start for start in starts if start is not None and start <= today), default=date.min)
