"""The command's entry: the table of subcommands, and how every error reaches the user."""

import errno
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from waybench._version import __version__
from waybench.ext import author

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name -> ("module:command", help). Modules are loaded when their command runs: `waybench --help` answers at once, and
# only those commands load the evaluation engine that need it.
COMMANDS = {
    "list": ("waybench.cli._list:list_", "List environments, embedded players and tasks."),
    "run": ("waybench.cli._run:run", "Evaluate models on tasks."),
    "score": ("waybench.cli._score:score", "Score stored replies or records, without a model."),
    "report": ("waybench.cli._report:report", "Write a report of a run's logs."),
    "reproduce": (
        "waybench.cli._reproduce:reproduce",
        "Reproduce a table or figure of a paper, next to its published numbers.",
    ),
    "prices": ("waybench.cli._report:prices", "Print a price table for the models of a run, to fill in."),
    "compare": ("waybench.cli._compare:compare", "Compare two models on the same items, with paired tests."),
    "profile": (
        "waybench.cli._compare:profile",
        "Estimate one ability of each model over all families, and predict missing scores.",
    ),
    "power": ("waybench.cli._power:power", "Compute how many items a comparison needs."),
    "submit": ("waybench.cli._submit:submit", "Write runs as one file for a leaderboard or a reviewer."),
    "verify": ("waybench.cli._submit:verify", "Verify a submission or logs, without a model."),
    "commit": ("waybench.cli._submit:commit", "Print the commitment to the key of a private set."),
    "leaderboard": ("waybench.cli._publish:leaderboard", "Write a leaderboard of submissions as a static site."),
    "export": ("waybench.cli._publish:export", "Export results in the formats of others."),
    "view": ("waybench.cli._view:view", "Serve a live report of a run in the browser."),
    "serve": ("waybench.cli._serve:serve", "Serve environments to training programs, by their protocols."),
    "demo": (
        "waybench.cli._demo:demo",
        "Run the embedded players on some tasks and write the report; no API key needed.",
    ),
    "generate": ("waybench.cli._generate:generate", "Print instances of an environment as JSON lines."),
    "shards": (
        "waybench.cli._shards:shards",
        "Verify items that were generated as shards, and count duplicates.",
    ),
    "play": ("waybench.cli._play:play", "Play an environment yourself, under a model's rules."),
    "data": ("waybench.cli._data:data", "List and download public data sets."),
    **author.COMMANDS,
    "doctor": ("waybench.cli._doctor:doctor", "Check that runs will work here."),
    "completion": ("waybench.cli._completion:completion", "Print the code that completes words in your shell."),
}
USAGE_ERROR = 2
OUTPUT_CLOSED = 1
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class App(click.Group):
    """A group whose commands are imported on demand and whose errors are one line each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[Any]]":
        """Propose the commands of the table without importing any of them."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments, or say which one may have been meant."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from waybench.core import UsageError, unknown

            raise UsageError(unknown("command", args[0], COMMANDS))
        if any(arg == "--out=" or (arg == "" and before in ("--out", "-o")) for before, arg in pairwise(args)):
            from waybench.core import UsageError

            # As by a variable of the shell that is not set: an empty path is the current folder.
            raise UsageError("--out is empty: give a file or folder, or . for the current folder")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> None:
        """Run the command; a result would be taken for an exit status by `main`, so there is none."""
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
        """Run and exit: 0, the command's own status, 2 with one line for what the user can mend, or 130."""
        warnings.formatwarning = _format_warning
        if "_WAYBENCH_COMPLETE" in os.environ:  # a shell asks what a word can become
            import_module("waybench.cli._completion")
        given = (args, prog_name or "waybench", complete_var)
        if not standalone_mode:
            return super().main(*given, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
        try:
            status = super().main(*given, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
        except (click.exceptions.Abort, KeyboardInterrupt):
            # An interrupt within `exec` of a string, as of many modules that are being imported, is remembered by the
            # interpreter even when it is caught: `python -m waybench` would end by the signal. The next `exec` forgets.
            exec("")
            status = INTERRUPTED
        except click.ClickException as error:
            context = error.ctx if isinstance(error, click.UsageError) else None
            status = _complain(_plain(error) + (f" (see '{context.command_path} --help')" if context else ""))
        except Exception as error:
            status = _complain(_mendable(error))
        stuck = _flush()
        if stuck is not None and not status:
            # The reader of a pipe may leave when it has seen enough.
            status = OUTPUT_CLOSED if isinstance(stuck, BrokenPipeError) else _complain(_mendable(stuck))
        sys.exit(status)


_format_by_python = warnings.formatwarning


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Return a warning of our own as one line; those of libraries as Python writes them."""
    if category.__module__.startswith("waybench."):
        return f"Warning: {message}\n"
    return _format_by_python(message, category, filename, lineno, line)


def _mendable(error: Exception) -> str:
    """Return the message of an error that the user can mend; any other one is a bug and keeps its traceback."""
    from waybench._extras import missing_extra
    from waybench.core import WaybenchError

    if isinstance(error, ModuleNotFoundError) and (missing := missing_extra(error, "this command")):
        return str(missing)
    if isinstance(error, WaybenchError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return f"cannot write the output: {error.strerror}"
    raise error


def _plain(error: click.ClickException) -> str:
    """Return click's message; numbers are named as people name them."""
    message = re.sub(r"is not a valid integer( range)?\.", "is not a whole number.", error.format_message())
    return re.sub(r"is not a valid float( range)?\.", "is not a number.", message)


def _complain(message: str) -> int:
    from waybench.core import shortened

    click.echo(f"Error: {shortened(' '.join(message.split()))}", err=True)
    return USAGE_ERROR


def _flush() -> OSError | None:
    """Flush standard output; if it takes no more, return why and keep the interpreter from trying again at its end."""
    try:
        sys.stdout.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return error
    return None


@click.group(
    "waybench",
    cls=App,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, prog_name="waybench")
@click.pass_context
def main(context: click.Context) -> None:
    """Measure how well language models navigate and plan."""
    if os.environ.get("NO_COLOR"):  # see no-color.org
        context.color = False
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
