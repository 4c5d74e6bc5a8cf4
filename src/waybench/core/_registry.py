"""The catalogue of environments: entries by id, whose code is loaded when it is needed."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from waybench.core._environment import AnyEnvironment
from waybench.core._errors import UsageError, WaybenchError, unknown_name_message


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the catalogue: what is known of an environment, and of its tasks, without loading its code.

    Attributes:
        id: "family/variant".
        version: The environment's version.
        target: "module:attribute" of the `Environment`.
        summary: One line for listings.
        task: The name of the task that plays it; by default the first part of its id (the family), or
            the second where the family has several environments.
        horizon: The items and levels of the search for a model's horizon, for listings: "mazes by dimension". "" if the
            environment has no such search (`Difficulty.horizon`).
        horizon_task: The name of the task of this search; `horizon_` and the name of `task` if empty.
    """

    id: str
    version: int
    target: str
    summary: str
    task: str = ""
    horizon: str = ""
    horizon_task: str = ""


class CatalogueWarning(RuntimeWarning):
    """The warning that an entry of another package cannot be used, or not under its own name."""


class Registry:
    """Environments by id.

    Args:
        group: Name of the entry points by which installed packages add environments; each is an `Entry` or a function
            that returns an `Entry`. They are loaded once, when an id is unknown or all entries are listed.

    Attributes:
        built_in: The entries that the registry was created with, sorted by id.
    """

    def __init__(self, entries: Iterable[Entry], group: str | None = None) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self._group = group  # None once the installed packages are registered
        self.built_in = tuple(self._entries[id_] for id_ in sorted(self._entries))

    def register(self, entry: Entry) -> None:
        """Add an environment to the catalogue; raise a WaybenchError if the id is taken."""
        if entry.id in self._entries:
            raise WaybenchError(f"environment {entry.id!r} exists already: choose another id")
        self._entries[entry.id] = entry

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries of the catalogue, sorted by id."""
        self._register_installed()
        return tuple(self._entries[id_] for id_ in sorted(self._entries))

    def _register_installed(self) -> None:
        """Register the environments of installed packages, by their entry points; once."""
        group, self._group = self._group, None
        if group is None:
            return
        from importlib.metadata import entry_points  # slow: it reads the metadata of every installed package

        for point in sorted(entry_points(group=group)):
            try:
                loaded: Any = point.load()
                entry = loaded() if callable(loaded) else loaded
                if not isinstance(entry, Entry):
                    raise TypeError(f"{type(entry).__name__} is not an Entry")
                self.register(entry)
            except Exception as error:  # an error in somebody else's code must not hide the other environments
                warning = f"{group}: {point.name} = {point.value} is skipped: {type(error).__name__}: {error}"
                warnings.warn(warning, CatalogueWarning, stacklevel=3)  # as of the caller of `entries`

    def find_entry(self, env_id: str) -> Entry:
        """Return the entry of an environment's id; raise a UsageError if the id is unknown."""
        if env_id not in self._entries:
            self._register_installed()
        entry = self._entries.get(env_id)
        if entry is None:
            message = unknown_name_message("environment", env_id, self._entries)
            if "did you mean" not in message:  # no misspelling, but perhaps an environment that is not installed
                message = (
                    f"unknown environment {env_id[:80]!r}: install its package or name its file, as in `waybench "
                    "--env FILE.py report`; `waybench list` names the others"
                )
            raise UsageError(message)
        return entry

    def load(self, env_id: str) -> AnyEnvironment:
        """Return the environment of an id; "id@version" insists on a version.

        Raises:
            UsageError: If the id is unknown, or the environment has another version.
            WaybenchError: If the entry disagrees with its environment.
        """
        name, _, version = env_id.partition("@")
        entry = self.find_entry(name)
        if version and version != str(entry.version):
            raise UsageError(f"{name} is at version {entry.version}, not {version[:20]}: use {name}@{entry.version}")
        module, _, attribute = entry.target.partition(":")
        environment: AnyEnvironment = getattr(import_module(module), attribute)
        if difference := entry_mismatch(entry, environment):
            raise WaybenchError(f"{entry.target}: {difference}")
        return environment


def entry_mismatch(entry: Entry, environment: AnyEnvironment) -> str:
    """Return how an entry disagrees with its environment, and what to do; "" if they agree."""
    for name in ("id", "version"):
        entry_value, value = getattr(entry, name), getattr(environment, name)
        if entry_value != value:
            return f"the Entry has the {name} {entry_value!r}, and its Environment {value!r}: give both the same"
    has_search = environment.difficulty.horizon is not None
    if has_search and not entry.horizon:
        advice = "say in it what becomes more difficult"
        return f"the Environment has a Difficulty.horizon, and its Entry no horizon: {advice}"
    if entry.horizon and not has_search:
        return "the Environment has no Difficulty.horizon, and its Entry a horizon: leave it out"
    return ""
