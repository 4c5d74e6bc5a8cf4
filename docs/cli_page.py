"""The page of the command line, from the commands themselves."""

import re

import click
from pieces import table

from waybench.cli._app import COMMANDS, App, main
from waybench.cli._options import GroupedCommand

_INTRODUCTION = """\
# Command line

`waybench COMMAND --help` shows the same in the terminal. [Exit statuses](files.md#exit-statuses) are the same for all
commands. `python -m waybench` is the same as `waybench`.
"""


def cli_page() -> str:
    """Return the page."""
    assert isinstance(main, App)
    context = click.Context(main, info_name="waybench")
    parts = [_INTRODUCTION, table(("command", "what it does"), (_summary(name) for name in COMMANDS))]
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        parts += _command(command, click.Context(command, info_name=name, parent=context), 2)
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _summary(name: str) -> tuple[str, str]:
    return f"[`{name}`](#waybench-{name})", COMMANDS[name][1]


def _command(command: click.Command, context: click.Context, level: int) -> list[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"{'#' * level} waybench {context.command_path.removeprefix('waybench ')}"]
    parts.append(f"```text\n{context.command_path} {usage}\n```")
    parts.append(_prose(command.help or ""))
    if isinstance(command, GroupedCommand):
        groups = command.grouped_options(context)
    else:
        records = (param.get_help_record(context) for param in command.params)
        groups = {"Option": [record for record in records if record is not None]}
    for title, options in groups.items():
        if options:
            parts.append(table((title, "meaning"), ((f"`{name}`", _escaped(text)) for name, text in options if text)))
    if command.epilog:
        parts.append(f"```sh\n{_lines(command.epilog)}\n```")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            parts += _command(inner, click.Context(inner, info_name=name, parent=context), level + 1)
    return [part for part in parts if part.strip()]


def _prose(text: str) -> str:
    """Return the help as paragraphs; those that click does not wrap are blocks."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        "```text\n" + _lines(each) + "\n```" if each.startswith("\b") else _escaped(" ".join(each.split()))
        for each in paragraphs
    )


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\b", "").strip("\n").splitlines())


def _escaped(text: str) -> str:
    """Escape what Markdown would read as markup, outside of code; options are code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", re.sub(r"([\[<*])", r"\\\1", text))
