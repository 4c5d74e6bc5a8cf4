"""`waybench doctor` and `waybench data`: whether runs will work here, and public data sets."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click

from waybench._extras import packages_by_extra
from waybench._version import __version__
from waybench.cli._options import AS_JSON, argument, option, with_parameters
from waybench.cli._output import dumps
from waybench.core import DataError, DataFile, Download, UsageError, plural
from waybench.data import cache_folder, fetch_dataset, find_download, locate_folder, published_downloads
from waybench.envs import registry

OK, NOTE, PROBLEM = "ok", "note", "problem"
_LIBRARIES = ("click", "numpy", "numba")
_LOW_SPACE, _NO_SPACE = 2e9, 2e8  # bytes of free disk: a run with long prompts writes some hundred megabytes
_STATUS_SIGNS = {OK: ("ok", "green"), NOTE: ("note", "yellow"), PROBLEM: ("PROBLEM", "red")}
_SIGN_WIDTH = max(len(sign) for sign, _ in _STATUS_SIGNS.values())


class Provider(NamedTuple):
    """A provider of models in Inspect.

    Attributes:
        name: What model names begin with.
        keys: The variables of which one has its key.
        module: What must be importable.
        package: What to install for it.
    """

    name: str
    keys: tuple[str, ...]
    module: str = "openai"
    package: str = "openai"


# Those of Inspect's providers that have a key of their own; any other server has `openai-api/NAME` and NAME_API_KEY.
PROVIDERS = (
    Provider("anthropic", ("ANTHROPIC_API_KEY",), "anthropic", "anthropic"),
    Provider("azureai", ("AZUREAI_API_KEY",), "azure.ai.inference", "azure-ai-inference"),
    Provider("deepseek", ("DEEPSEEK_API_KEY",)),
    Provider("fireworks", ("FIREWORKS_API_KEY",)),
    Provider("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google.genai", "google-genai"),
    Provider("grok", ("XAI_API_KEY", "GROK_API_KEY"), "xai_sdk", "xai-sdk"),
    Provider("groq", ("GROQ_API_KEY",), "groq", "groq"),
    Provider("mistral", ("MISTRAL_API_KEY",), "mistralai", "mistralai"),
    Provider("openai", ("OPENAI_API_KEY",)),
    Provider("openrouter", ("OPENROUTER_API_KEY",)),
    Provider("perplexity", ("PERPLEXITY_API_KEY",)),
    Provider("together", ("TOGETHER_API_KEY",)),
)


class Check(NamedTuple):
    """The result of one check.

    Attributes:
        group: The heading that it is under.
        name: What was looked at.
        status: OK, NOTE (something optional is missing) or PROBLEM (runs fail).
        detail: What was found.
        advice: What to do; "" if there is nothing to do.
    """

    group: str
    name: str
    status: str
    detail: str
    advice: str = ""


@click.command()
@with_parameters
def doctor(
    out: Path = option("Log folder whose disk is checked.", default=Path("waybench-out")),
    as_json: bool = AS_JSON,
) -> None:
    """Check that runs will work here: versions, keys, programs, data sets, disk and terminal.

    Each line says what was found and what you can do. "note" is something optional that is missing. "PROBLEM" makes
    runs fail, and the exit status is then 1. Of keys only the names of their variables are shown.
    """
    results: list[Check] = []
    for check in run_checks(out):
        if not as_json:
            if not results or results[-1].group != check.group:
                click.echo(f"\n{check.group}")
            sign, colour = _STATUS_SIGNS[check.status]
            click.echo(f"  {click.style(f'{sign:{_SIGN_WIDTH}}', fg=colour)}  {check.name}: {check.detail}")
            if check.advice:
                click.echo(f"  {'':{_SIGN_WIDTH}}  -> {check.advice}")
        results.append(check)
    problems = sum(check.status == PROBLEM for check in results)
    if as_json:
        rows = [check._asdict() for check in results]
        click.echo(dumps({"waybench": __version__, "problems": problems, "checks": rows}))
    else:
        click.echo(f"\n{plural(problems, 'problem') if problems else 'No problem was found.'}")
    sys.exit(1 if problems else 0)


def run_checks(out: Path) -> Iterator[Check]:
    """Yield the results of all checks; `out` is the folder of logs."""
    for group, check_group in (
        ("Versions", _check_versions),
        ("Keys", _check_keys),
        ("Extras", _check_extras),
        ("Programs", _check_programs),
        ("Data sets", _check_data_sets),
        ("Disk", lambda: _check_disk(out)),
        ("Terminal", _check_terminal),
    ):
        for check in check_group():  # they leave their group empty
            yield check._replace(group=group)


def _check_versions() -> Iterator[Check]:
    """Check whether waybench and its libraries are installed, and which versions."""
    yield Check("", "Python", OK, f"{sys.version.split()[0]}, {sys.executable}")
    for name in ("waybench", *_LIBRARIES):
        if (number := _installed_version(name)) is None:
            yield Check("", name, PROBLEM, "not installed", "install waybench again: pip install waybench")
        else:
            yield Check("", name, OK, number)


def _installed_version(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _check_keys() -> Iterator[Check]:
    """Check for which providers a key is set and the package is installed."""
    sentence_by_key = _key_variables()
    known_keys = {key for provider in PROVIDERS for key in provider.keys}
    for provider in PROVIDERS:
        key = next((key for key in provider.keys if key in sentence_by_key), None)
        if key is None:
            continue
        if _is_importable(provider.module):
            yield Check("", f"{provider.name}/...", OK, sentence_by_key[key])
        else:
            install = f"pip install {provider.package}"
            yield Check("", f"{provider.name}/...", NOTE, f"{sentence_by_key[key]}; its package is missing", install)
    for key in sorted(sentence_by_key.keys() - known_keys):
        name = key.removesuffix("_API_KEY").lower().replace("_", "-")
        yield Check("", f"openai-api/{name}/...", OK, f"{sentence_by_key[key]}, for a server that you call {name}")
    if not sentence_by_key:
        advice = "set the key of your provider, such as OPENAI_API_KEY; waybench's own players need none"
        yield Check("", "keys", NOTE, "no variable NAME_API_KEY is set", advice)


def _key_variables() -> Mapping[str, str]:
    """Return the variables that hold a key, each with a sentence that says where it is set."""
    sentence_by_name: dict[str, str] = {}
    with suppress(Exception):  # an unreadable file is Inspect's to report
        dotenv: Any = import_module("dotenv")  # comes with Inspect, which reads the same file
        path = dotenv.find_dotenv(usecwd=True)
        sentence_by_name = {
            name: f"{name} is set in {path}" for name, value in dotenv.dotenv_values(path).items() if value
        }
    sentence_by_name |= {name: f"{name} is set" for name, value in os.environ.items() if value}
    return {name: sentence_by_name[name] for name in sentence_by_name if re.fullmatch(r"[A-Z][A-Z0-9_]*_API_KEY", name)}


def _is_importable(module: str) -> bool:
    """Return whether a module is installed."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # its parent is missing
        return False


