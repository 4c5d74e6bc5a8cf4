"""`waybench new`: a package with an environment that keeps the contract, to change into one's own."""

import keyword
import re
from pathlib import Path

import click

import waybench.testing
from waybench.cli._options import argument, option, with_parameters
from waybench.core import UsageError
from waybench.envs import registry

KINDS = {
    "answer": "a question with one answer",
    "plan": "a whole plan in one answer",
    "turns": "one action in each turn",
}
TEMPLATE = Path(waybench.testing.__file__).with_name("template")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}(?:/[a-z0-9][a-z0-9_-]{0,39})?")


@click.command()
@with_parameters
def new(
    name: str = argument(),
    kind: str = option(
        f"What is played: {'; '.join(f'{kind}, {text}' for kind, text in KINDS.items())}.",
        default="turns",
        type=click.Choice(list(KINDS)),
    ),
    out: Path | None = option("Folder of the package.  [default: NAME]"),
) -> None:
    """Write a package with an environment of your own, which keeps the contract at once.

    NAME is a family, as in compass, or an id, as in compass/legs. The package has a module, its test, a README and the
    metadata; change the module, and run `waybench check` after every change.
    """
    files = package_files(name, kind)
    folder = out or Path(name.replace("/", "-"))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty: choose another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, text in files.items():
        (folder / file_name).write_text(text, encoding="utf-8")
    module = next(iter(files))
    click.echo(f"written: {', '.join(files)} in {folder}")
    click.echo(f"next: waybench check {folder / module}\n      pip install --editable {folder}")


def package_files(name: str, kind: str) -> dict[str, str]:
    """Return the texts of a package's files by name, its module first, for a family or an id and one of `KINDS`.

    Raises:
        UsageError: If the name has another form, or is taken.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"name {name[:80]!r}: give small letters, digits, - and _, as in compass or compass/legs")
    family, _, variant = name.partition("/")
    env_id = f"{family}/{variant or kind}"
    package = re.sub(r"\W", "_", name)
    if keyword.iskeyword(package):
        raise UsageError(f"name {name!r} is a word of Python: choose another one")
    if any(entry.id == env_id for entry in registry.entries):
        raise UsageError(f"there is an environment {env_id} already: choose another name")
    values = {
        "ENV_ID": env_id,
        "DISTRIBUTION": package.replace("_", "-"),
        "PACKAGE": package,
        "TITLE": re.sub(r"[\W_]+", " ", name).capitalize(),
    }
    sources = {
        f"{package}.py": f"{kind}.py.txt",
        f"test_{package}.py": "test.py.txt",
        "pyproject.toml": "pyproject.toml.txt",
        "README.md": "README.md",
    }
    files: dict[str, str] = {}
    for target, source in sources.items():
        text = (TEMPLATE / source).read_text("utf-8")
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        files[target] = text
    return files
