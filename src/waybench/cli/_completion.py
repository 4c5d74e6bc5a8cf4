"""What a shell proposes for a word that is being typed, and `waybench completion`, the code for the user's shell.

Words are completed by the names of the commands' parameters, so a command needs no code for it.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from waybench.core import Option, UsageError

Item = CompletionItem[str]
SHELLS = ("bash", "zsh", "fish")


def _tasks(_: click.Context) -> list[Item]:
    from waybench.evaluation.tasks import all_tasks

    return [Item(task.name, help=task.summary) for task in all_tasks()]


def _environments(_: click.Context) -> list[Item]:
    from waybench.envs import registry
    from waybench.evaluation.tasks import environment_names

    summaries = {entry.id: entry.summary for entry in registry.entries}
    return [Item(name, help=summaries[env]) for name, env in environment_names().items()]


def _both(context: click.Context) -> list[Item]:
    items = {item.value: item for item in (*_environments(context), *_tasks(context))}
    return list(items.values())


def _players(_: click.Context) -> list[Item]:
    from waybench.cli._list import PLAYERS

    return [Item(f"waybench/{name.replace('RATE', '0.1')}", help=text) for name, text in PLAYERS.items()]


def _data_sets(_: click.Context) -> list[Item]:
    from waybench.data import downloads

    return [Item(download.name, help=download.title) for download in downloads().values()]


def _papers(_: click.Context) -> list[Item]:
    from waybench.results.papers import papers

    return [Item(paper.name, help=paper.title) for paper in papers()]


def _tables(context: click.Context) -> list[Item]:
    from waybench.results.papers import find_paper

    return [Item(table.id, help=table.title) for table in find_paper(context.params["paper"]).tables]


def _named(context: click.Context) -> list[str]:
    """Return the tasks or environments that are named before."""
    params = context.params
    return [*params.get("tasks", ()), *params.get("envs", ()), *([params["env"]] if params.get("env") else [])]


def _parameters(context: click.Context) -> list[Item]:
    """Propose the parameters of the tasks, or of the environment's own task, that are named before."""
    from waybench.evaluation.tasks import find_task

    return _assignments(option for name in _named(context) for option in find_task(name).options)


def _assignments(options: Iterable[Option]) -> list[Item]:
    """Propose NAME= for each option, and NAME=VALUE where the values can be listed."""
    items: dict[str, Item] = {}
    for option in options:
        values = ("true", "false") if option.type is bool else option.all_choices
        for value in ("", *values):
            text = f"{option.name}={value}"
            items.setdefault(text, Item(text, help=option.doc))
    return list(items.values())


# (Command, or "" for every command; parameter) -> what can be there.
_WORDS: dict[tuple[str, str], Callable[[click.Context], list[Item]]] = {
    ("", "tasks"): _tasks,
    ("", "env"): _both,
    ("", "envs"): _both,
    ("list", "name"): _both,
    ("", "models"): _players,
    ("", "parameters"): _parameters,
    ("", "each"): _parameters,
    ("reproduce", "paper"): _papers,
    ("reproduce", "table"): _tables,
    ("fetch", "names"): _data_sets,
    ("path", "name"): _data_sets,
}


class _Words(ShellComplete):
    """Completes parameters by the table above, and everything else as click does."""

    def get_completions(self, args: list[str], incomplete: str) -> list[Item]:
        """Return what the last word can become."""
        context, parameter, incomplete = _at(self.cli, args, incomplete)
        if parameter is not None:
            known = _WORDS.get((context.info_name or "", parameter.name or ""), _WORDS.get(("", parameter.name or "")))
            if known is not None:
                # A word before is missing or wrong: there is nothing to propose.
                with suppress(UsageError, KeyError, AttributeError):
                    return [item for item in _shown(known(context), incomplete) if item.value.startswith(incomplete)]
                return []
        return super().get_completions(args, incomplete)


def _shown(items: list[Item], incomplete: str) -> list[Item]:
    """Leave out values of options until the option's name is complete, since they are many."""
    if "=" in incomplete:
        return [item for item in items if not item.value.endswith("=")]
    return [item for item in items if "=" not in item.value or item.value.endswith("=")]


def _at(cli: click.Command, args: list[str], incomplete: str) -> tuple[click.Context, click.Parameter | None, str]:
    """Return the command that is being typed, the parameter that the last word is for, and what there is of it."""
    from click.shell_completion import _resolve_context, _resolve_incomplete  # pyright: ignore[reportPrivateUsage]

    context = _resolve_context(cli, {}, cli.name or "", args)
    parameter, incomplete = _resolve_incomplete(context, args, incomplete)
    if args and args[-1].startswith("-"):  # without its value, which is being typed, click reads none of the others
        context = _resolve_context(cli, {}, cli.name or "", args[:-1])
    return context, parameter if isinstance(parameter, click.Parameter) else None, incomplete


class _Bash(_Words, BashComplete):
    """For bash, which takes NAME=VALUE for three words and completes the last one."""

    # After "NAME=" there is no space.
    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value); [[ $value == *= ]] && compopt -o nospace"
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before, and the word that is being typed."""
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
        """Return a proposal without what stands before its "="."""
        name, equals, value = item.value.rpartition("=")
        _, incomplete = self.get_completion_args()
        if equals and "=" in incomplete and item.type == "plain" and not name.startswith("--"):
            return f"plain,{value}"
        return super().format_completion(item)

    @staticmethod
    def _check_version() -> None:
        """The version of bash is not checked: the script may be for another machine, and the check starts bash."""


class _Zsh(_Words, ZshComplete):
    pass


class _Fish(_Words, FishComplete):
    pass


for _name, _kind in zip(SHELLS, (_Bash, _Zsh, _Fish), strict=True):
    add_completion_class(_kind, _name)

_HOW = """\b
bash   add to ~/.bashrc:  eval "$(waybench completion bash)"
zsh    add to ~/.zshrc:   eval "$(waybench completion zsh)"
fish   waybench completion fish > ~/.config/fish/completions/waybench.fish"""


@click.command(epilog=_HOW)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the code with which SHELL completes waybench's commands, options, tasks and their parameters."""
    kind = get_completion_class(shell)
    assert kind is not None, f"click completes no words in {shell}"
    click.echo(kind(click.Command("waybench"), {}, "waybench", "_WAYBENCH_COMPLETE").source(), nl=False)
