"""The parameters of commands: how they are declared, and those that several commands share.

A parameter is declared where it is used: in a command's signature, or as a field of a dataclass.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from decimal import Decimal
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any, cast, get_args, get_origin

import click

from waybench.core import UsageError, read_key
from waybench.core._secrets import STRONG_BITS, max_key_bits
from waybench.data import cache_folder
from waybench.ext.scale import is_url
from waybench.ext.scale._executors import EXECUTORS, Executor, OrderedResults, executor_by_name
from waybench.ext.scale._folders import download_folder

_METADATA_KEY = "waybench.cli"


def option(text: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """Declare an option, as the default of a command's parameter or of a dataclass's field.

    Its type follows from the annotation: a tuple can be given several times, and a bool is a flag. `text` is its help,
    which shows the default. `names` are its names on the command line, by default the parameter's with "-" for "_", and
    `settings` other arguments of `click.option`.
    """
    return field(default=default, metadata={_METADATA_KEY: (click.option, names, {"help": text, **settings})})


def argument(metavar: str | None = None, *, default: Any = None, **settings: Any) -> Any:
    """Declare a positional argument, as `option` does an option.

    A tuple takes any number of words, and an argument that can be None can be left out. `metavar` is its name in the
    help, by default the parameter's, and `settings` are other arguments of `click.argument`.
    """
    return field(default=default, metadata={_METADATA_KEY: (click.argument, (), {"metavar": metavar, **settings})})


def same_option(declared: "Field[Any]", *, default: Any = None, **changes: Any) -> Any:
    """Return an option that is declared like another one, with another default or other settings."""
    declare, names, settings = declared.metadata[_METADATA_KEY]
    return field(default=default, metadata={_METADATA_KEY: (declare, names, settings | changes)})


def with_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the parameters that its signature declares.

    For a parameter whose type is a dataclass, the command has the parameters that its fields declare.
    """
    groups: dict[str, Any] = {}
    declarations: list[tuple[str, Any, Field[Any]]] = []
    for name, parameter in inspect.signature(function).parameters.items():
        annotation: Any = parameter.annotation
        if is_dataclass(annotation):
            groups[name] = annotation
            declarations += [(part.name, part.type, part) for part in fields(annotation)]
        elif isinstance(default := parameter.default, Field):
            declarations.append((name, annotation, cast("Field[Any]", default)))

    @wraps(function)
    def command(*args: Any, **values: Any) -> Any:
        """Put the values of a dataclass's parameters into one argument, and run the command."""
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        return function(*args, **values)

    for name, annotation, declaration in reversed(declarations):
        _click_parameter(name, annotation, declaration)(command)
    return command


def _click_parameter(name: str, annotation: Any, declaration: "Field[Any]") -> Callable[..., Any]:
    """Return click's decorator for a parameter, from its name, annotation and declaration."""
    declare, names, settings = declaration.metadata[_METADATA_KEY]
    settings, default = dict(settings), declaration.default
    types = get_args(annotation) if get_origin(annotation) is not tuple else ()
    types = types or (annotation,)
    if default not in (None, ()) and default is not False:  # for click, 0 is a default and these are none
        settings["default"] = default
        if declare is click.option and default != "":
            settings.setdefault("show_default", True)
    for type_ in (int, float):
        if type_ in types:
            settings.setdefault("type", type_)
    if Path in types or annotation == tuple[Path, ...]:
        settings.setdefault("type", click.Path(path_type=Path))
    if declare is click.argument:
        nargs: dict[str, Any] = {"nargs": -1} if get_origin(annotation) is tuple else {}
        required = {"required": False} if type(None) in types else {}
        return click.argument(name, **nargs, **required, **settings)
    if get_origin(annotation) is tuple:
        settings["multiple"] = True
    if annotation is bool:
        settings["is_flag"] = True
    return click.option(name, *(names or (f"--{name.replace('_', '-')}",)), **settings)


