import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from tests.cli.support import Command, one_line_error, watched
from waybench import __version__
from waybench.cli import main
from waybench.cli._app import COMMANDS
from waybench.core import DataError, UsageError

Raises = Callable[[BaseException], None]
HEAVY = ("inspect_ai", "numpy", "scipy", "pandas", "jinja2", "altair", "rich", "asyncio", "gymnasium", "starlette")


def loaded_by(*args: str) -> set[str]:
    probe = (
        "import sys\n"
        "from waybench.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe, *args], input="", capture_output=True, text=True, check=True)
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("args", [(), ("--help",), ("--version",)])
def test_help_loads_nothing_of_the_package(args: tuple[str, ...]) -> None:
    loaded = loaded_by(*args)
    assert loaded.isdisjoint(HEAVY)
    assert {name for name in loaded if name.startswith("waybench.")} == {
        "waybench._late",
        "waybench._version",
        "waybench.cli",
        "waybench.ext",
        "waybench.ext.author",
        "waybench.cli._app",
    }


@pytest.mark.parametrize(
    "args",
    [("list",), ("list", "--json"), ("generate", "maze"), ("play", "maze"), ("score", "--help"), ("run", "--help")],
)
def test_light_commands_load_nothing_heavy(args: tuple[str, ...]) -> None:
    assert loaded_by(*args).isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("args", "families"),
    [
        (("list",), set[str]()),
        (("generate", "maze", "--count", "1"), {"maze"}),
        (("generate", "horizon_hanoi", "--count", "1"), {"hanoi"}),
        (("list", "aqa"), {"search"}),
    ],
)
def test_only_environments_that_are_named_are_loaded(args: tuple[str, ...], families: set[str]) -> None:
    modules = (re.fullmatch(r"waybench\.envs\.(\w+)\..*_environment", name) for name in loaded_by(*args))
    assert {module[1] for module in modules if module} - {"smartplay"} == families


def test_score_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\n")
    probe = "import sys\nfrom waybench.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe, "score", tmp_path / "in"], capture_output=True, text=True)
    assert "waybench._scoring" in done.stdout.split()
    assert set(done.stdout.split()).isdisjoint(HEAVY)


def test_help_names_every_command(command: Command) -> None:
    alone, asked = command(), command("--help")
    assert alone.exit_code == asked.exit_code == 0
    assert alone.stdout == asked.stdout
    assert all(f"\n  {name} " in asked.stdout for name in COMMANDS)


