"""Texts that users read avoid the phrases that were replaced by plain ones."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import waybench
from waybench.cli import main
from waybench.envs import registry
from waybench.evaluation.tasks._catalogue import TASKS
from waybench.reporting._exports import summary_schema

SOURCE = Path(waybench.__file__).parent
# What readers could not decode, and terms that have another name.
REPLACED = re.compile(
    r"\b(counts? in nothing|in other words|not the algorithm's|set aside|found their way through|what was tried"
    r"|nobody's|all that can be had|passed over|what it comes to|be told\b|ties are told|models? (?:was|were) asked"
    r"|two by two|letter by letter|is no (?:map|template|TOML|text|table of prices))"
)


def help_texts(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from help_texts(found, f"{name} {each}")


def declared_texts() -> Iterator[tuple[str, str]]:
    for entry in registry.built_in:
        env = registry.load(entry.id)
        for part in (
            *env.playing.options,
            *env.items.options,
            *env.scoring.metrics,
            *env.scoring.series,
            *env.scoring.aggregates,
            *env.difficulty.axes,
        ):
            yield f"{env.id} {part.name}", part.doc
        for kind in env.scoring.failures:
            yield f"{env.id} {kind.name}", f"{kind.title} {kind.doc}"
        shown = env.presentation
        for text in (shown.lead, shown.legend, shown.reference, shown.undefined, env.difficulty.success):
            yield env.id, text
    for task in TASKS:
        for option in task.options:
            yield f"{task.name} {option.name}", option.doc


def descriptions(schema: Any, place: str = "schema") -> Iterator[tuple[str, str]]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "description" and isinstance(value, str):
                yield place, value
            else:
                yield from descriptions(value, f"{place}/{key}")
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions(value, place)


def literals(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in the code of a package, without docstrings."""
    for path in sorted((SOURCE / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


def templates() -> Iterator[tuple[str, str]]:
    for path in sorted((SOURCE / "reporting" / "templates").glob("*.html")):
        yield path.name, re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


TEXTS = {
    "help": lambda: help_texts(main, "waybench"),
    "declared": declared_texts,
    "schema": lambda: descriptions(summary_schema()),
    "results": lambda: literals("results"),
    "reporting": lambda: literals("reporting"),
    "cli": lambda: literals("cli"),
    "templates": templates,
}


@pytest.mark.parametrize("where", TEXTS)
def test_replaced_phrases_do_not_return(where: str) -> None:
    texts = list(TEXTS[where]())
    assert len(texts) >= 10
    assert [(place, text[:200]) for place, text in texts if REPLACED.search(text)] == []