class GroupedCommand(click.Command):
    """A command whose help has its options in groups.

    Attributes:
        groups: Title -> names of parameters, in the order in which they are shown. Others come last, as "Options".
    """

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.groups = groups

    def grouped_options(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the titles of the groups, each with its options and their help texts."""
        by_name = {str(parameter.name): parameter for parameter in self.get_params(ctx)}
        grouped = {title: list(names) for title, names in self.groups.items()}
        grouped["Options"] = [name for name in by_name if not any(name in names for names in grouped.values())]
        records = {
            title: [record for name in names if (record := by_name[name].get_help_record(ctx)) and record[1]]
            for title, names in grouped.items()
        }
        return {title: lines for title, lines in records.items() if lines}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, lines in self.grouped_options(ctx).items():
            with formatter.section(title):
                formatter.write_dl(lines)


EXECUTOR = option(
    f"Where the jobs run: {', '.join(EXECUTORS)}. `print` shows the jobs of a scheduler, and starts none.  "
    "[default: this process]",
    "--executor",
    metavar="NAME",
)
WORKERS = option(
    "Where records are simulated again: processes, processes:N or ray.  [default: copies of this process]",
    "--executor",
    metavar="NAME",
)
ADDRESS = option("Address of a Ray cluster, or `auto`.  [default: one of this machine alone]", default="")


def chosen_executor(name: str | None, address: str, gpus: float = 0) -> Executor | None:
    """Return the executor that --executor and --address choose; None if the user gave none."""
    if name is None and not address and not gpus:
        return None
    return executor_by_name(name or "processes", address=address, gpus=gpus, argv=sys.argv[1:])


def chosen_workers(name: str | None, address: str) -> OrderedResults | None:
    """Return the processes that simulate records, by a command's options; None if the user gave none."""
    executor = chosen_executor(name, address)
    return None if executor is None else OrderedResults(executor)


PRICES = option(
    "Token prices as JSON (see `waybench prices`), in place of the list prices that come with waybench.", metavar="FILE"
)
PRICE = option(
    "Price of tokens in dollars per million, as in 2.5/10, for all models or for one; repeatable.",
    metavar="[MODEL=]IN/OUT",
    default=(),
)
AS_JSON = option("Print one JSON object.", "--json")
JSON_FILE = option("Write JSON to a file (- for standard output).", "--json", metavar="FILE")
KEY_FILE = option("File with the key of a private set: --key file:FILE.", metavar="FILE")
KEYS = option("Key of a private set: env:NAME or file:PATH; repeatable.", "--key", metavar="REF")
KEY_FILES = option("File with the key of a private set; repeatable.", "--key-file", metavar="FILE")
_REFERENCES = ("env:", "file:")
PRIVATE_KEY_IN_JOB = (
    "a private key is in no description of a job: put it into a variable of the workers' environment and write"
)
_ARGUMENTS_ARE_VISIBLE = "since other users can see the arguments of a command"


def refuse_strong_key(key: str) -> None:
    """Raise a UsageError for a key in plain text that is as strong as a private set's.

    A weak one is accepted: it draws a set of one's own, and can be found by trying anyway.
    """
    if not key.startswith(_REFERENCES) and max_key_bits(key) >= STRONG_BITS:
        raise UsageError(
            f"this key has {STRONG_BITS} bits or more, as the key of a private set has: put it into a file or an "
            f"environment variable and give file:PATH or env:NAME, {_ARGUMENTS_ARE_VISIBLE}"
        )


def key_reference(key: str | None, key_file: str | None) -> str | None:
    """Return the key that --key or --key-file gives, as a text or as a reference; None if there is none."""
    if key_file is not None:
        if key is not None:
            raise UsageError("--key and --key-file name the same key: give one of them")
        return f"file:{key_file}"
    if key is not None:
        refuse_strong_key(key)
    return key


def read_keys(keys: Sequence[str], key_files: Sequence[str]) -> list[str]:
    """Return the keys that --key and --key-file give, with references such as env:NAME resolved."""
    for reference in keys:
        if not reference.startswith(_REFERENCES):
            raise UsageError(f"--key: give env:NAME or file:PATH, {_ARGUMENTS_ARE_VISIBLE}")
    return [read_key(reference) for reference in (*keys, *(f"file:{path}" for path in key_files))]


DEFAULT_OUT = Path("waybench-out")  # of `waybench run`


class LogPlace(click.Path):
    """A parameter's type: a folder or file by its path, or a folder by URL, which is copied to this machine."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; for a URL, the path of a local copy, which is brought up to date."""
        if isinstance(value, str) and is_url(value):
            value = download_folder(value, cache_folder())
        return super().convert(value, param, ctx)


RUN_FOLDER = argument("[DIR|URL]", type=LogPlace(), default=str(DEFAULT_OUT), required=False)


def log_places(metavar: str) -> Any:
    """Declare an argument of any number of places, by default the folder that `waybench run` writes."""
    return argument(f"[{metavar}]...", type=LogPlace(), default=(str(DEFAULT_OUT),))


def require_folders(folders: Iterable[Path], advice: str = "") -> None:
    """Raise a UsageError for a folder that does not exist; `advice` says what else the user can do."""
    for folder in folders:
        if not os.path.exists(folder):
            raise UsageError(
                f"no folder {folder}: give the folder that `waybench run --out` wrote, or a file of records{advice}"
            )


def is_copy_of_url(path: Path) -> bool:
    """Return whether a path is in the local copy of a URL."""
    return path.is_relative_to(cache_folder() / "folders")


_LARGEST_NUMBER = 10**18  # a number of items; also keeps 1e999999999 from being written out

THINK_TAGS_OPTION = option(
    'Marks around the reasoning of a model whose own marks waybench does not know, such as "<plan>" "</plan>"; '
    "what is between them is never read as the answer.",
    nargs=2,
    metavar="OPEN CLOSE",
)
DATA_DIR = option("Folder of published data sets.  [default: $WAYBENCH_DATA, then the cache]", type=click.Path())
OUTPUT = click.Path(allow_dash=True, readable=False)  # opening it says more than click's own checks


class WholeNumber(click.ParamType[int]):
    """A parameter's type: a whole number of at least `least`, also as 1e9 or 1_000_000."""

    name = "number"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the whole number of a text such as 500 or 1e9."""
        try:
            # Not by way of a float, which has no whole numbers beyond 2^53; the size of the exponent is bounded.
            exact_value = value if isinstance(value, int) else Decimal(str(value).strip()[:40])
            if not -1 <= exact_value <= _LARGEST_NUMBER:
                raise ValueError
            number = int(exact_value)
            if number != exact_value:
                raise ValueError
        except (ArithmeticError, ValueError):
            self.fail(f"{str(value)[:80]!r} is not a whole number such as 500 or 1e9", param, ctx)
        if number < self._least:
            self.fail(f"{number} is too small: give {self._least} or more", param, ctx)
        return number


class FiniteRange(click.FloatRange):
    """A number within bounds; `click.FloatRange` takes NaN, which no comparison excludes, and infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return a finite number within the bounds."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{number} is not a number such as 0.5", param, ctx)
        return number


@dataclass(frozen=True, slots=True)
class ItemSettings:
    """Which items of an environment or a task a command takes, as its options say.

    Attributes:
        settings: Texts of -S, which -T says now.
        options: Texts of -O, which -T says now.
        parameters: Texts of -T: of an environment, its options; otherwise the task's parameters, which choose the items
            as in `waybench run`. Without the latter, the items are those of the environment's source.
    """

    key: str | None = option("Key of the item set: a text, env:NAME or file:PATH.  [default: the public set]")
    key_file: str | None = same_option(KEY_FILE)
    level: int | None = option("Level of difficulty.  [default: the smallest]")
    settings: tuple[str, ...] = option("What -T says now.", "-S", hidden=True, default=())
    options: tuple[str, ...] = option("What -T says now.", "-O", hidden=True, default=())
    parameters: tuple[str, ...] = option(
        "Option of ENV or parameter of the task, as for `waybench run`; repeatable.",
        "-T",
        metavar="KEY=VALUE",
        default=(),
    )

    @property
    def key_reference(self) -> str | None:
        """The key that --key or --key-file gives (`key_reference`)."""
        return key_reference(self.key, self.key_file)
