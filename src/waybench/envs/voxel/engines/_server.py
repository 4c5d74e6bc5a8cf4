"""A Luanti server of our own, queried over its standard input and output."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import weakref
from contextlib import suppress
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from waybench.core import UsageError

_PROGRAMS = ("luantiserver", "minetestserver")  # its new name, and that of before 2024
_FOLDERS = ("/usr/games", "/usr/local/games")  # Debian's, which not everybody has in PATH
_PREFIX = "waybench "  # of the lines with answers of our mod
_PATIENCE = 120.0  # seconds for an answer; even all chunks around a place take some seconds only
_FOLDER = "waybench-luanti-"  # how the names of servers' folders begin; the number of our process follows
_TRIES = 3  # ports, of which another program can take one before the server does
MISSING = (
    "engine=luanti needs a Luanti server with minetest_game: install Debian's package minetest-server, or set PATH so "
    f"that {' or '.join(_PROGRAMS)} is found, or choose engine=own"
)

# Everything that depends on the time stands still, and nobody can join.
# There are no caves, which a walker who cannot dig does not leave, and no rivers (ridges), whose biome is the sea's.
_SETTINGS = """\
bind_address = 127.0.0.1
ipv6_server = false
enable_ipv6 = false
server_announce = false
max_users = 0
disallow_empty_password = true
mg_name = v7
fixed_map_seed = {seed}
mg_flags = nocaves,nodungeons,light,decorations,biomes,ores
mgv7_spflags = mountains,noridges,nofloatlands,nocaverns
chunksize = 5
num_emergethreads = 1
water_level = 1
liquid_update = 1000000
server_unload_unused_data_timeout = 29
time_speed = 0
dedicated_server_step = 0.001
sqlite_synchronous = 0
"""
_WORLD = """\
gameid = minetest_game
backend = sqlite3
player_backend = sqlite3
auth_backend = sqlite3
mod_storage_backend = sqlite3
"""


@cache
def program_path() -> str | None:
    """Return the path of the server's program; None if it is not installed."""
    paths = os.pathsep.join((os.environ.get("PATH", ""), *_FOLDERS))
    return next((executable for name in _PROGRAMS if (executable := shutil.which(name, path=paths))), None)


class LuantiServer:
    """A running server, which ends with this object or with this process, whichever is first.

    Raises:
        UsageError: If it is not installed.
        RuntimeError: If it does not start.
    """

    def __init__(self, seed: int) -> None:
        executable = program_path()
        if executable is None:
            raise UsageError(MISSING)
        _remove_left_folders()
        for attempt in range(_TRIES):  # each has another port
            self._start_server(executable, seed)
            try:
                self.about = self.ask("hello")
                return
            except RuntimeError:
                if attempt == _TRIES - 1:
                    raise

    def _start_server(self, executable: str, seed: int) -> None:
        """Start a process with a folder of its own, a thread that reads its answers, and `stop`, which ends it."""
        folder = Path(tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-"))
        self._log = folder / "log"
        try:
            self._process = _start_process(executable, seed, folder, self._log)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._answers: Queue[bytes | None] = Queue()
        assert self._process.stdout is not None
        Thread(target=_pass_on_answers, args=(self._process.stdout, self._answers), daemon=True).start()
        self.stop = weakref.finalize(self, _end_server, self._process, folder, os.getpid())

    @property
    def ended(self) -> bool:
        """Whether the server was ended here."""
        return not self.stop.alive

    def ask(self, request: str, **values: Any) -> dict[str, Any]:
        """Send a request and return its answer, one at a time. A server that does not answer is ended.

        Raises:
            RuntimeError: If the server cannot answer, or has ended.
        """
        if self.ended:
            raise RuntimeError("the Luanti server ended unexpectedly")
        try:
            with suppress(OSError, ValueError):  # where the server has ended, the line below is None
                assert self._process.stdin is not None
                self._process.stdin.write(json.dumps({"do": request, **values}).encode() + b"\n")
                self._process.stdin.flush()
            line = self._answers.get(timeout=_PATIENCE)
        except Empty:
            self.stop()
            raise RuntimeError(f"Luanti's server did not answer within {_PATIENCE:.0f} seconds") from None
        except BaseException:  # an interrupt: the late answer would be taken for that to the next request
            self.stop()
            raise
        if line is None:
            reason = self._end_reason()
            self.stop()
            raise RuntimeError(f"Luanti's server has ended: {reason}")
        answer = json.loads(line)
        if "error" in answer:
            self.stop()  # it may have carried out a part of the request
            raise RuntimeError(f"Luanti's server: {answer['error']}")
        return answer

    def _end_reason(self) -> str:
        """Return why the server has ended: its signal, or a line of its log."""
        with suppress(subprocess.TimeoutExpired):
            status = self._process.wait(5)
            if status < 0:
                return f"by signal {-status}"
        lines = self._log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if "ERROR" in line]  # the first error causes the later ones
        return (errors or lines[-1:] or ["it said nothing"])[0].strip()


def _start_process(executable: str, seed: int, folder: Path, log: Path) -> "subprocess.Popen[bytes]":
    """Start a server with a world of this seed in a folder."""
    world = folder / "world"
    with as_file(files(__name__.rpartition(".")[0]) / "luanti_mod") as mod:
        shutil.copytree(mod, world / "worldmods" / "waybench", ignore=shutil.ignore_patterns("*.py*", "__*"))
    (world / "world.mt").write_text(_WORLD)
    (folder / "settings").write_text(_SETTINGS.format(seed=seed))
    with log.open("wb") as log_file:
        # Its home is the folder, so that it neither reads a person's settings nor leaves anything behind.
        return subprocess.Popen(
            [
                *(executable, "--world", str(world), "--config", str(folder / "settings")),
                *("--gameid", "minetest_game", "--port", str(_free_port()), "--logfile", ""),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            cwd=folder,
            env={"HOME": str(folder), "MINETEST_USER_PATH": str(folder), "LUANTI_USER_PATH": str(folder)},
            start_new_session=True,  # an interrupt from the keyboard is for us alone
        )


def _remove_left_folders() -> None:
    """Remove the folders of servers whose processes were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        try:
            os.kill(int(owner), 0)  # signal 0 only tests whether the process exists
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, OSError):  # no folder of ours, or of another user
            continue


def _free_port() -> int:
    """Return the number of a UDP port that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _pass_on_answers(lines: IO[bytes], answers: "Queue[bytes | None]") -> None:
    """Put the answers among the server's lines into a queue, and None at the end."""
    with suppress(ValueError):  # the stream is closed while it is read
        for line in lines:
            if line.startswith(_PREFIX.encode()):
                answers.put(line[len(_PREFIX) :])
    answers.put(None)


def _end_server(process: "subprocess.Popen[bytes]", folder: Path, owner: int) -> None:
    """End a server by closing its standard input, and remove its folder."""
    if os.getpid() != owner:  # a fork of our process must not end its parent's server
        return
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
    shutil.rmtree(folder, ignore_errors=True)