def _check_extras() -> Iterator[Check]:
    """Check whether the packages of each extra of pyproject.toml are installed."""
    for extra, names in packages_by_extra().items():
        missing = [name for name in names if _installed_version(name) is None]
        if missing:
            purpose = "to evaluate models and to write reports" if extra == "eval" else "if you need it"
            install = f"{purpose}: pip install 'waybench[{extra}]'"
            yield Check("", extra, NOTE, f"not installed: {', '.join(missing)}", install)
        else:
            yield Check("", extra, OK, ", ".join(f"{name} {_installed_version(name)}" for name in names))


def _check_programs() -> Iterator[Check]:
    """Check whether the programs that environments use are installed."""
    for entry in registry.entries:
        try:
            programs = registry.load(entry.id).playing.programs
        except Exception as error:  # another package's code
            yield Check("", entry.id, PROBLEM, f"cannot be loaded: {type(error).__name__}: {error}")
            continue
        for program in programs:
            path = program.find()
            if path is None:
                yield Check("", program.name, NOTE, f"not found; for {program.purpose}", program.advice)
            else:
                yield Check("", program.name, OK, f"{path}; for {program.purpose}")


def _check_data_sets() -> Iterator[Check]:
    """Check which public data sets are here and complete."""
    for download in published_downloads().values():
        try:
            detail = f"{plural(len(download.files), 'file')} in {locate_folder(download.name)}"
            yield Check("", download.name, OK, detail)
        except UsageError:
            fetch = f"to play its published items: waybench data fetch {download.name}"
            yield Check("", download.name, NOTE, "missing or incomplete", fetch)
        except DataError as error:
            yield Check("", download.name, PROBLEM, str(error), f"waybench data fetch {download.name}")


def _check_disk(out: Path) -> Iterator[Check]:
    """Check that logs, data sets, temporary files and compiled code can be written."""
    yield _check_folder("logs", out, "choose another folder with --out")
    yield _check_folder("data sets", cache_folder(), "set WAYBENCH_CACHE to another folder")
    yield _check_folder("temporary files", Path(tempfile.gettempdir()), "set TMPDIR to another folder")
    try:  # for a function, here any, numba looks for a folder beside its source and then in the user's cache
        caching: Any = import_module("numba.core.caching")
        yield Check("", "compiled code", OK, f"is kept in {caching.FunctionCache(_is_importable).cache_path}")
    except (ImportError, RuntimeError):
        advice = "set NUMBA_CACHE_DIR to a folder that can be written to; without it each start is seconds slower"
        yield Check("", "compiled code", NOTE, "is not kept", advice)


