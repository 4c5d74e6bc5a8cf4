"""The command's entry: the table of subcommands, how errors reach the user, and what shells propose for a word."""

import errno
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from waybench._version import __version__
from waybench.ext import author

# name -> ("module:command", help). Modules are loaded when their command runs: `waybench --help` answers at once, and
# only those commands load the evaluation engine that need it.
SECTIONS = {
    "First steps": {
        "demo": (
            "waybench.cli._run:demo",
            "Run the embedded players on some tasks and write the report; no API key needed.",
        ),
        "list": ("waybench.cli._list:list_", "List environments, embedded players and tasks."),
        "play": ("waybench.cli._play:play", "Play an environment yourself, under a model's rules."),
        "doctor": ("waybench.cli._doctor:doctor", "Check that runs will work here."),
        "data": ("waybench.cli._doctor:data", "List and download public data sets."),
    },
    "Evaluate": {
        "run": ("waybench.cli._run:run", "Evaluate models on tasks."),
        "results": ("waybench.cli._run:results", "Print the results of a run again, without a request."),
        "view": ("waybench.cli._report:view", "Serve a live report of a run in the browser."),
        "report": ("waybench.cli._report:report", "Write a report of a run's logs."),
        "compare": ("waybench.cli._compare:compare", "Compare two models on the same items, with paired tests."),
        "power": ("waybench.cli._power:power", "Compute how many items a comparison needs."),
        "profile": (
            "waybench.cli._report:profile",
            "Estimate one ability of each model over all families, and predict missing scores.",
        ),
        "prices": ("waybench.cli._report:prices", "Print a price table for the models of a run, to fill in."),
    },
    "Items, stored replies and training": {
        "generate": ("waybench.cli._generate:generate", "Print instances of an environment as JSON lines."),
        "shards": ("waybench.cli._shards:shards", "Verify items that were generated as shards, and count duplicates."),
        "score": ("waybench.cli._score:score", "Score stored replies or records, without a model."),
        "serve": ("waybench.cli._play:serve", "Serve environments to training programs, by their protocols."),
    },
    "Papers and publication": {
        "reproduce": (
            "waybench.cli._reproduce:reproduce",
            "Reproduce a table or figure of a paper, next to its published numbers.",
        ),
        "export": ("waybench.cli._publish:export", "Export results in the formats of others."),
        "submit": ("waybench.cli._publish:submit", "Write runs as one file for a leaderboard or a reviewer."),
        "verify": ("waybench.cli._publish:verify", "Verify a submission or logs, without a model."),
        "commit": ("waybench.cli._publish:commit", "Print the commitment to the key of a private set."),
        "leaderboard": ("waybench.cli._publish:leaderboard", "Write a leaderboard of submissions as a static site."),
    },
    "Environments of your own": {
        "new": ("waybench.cli._new:new", "Write a package with an environment of your own."),
        "check": ("waybench.cli._check:check", "Check whether an environment keeps its contract."),
        **author.COMMANDS,
    },
    "Shell": {
        "completion": ("waybench.cli._app:completion", "Print the code that completes words in your shell."),
    },
}
"""Title -> the commands, in the order of use."""

COMMANDS = {name: command for commands in SECTIONS.values() for name, command in commands.items()}
USAGE_ERROR = 2
OUTPUT_CLOSED = 1
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


Item = CompletionItem[str]


