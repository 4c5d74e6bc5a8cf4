"""Harbor's boxes without Docker: folders as roots by bubblewrap, one network for the boxes of a trial.

Harbor imports this module in its own environment. It carries out COPY, WORKDIR and CMD of a Dockerfile, leaves out RUN
and users, and takes Python and the shell from this machine. It needs to run as root.
"""

import asyncio
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, override

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

MAIN, GAME = "main", "game"
PATIENCE = 300  # seconds
IS_READY = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"


class Box:
    """A root folder, made from a Dockerfile and the files beside it."""

    def __init__(self, root: Path, context: Path) -> None:
        self.root, self.workdir, self.command = root, "/", ["sleep", "infinity"]
        for name in ("bin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        for line in (context / "Dockerfile").read_text("utf-8").splitlines():
            name, _, rest = line.partition(" ")
            if name == "COPY":
                *sources, target = rest.split()
                for source in sources:
                    path = self.path(target + source if target.endswith("/") else target)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(context / source, path)
            elif name == "WORKDIR":
                self.workdir = rest
                self.path(rest).mkdir(parents=True, exist_ok=True)
            elif name == "CMD":
                self.command = json.loads(rest)

    def path(self, inside: str) -> Path:
        """Return where a path of the box lies on this machine."""
        return self.root / inside.lstrip("/")

    def sandboxed(self, command: list[str], *options: str, cwd: str | None = None) -> list[str]:
        """Return the command that runs another one in the box."""
        mounts = ["--bind", str(self.root), "/", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
        return ["bwrap", "--die-with-parent", "--clearenv", *mounts, *options, "--chdir", cwd or self.workdir, *command]


class Boxes(BaseEnvironment):
    """The agent's box, and with a compose file the game's."""

    network = ""  # the process whose network the boxes of the trial share

    @staticmethod
    @override
    def type() -> str:
        return "bubblewrap"

    @property
    @override
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True, docker_compose=True)

    @override
    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError("Dockerfile")

    @override
    async def start(self, force_build: bool) -> None:
        self.folder = Path(tempfile.mkdtemp())
        contexts = {MAIN: self.environment_dir}
        if (self.environment_dir / "docker-compose.yaml").is_file():
            contexts[GAME] = self.environment_dir / GAME
        self.boxes: dict[str, Box] = {}
        for name, context in contexts.items():
            root = self.folder / name
            root.mkdir()
            self.boxes[name] = Box(root, context)
        # The last one's command goes on, and the others join its network.
        name, box = [*self.boxes.items()][-1]
        reading, writing = os.pipe()
        command = box.sandboxed(box.command, "--unshare-net", "--info-fd", str(writing))
        self.process = await asyncio.create_subprocess_exec(*command, pass_fds=[writing])
        os.close(writing)
        with open(reading) as information:
            self.network = str(json.loads(await asyncio.to_thread(information.read))["child-pid"])
        if name == GAME:
            async with asyncio.timeout(PATIENCE):
                while (await self.run(GAME, ["python3", "-c", IS_READY])).return_code:
                    await asyncio.sleep(0.05)
        await self.ensure_dirs(self._mount_targets(writable_only=True))

    async def run(
        self, service: str, command: list[str], cwd: str | None = None, env: dict[str, str] | None = None
    ) -> ExecResult:
        """Run a command in a box, in the network of the trial."""
        settings = {"PATH": "/usr/local/bin:/usr/bin:/bin", **(self._merge_env(env) or {})}
        options = [word for name, value in settings.items() for word in ("--setenv", name, value)]
        inside = self.boxes[service].sandboxed(command, *options, cwd=cwd)
        process = await asyncio.create_subprocess_exec(
            *("nsenter", f"--net=/proc/{self.network}/ns/net", *inside),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, error = await process.communicate()
        return ExecResult(
            stdout=out.decode("utf-8", "replace"),
            stderr=error.decode("utf-8", "replace"),
            return_code=process.returncode or 0,
        )

    @override
    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        return await self.service_exec(command, cwd=cwd, env=env)

    @override
    async def service_exec(self, command: str, *, service: str | None = None, **options: Any) -> ExecResult:
        return await self.run(service or MAIN, ["/bin/sh", "-c", command], options.get("cwd"), options.get("env"))

    @override
    async def stop(self, delete: bool) -> None:
        self.process.kill()
        await self.process.wait()
        shutil.rmtree(self.folder)

    @override
    async def stop_service(self, service: str) -> None:
        pass  # no process outlives its command there

    @override
    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        path = self.boxes[MAIN].path(target_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source_path, path)

    @override
    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self.boxes[MAIN].path(target_dir), dirs_exist_ok=True)

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self.service_download_file(source_path, target_path)

    @override
    async def service_download_file(
        self, source_path: str, target_path: Path | str, *, service: str | None = None
    ) -> None:
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.boxes[service or MAIN].path(source_path), target_path)

    @override
    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self.service_download_dir(source_dir, target_dir)

    @override
    async def service_download_dir(
        self, source_dir: str, target_dir: Path | str, *, service: str | None = None
    ) -> None:
        shutil.copytree(self.boxes[service or MAIN].path(source_dir), target_dir, dirs_exist_ok=True)