def _check_folder(name: str, path: Path, advice: str) -> Check:
    """Check that a folder, which may not exist yet, can be written to and has room."""
    path = path.absolute()
    existing_folder = next(folder for folder in (path, *path.parents) if folder.exists())
    if not existing_folder.is_dir() or not os.access(existing_folder, os.W_OK | os.X_OK):
        return Check("", name, PROBLEM, f"{path} cannot be written to", advice)
    free = shutil.disk_usage(existing_folder).free
    detail = f"{free / 1e9:,.1f} GB free in {path}"
    if free < _NO_SPACE:
        return Check("", name, PROBLEM, detail, f"free some space, or {advice}")
    return Check("", name, NOTE if free < _LOW_SPACE else OK, detail, "this is little" if free < _LOW_SPACE else "")


def _check_terminal() -> Iterator[Check]:
    """Check whether standard output can show boards: their characters, colours and size."""
    encoding = sys.stdout.encoding or "unknown"
    try:
        "▀█─→".encode(encoding)
        yield Check("", "characters", OK, encoding)
    except (UnicodeEncodeError, LookupError):
        yield Check("", "characters", NOTE, f"{encoding} has no blocks and arrows", "set PYTHONUTF8=1")
    try:
        console: Callable[[], Any] = import_module("rich.console").Console
    except ModuleNotFoundError:  # it is of the extra [eval], whose check says so
        return
    colour = console().color_system
    size = shutil.get_terminal_size()
    if not sys.stdout.isatty():
        yield Check("", "colour", OK, "none: the output is not a terminal")
    elif os.environ.get("NO_COLOR"):
        yield Check("", "colour", OK, "off: NO_COLOR is set")
    elif colour is None:
        yield Check("", "colour", NOTE, f"none: TERM={os.environ.get('TERM', '')}", "set TERM=xterm-256color")
    else:
        yield Check("", "colour", OK, f"{colour}, {size.columns} columns by {size.lines} lines")


_DATA_DIR = option("Folder with data sets.  [default: $WAYBENCH_DATA, then the cache]")


@click.group("data", invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List and download public data sets.

    Data sets are downloaded from their authors' sites and checked by SHA-256; the authors' licence applies.
    A task needs one only to play the published instances.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@data.command("list", short_help="List the data sets and their locations.")
@with_parameters
def list_(
    data_dir: Path | None = _DATA_DIR,
) -> None:
    """List the data sets with their licences, sizes and locations."""
    for download in published_downloads().values():
        name, size = download.name, _file_count_and_size(download)
        click.echo(f"{name}  {download.title}; licence: {download.licence}; {size}, {download.home}")
        try:
            state = f"in {click.format_filename(locate_folder(name, data_dir))}"
        except UsageError:
            state = "missing or incomplete"
        except DataError as error:
            state = f"damaged: {click.format_filename(str(error))}"
        click.echo(f"{'':{len(name)}}  {state}")


@data.command("fetch", short_help="Download data sets.")
@with_parameters
def fetch_(
    names: tuple[str, ...] = argument("NAME...", required=True),
    to: Path | None = option(
        "Parent folder of the data sets' folders.  [default: $WAYBENCH_CACHE, or the user's cache]"
    ),
) -> None:
    """Download data sets from their authors' sites; existing files are kept.

    To download from a mirror, set $WAYBENCH_DATA_MIRROR to the address under which the files are, as NAME/FILE.
    """
    for download in [find_download(name) for name in dict.fromkeys(names)]:  # a wrong name ends it before any download
        _download(download, to)


@data.command("path", short_help="Print the folder of a data set.")
@with_parameters
def path_(
    name: str = argument(),
    data_dir: Path | None = _DATA_DIR,
) -> None:
    """Check all files of data set NAME and print its folder."""
    click.echo(os.fsencode(locate_folder(name, data_dir)))  # for other programs, even if it is not valid text


def _download(download: Download, to: Path | None) -> None:
    """Download a data set's missing files, and print each file, then their number, size and folder."""
    n_existing = 0

    def print_download(file: DataFile, downloaded: bool) -> None:
        """Print a file that was downloaded, and count one that existed."""
        nonlocal n_existing
        if downloaded:
            click.echo(f"{download.name}/{file.path} ({_file_size_text(file.size)})", err=True)
        else:
            n_existing += 1

    folder = fetch_dataset(download.name, to, print_download)
    existing = f"; {n_existing} of them existed already" if n_existing else ""
    click.echo(f"{download.name}: {_file_count_and_size(download)} in {click.format_filename(folder)}{existing}")


def _file_count_and_size(download: Download) -> str:
    return f"{plural(len(download.files), 'file')}, {_file_size_text(download.size)}"


def _file_size_text(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"