class App(click.Group):
    """A group whose commands are imported on demand and whose errors are one line each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Item]:
        """Propose the commands of the table without importing any of them."""
        commands = [Item(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; raise a UsageError that suggests a similar name."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from waybench.core import UsageError, unknown_name_message

            raise UsageError(unknown_name_message("command", args[0], COMMANDS))
        if any(arg == "--out=" or (arg == "" and previous in ("--out", "-o")) for previous, arg in pairwise(args)):
            from waybench.core import UsageError

            # A variable of the shell may not be set, and an empty path would be the current folder.
            raise UsageError("--out is empty: give a file or folder, or . for the current folder")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any of them."""
        widest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, (_, text) in commands.items()])

    def invoke(self, ctx: click.Context) -> None:
        """Run the command, and return None: `main` would take a result for an exit status."""
        super().invoke(ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its status: 0, its own, 1 (closed output), 2 (user error), 3 (defect) or 130."""
        warnings.formatwarning = _format_warning
        arguments = (args, prog_name or "waybench", complete_var)
        if not standalone_mode:
            return super().main(*arguments, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
        try:
            status = super().main(*arguments, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
        except (click.exceptions.Abort, KeyboardInterrupt):
            # An interrupt within `exec` of a string, as of many modules that are being imported, is remembered by the
            # interpreter even when it is caught: `python -m waybench` would end by the signal. The next `exec` forgets.
            exec("")
            status = INTERRUPTED
        except click.ClickException as error:
            context = error.ctx if isinstance(error, click.UsageError) else None
            status = _print_error(
                _click_message(error) + (f" (see '{context.command_path} --help')" if context else "")
            )
        except Exception as error:
            status = _print_error(_error_message(error))
        flush_error = _flush_stdout()
        if flush_error is not None and not status:
            # The reader of a pipe may leave when it has seen enough.
            is_closed = isinstance(flush_error, BrokenPipeError)
            status = OUTPUT_CLOSED if is_closed else _print_error(_error_message(flush_error))
        sys.exit(status)


_format_by_python = warnings.formatwarning


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning of our own as one line; those of libraries as Python writes them."""
    if category.__module__.startswith("waybench."):
        return f"Warning: {message}\n"
    return _format_by_python(message, category, filename, lineno, line)


def _error_message(error: Exception) -> str:
    """Return the message of an error that the user can correct; raise any other one (a bug) again."""
    from waybench._extras import missing_extra_error
    from waybench.core import WaybenchError

    if isinstance(error, ModuleNotFoundError) and (missing := missing_extra_error(error, "this command")):
        return str(missing)
    if isinstance(error, WaybenchError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _DISK_FULL_ERRORS:
        return f"cannot write the output: {error.strerror}"
    raise error


def _click_message(error: click.ClickException) -> str:
    """Return the message of click's error, with "whole number" in place of "integer"."""
    message = re.sub(r"is not a valid integer( range)?\.", "is not a whole number.", error.format_message())
    return re.sub(r"is not a valid float( range)?\.", "is not a number.", message)


def _print_error(message: str) -> int:
    """Print an error on standard error; return the exit status."""
    from waybench.cli._output import DEFECTIVE
    from waybench.core import shorten_long_words
    from waybench.core._errors import DEFECT

    click.echo(f"Error: {shorten_long_words(' '.join(message.split()))}", err=True)
    return DEFECTIVE if DEFECT in message else USAGE_ERROR


def _flush_stdout() -> OSError | None:
    """Flush standard output; if it is closed, return the error and keep Python from raising it again at exit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        null_file = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_file, sys.stdout.fileno())
        os.close(null_file)
        return error
    return None


@click.group(
    "waybench",
    cls=App,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.option(
    "--env",
    "locations",
    multiple=True,
    metavar="FILE.py",
    help="An environment of yours that the command has to know, as to read its logs: FILE.py, FILE.py:NAME or "
    "MODULE:NAME; repeatable.",
)
@click.version_option(__version__, prog_name="waybench")
@click.pass_context
def main(context: click.Context, locations: tuple[str, ...]) -> None:
    """Measure how well language models navigate and plan."""
    if locations:
        from waybench.cli._environments import register_environment

        for location in locations:
            register_environment(location)
    if os.environ.get("NO_COLOR"):  # see no-color.org
        context.color = False
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _task_completions(_: click.Context) -> Iterator[Item]:
    from waybench.evaluation.tasks._catalogue import all_tasks

    for task in all_tasks():
        yield Item(task.name, help=task.summary)


def _environment_and_task_completions(context: click.Context) -> Iterator[Item]:
    """Yield the names of environments and tasks, each once."""
    from waybench.envs import registry
    from waybench.evaluation.tasks._catalogue import environment_names

    summaries = {entry.id: entry.summary for entry in registry.entries}
    items = {name: Item(name, help=summaries[env]) for name, env in environment_names().items()}
    items |= {item.value: item for item in _task_completions(context)}
    yield from items.values()


def _player_completions(_: click.Context) -> Iterator[Item]:
    """Yield the names of the embedded players, with 0.1 as RATE."""
    from waybench.cli._list import PLAYERS

    for name, text in PLAYERS.items():
        yield Item(f"waybench/{name.replace('RATE', '0.1')}", help=text)


def _data_set_completions(_: click.Context) -> Iterator[Item]:
    from waybench.data import published_downloads

    for download in published_downloads().values():
        yield Item(download.name, help=download.title)


def _paper_completions(_: click.Context) -> Iterator[Item]:
    from waybench.results.papers import papers

    for paper in papers():
        yield Item(paper.name, help=paper.title)


def _table_completions(context: click.Context) -> Iterator[Item]:
    from waybench.results.papers import find_paper

    for table in find_paper(context.params["paper"]).tables:
        yield Item(table.id, help=table.title)


def _parameter_completions(context: click.Context) -> Iterator[Item]:
    """Yield the parameters of the tasks and environments that the command line names before.

    These are NAME= for each option, and NAME=VALUE where the values can be listed.
    """
    from waybench.evaluation.tasks import find_task

    params = context.params
    names = (*params.get("tasks", ()), *params.get("envs", ()), *([params["env"]] if params.get("env") else []))
    help_by_text: dict[str, str] = {}  # in the order of the options; tasks have options in common
    for name in names:
        for option in find_task(name).options:
            for value in ("", *(("true", "false") if option.type is bool else option.all_choices)):
                help_by_text.setdefault(f"{option.name}={value}", option.doc)
    yield from (Item(text, help=doc) for text, doc in help_by_text.items())


# (Command, or "" for every command; parameter) -> a function that yields the values that it can have.
_PARAMETER_COMPLETIONS: dict[tuple[str, str], Callable[[click.Context], Iterator[Item]]] = {
    ("", "tasks"): _task_completions,
    ("", "env"): _environment_and_task_completions,
    ("", "envs"): _environment_and_task_completions,
    ("list", "name"): _environment_and_task_completions,
    ("", "models"): _player_completions,
    ("", "parameters"): _parameter_completions,
    ("", "each"): _parameter_completions,
    ("reproduce", "paper"): _paper_completions,
    ("reproduce", "table"): _table_completions,
    ("fetch", "names"): _data_set_completions,
    ("path", "name"): _data_set_completions,
}


class _ParameterComplete(ShellComplete):
    """Completes parameters by the table above, and everything else as click does."""

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        """Return the completions of the last word."""
        from click.shell_completion import _resolve_context, _resolve_incomplete  # pyright: ignore[reportPrivateUsage]

        context = _resolve_context(self.cli, {}, self.cli.name or "", args)
        parameter, incomplete = _resolve_incomplete(context, args, incomplete)
        if args and args[-1].startswith("-"):  # without its value, which is being typed, click reads none of the others
            context = _resolve_context(self.cli, {}, self.cli.name or "", args[:-1])
        propose = None
        if isinstance(parameter, click.Parameter):
            name = parameter.name or ""
            of_all_commands = _PARAMETER_COMPLETIONS.get(("", name))
            propose = _PARAMETER_COMPLETIONS.get((context.info_name or "", name), of_all_commands)
        if propose is None:
            return super().get_completions(args, incomplete)
        from waybench.core import UsageError

        items: list[Item] = []
        # Nothing is proposed where an earlier word, such as the task, is missing or wrong.
        with suppress(UsageError, KeyError, AttributeError):
            items = [item for item in propose(context) if item.value.startswith(incomplete)]
        # Values of options are left out until the option's name is complete, since they are many.
        if "=" in incomplete:
            return [item for item in items if not item.value.endswith("=")]
        return [item for item in items if "=" not in item.value or item.value.endswith("=")]


class _Bash(_ParameterComplete, BashComplete):
    """For bash, which takes NAME=VALUE for three words and completes the last one."""

    # After "NAME=" there is no space.
    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value); [[ $value == *= ]] && compopt -o nospace"
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the incomplete one, and the incomplete one, each NAME=VALUE in one piece."""
        count = int(os.environ["COMP_CWORD"])
        words = split_arg_string(os.environ["COMP_WORDS"])[1 : count + 1]
        if len(words) < count:
            words.append("")
        joined: list[str] = []
        for word in words:
            if joined and (word == "=" or joined[-1].endswith("=")):
                joined[-1] += word
            else:
                joined.append(word)
        return joined[:-1], joined[-1] if joined else ""

    def format_completion(self, item: Item) -> str:
        """Return a completion as bash takes it: without the part up to its "="."""
        name, equals, value = item.value.rpartition("=")
        _, incomplete = self.get_completion_args()
        if equals and "=" in incomplete and item.type == "plain" and not name.startswith("--"):
            return f"plain,{value}"
        return super().format_completion(item)

    @staticmethod
    def _check_version() -> None:
        """Do nothing: the script may be for another machine, and click's check starts bash."""


class _Zsh(_ParameterComplete, ZshComplete):
    """For zsh."""


class _Fish(_ParameterComplete, FishComplete):
    """For fish."""


SHELLS: dict[str, type[_ParameterComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
for _name, _complete_class in SHELLS.items():
    add_completion_class(_complete_class, _name)

_INSTALL_HELP = """\b
bash   add to ~/.bashrc:  eval "$(waybench completion bash)"
zsh    add to ~/.zshrc:   eval "$(waybench completion zsh)"
fish   waybench completion fish > ~/.config/fish/completions/waybench.fish"""


@click.command(epilog=_INSTALL_HELP)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the code with which SHELL completes waybench's commands, options, tasks and their parameters."""
    click.echo(SHELLS[shell](click.Command("waybench"), {}, "waybench", "_WAYBENCH_COMPLETE").source(), nl=False)