def commands_of(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group and of its groups, each with its words."""
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        inner = click.Context(found, info_name=name, parent=context)
        yield inner.command_path, found
        if isinstance(found, click.Group):
            yield from commands_of(found, inner)


def test_every_command_and_every_option_says_what_it_does() -> None:
    assert isinstance(main, click.Group)
    for path, found in commands_of(main, click.Context(main, info_name="waybench")):
        assert found.help, path
        for option in found.params:
            assert not isinstance(option, click.Option) or option.hidden or option.help, f"{path} {option.opts}"


def test_version(command: Command) -> None:
    assert command("--version").stdout == f"waybench, version {__version__}\n"


def test_unknown_command_gets_a_proposal(command: Command) -> None:
    assert "unknown command 'genrate': did you mean 'generate'?" in one_line_error(command("genrate"))


@pytest.mark.parametrize("args", [("--bogus",), ("generate",), ("generate", "maze", "--cuont", 1), ("score",)])
def test_wrong_usage_is_one_line(command: Command, args: tuple[object, ...]) -> None:
    assert "--help'" in one_line_error(command(*args))


def raising(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


@pytest.fixture
def list_raises(monkeypatch: pytest.MonkeyPatch) -> Raises:
    return lambda error: monkeypatch.setattr("waybench.cli._list.list_", raising(error))


def test_an_error_of_ours_is_one_line(command: Command, list_raises: Raises) -> None:
    list_raises(DataError("file x:\nnot a record"))
    assert one_line_error(command("list")) == "Error: file x: not a record\n"


def test_an_interrupt_has_status_130(command: Command, list_raises: Raises) -> None:
    list_raises(KeyboardInterrupt())
    assert command("list").exit_code == 130


def test_an_interrupt_of_what_is_being_imported_has_the_same_status(tmp_path: Path) -> None:
    # Many modules run strings when they are imported, and the interpreter remembers that one was interrupted.
    (tmp_path / "interrupted.py").write_text(
        "import click, waybench.cli._list\n"
        "waybench.cli._list.list_ = click.Command('list', callback=lambda: exec('raise KeyboardInterrupt'))\n"
        "from waybench.cli import main\n"
        "main(['list'])\n"
    )
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (130, "")


def test_a_commands_own_status_is_kept(command: Command, list_raises: Raises) -> None:
    list_raises(click.exceptions.Exit(3))
    assert command("list").exit_code == 3


@pytest.mark.parametrize("error", [ZeroDivisionError("bug"), FileNotFoundError(2, "bug", "x")])
def test_a_bug_keeps_its_traceback(command: Command, list_raises: Raises, error: Exception) -> None:
    list_raises(error)
    with pytest.raises(type(error), match="bug"):
        command("list")


def test_for_callers_that_want_no_exit_errors_are_raised() -> None:
    with pytest.raises(UsageError):
        main(["generate", "nothing"], standalone_mode=False)


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("args", [("list",), ("generate", "maze", "--level", "9", "--count", "3000")])
def test_a_reader_that_leaves_is_no_error(args: tuple[str, ...], buffered: str) -> None:
    env = {**os.environ, "PYTHONUNBUFFERED": buffered}
    with watched(*args, env=env) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("args", [("list",), ("--help",), ("generate", "maze", "--level", "9", "--count", "3000")])
def test_a_full_disk_is_one_line(args: tuple[str, ...], buffered: str) -> None:
    env = {**os.environ, "PYTHONUNBUFFERED": buffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "waybench", *args], stdout=full, stderr=subprocess.PIPE, text=True, env=env
        )
    assert done.returncode == 2
    assert done.stderr == "Error: cannot write the output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_leaves_no_traceback() -> None:
    with watched("generate", "maze", "--level", "9", "--count", "100000000") as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.stderr.read().strip() == b""
        assert process.wait() == 130


@pytest.mark.parametrize(
    "args",
    [
        ("compare", "@", "b", "--in", "nowhere"),
        ("generate", "maze/alicia", "--level", "@"),
        ("score", "@"),
        ("report", "/@"),
        ("power", "@"),
        ("prices", "@"),
        ("run", "alicia", "--model", "waybench/@"),
        ("list", "@"),
    ],
)
def test_an_error_quotes_little_of_a_value(
    command: Command, args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    message = one_line_error(command(*(arg.replace("@", "x" * 5000) for arg in args)))
    assert "x" * 79 in message
    assert "x" * 201 not in message


@pytest.mark.parametrize("name", ["run", "generate", "power"])
def test_long_helps_have_all_their_options_in_groups(command: Command, name: str) -> None:
    text = command(name, "--help").stdout
    titles = [line.removesuffix(":") for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles[-1] == "Options" and len(titles) >= 5
    rest = text.partition("\nOptions:\n")[2].split("\n\n")[0].split()
    assert rest[:2] == ["-h,", "--help"] and rest.count("--help") == 1
    if name == "run":
        assert titles == ["Model", "Items", "Comparison", "Limits and money", "Where", "Display", "Options"]


def test_commands_are_listed_in_the_order_of_use(command: Command) -> None:
    text = command("--help").stdout
    places = [text.index(f"\n  {name} ") for name in ("list", "run", "results", "report", "compare", "submit", "check")]
    assert places == sorted(places)
    for name in COMMANDS:
        assert f"\n  {name} " in text
