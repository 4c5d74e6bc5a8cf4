"""Task directories of Harbor: one for each item, with its game or its prompt, its solution and its verifier."""

import hashlib
import hmac
import io
import json
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from waybench._game import describe_item
from waybench._package_data import read_text
from waybench.core import Episode, Json, UsageError, make_writable_folder, play_to_end, policy
from waybench.evaluation.tasks import TaskEntry, TaskItem, resolve_key
from waybench.evaluation.tasks._items import task_items
from waybench.ext.publish.harbor import _texts as texts

_SOURCE = Path(__file__).parents[3]
# The packages that every environment may import.
_SHARED = ("waybench.core", "waybench.data", "waybench.envs.spaces", "waybench.envs.smartplay")
# The program that plays replies with the archive and the standard library alone, and prints the reward.
_ALONE = """
import json, sys, tempfile, zipfile
given = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    zipfile.ZipFile(given["archive"]).extractall(folder)
    sys.path.insert(0, folder)
    from waybench._game import open_item, reward_of
    episode = open_item(given["item"])
    for reply in given["replies"]:
        episode.step(__import__("waybench.core").core.Reply(reply))
    print(reward_of(episode))
"""
_PATIENCE = 120  # seconds
_DATE = (1980, 1, 1, 0, 0, 0)  # of the files of an archive, so that it has the same bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborSettings:
    """The user's settings of task directories.

    Attributes:
        count: Greatest number of items.
        key: The key with which items are drawn; None for the public set.
        image: The image of the agent's box, with python3 and the user "agent"; "" to build on python:3.12-slim.
        has_network: Whether the agent's box reaches the internet.
        secret: The key of the hashes (HMAC) in the names of directories.
        commitment: The commitment to a private key, for the README; "" for none.
    """

    count: int = 10
    key: str | None = None
    image: str = ""
    has_network: bool = True
    secret: str = ""
    commitment: str = ""


def write_harbor(entry: TaskEntry, args: Mapping[str, Any], out: Path, settings: HarborSettings) -> list[str]:
    """Write a directory for each item of a task, and the lists of directories; return the directories' names.

    `args` are the parameters of the task that differ from the defaults; the folder `out` is new or empty.

    Raises:
        UsageError: If the task searches for a horizon, an environment needs packages and no image is given, a parameter
            is not valid, or the folder cannot be written.
    """
    if entry.searches:
        raise UsageError(f"{entry.name} searches for a horizon: choose a task with a set of items")
    parameters = resolve_key(entry.resolve({**args, **({"key": settings.key} if settings.key else {})}))
    make_writable_folder(out)
    digest_by_name: dict[str, str] = {}
    checked_env_ids: set[str] = set()
    for item in _distinct_items(task_items(entry.parts, parameters, settings.count), settings.count):
        family = item.environment.id.partition("/")[0]
        item_digest = hmac.new(settings.secret.encode(), item.item.instance.hash.encode(), "sha256").hexdigest()[:8]
        name = f"{family}-{item_digest}"
        for path, content in _directory_files(name, entry, item, settings):
            _write_file(out / name / path, content, is_program=path.endswith((".sh", "play")))
        if not settings.image and item.environment.id not in checked_env_ids:
            try:
                _check_standard_library_suffices(out / name, item.environment.id)
            except UsageError:
                shutil.rmtree(out)  # no half of a set
                raise
            checked_env_ids.add(item.environment.id)
        digest_by_name[name] = directory_digest(out / name)
    _write_file(out / "dataset.toml", texts.dataset_toml(entry, digest_by_name).encode())
    _write_file(out / "registry.json", texts.registry_json(entry, digest_by_name).encode())
    _write_file(out / "README.md", texts.readme_text(entry, digest_by_name, settings.commitment).encode())
    return list(digest_by_name)


def _distinct_items(items: Iterable[TaskItem], count: int) -> Iterator[TaskItem]:
    """Yield up to `count` items with different instances."""
    identities: set[tuple[str, str]] = set()
    for item in items:
        identity = item.environment.id, item.item.instance.hash
        if identity not in identities:
            identities.add(identity)
            yield item
        if len(identities) == count:
            return


def _directory_files(
    name: str, entry: TaskEntry, task_item: TaskItem, settings: HarborSettings
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file of an item's directory."""
    environment, options, item = task_item.environment, task_item.options, task_item.item
    episode: Episode[Any, Any, Any] = Episode(environment, item, options)
    if any(message.picture is not None for message in episode.messages):
        raise UsageError(f"{environment.id}: directories hold texts alone; leave out images")
    in_turns = episode.turns_left > 1
    token = secrets.token_hex(16) if in_turns else ""
    item_json = describe_item(episode, "turns" if in_turns else "answer", token)
    solution = play_to_end(environment, item, policy("oracle"), dict(options))
    replies = [turn.reply for turn in solution.turns if not turn.prefix]
    zip_archive, item_content = source_archive(environment.id), json.dumps(item_json).encode()
    metadata: dict[str, Json] = {
        "environment": environment.id,
        "version": environment.version,
        "level": item.level,
        "options": {key: value for key, value in options.items() if value is not None},
    }
    prompt = "\n\n".join(message.text for message in episode.messages)
    yield (
        "task.toml",
        texts.task_toml(name, entry, metadata, episode.turns_left, settings.image, settings.has_network).encode(),
    )
    yield "instruction.md", texts.instruction_text(prompt, in_turns=in_turns).encode()
    yield "environment/Dockerfile", texts.agent_dockerfile(settings.image, in_turns=in_turns).encode()
    yield "tests/test.sh", texts.TEST.encode()
    yield "tests/verify.py", read_text(__file__, "_verify.py").encode()
    yield "tests/item.json", item_content
    yield "tests/waybench.zip", zip_archive
    yield "solution/solve.sh", (texts.SOLVE_TURNS if in_turns else texts.SOLVE_ANSWER).encode()
    if not in_turns:
        yield "solution/answer.txt", replies[0].encode()
        return
    yield "solution/replies.txt", "".join(json.dumps(reply) + "\n" for reply in replies).encode()
    yield "tests/token", token.encode()
    yield "environment/.dockerignore", b"game\n"
    yield "environment/docker-compose.yaml", texts.COMPOSE.encode()
    yield "environment/play", read_text(__file__, "_client.py").encode()
    yield "environment/game/Dockerfile", texts.game_dockerfile(settings.image).encode()
    yield "environment/game/server.py", texts.SERVER.encode()
    yield "environment/game/item.json", item_content
    yield "environment/game/waybench.zip", zip_archive


def source_archive(env_id: str) -> bytes:
    """Return the part of waybench that plays an environment, as a ZIP file; the same source gives the same bytes."""
    family = env_id.partition("/")[0]
    paths = [*_SOURCE.glob("*.py"), *(_SOURCE / "envs").glob("*.py")]
    for name in (*_SHARED, f"waybench.envs.{family}"):
        folder = _SOURCE.parent.joinpath(*name.split("."))
        paths += [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        for path in sorted(set(paths)):
            info = ZipInfo(f"waybench/{path.relative_to(_SOURCE).as_posix()}", _DATE)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())
    return stream.getvalue()


def directory_digest(folder: Path) -> str:
    """Return Harbor's digest of a directory: the SHA-256 of its files' paths and digests, in order."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        file_digest = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{file_digest}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def _check_standard_library_suffices(folder: Path, env_id: str) -> None:
    """Raise a UsageError unless a directory's archive plays its solution with the standard library alone."""
    replies_file, answer_file = folder / "solution" / "replies.txt", folder / "solution" / "answer.txt"
    replies = (
        [json.loads(line) for line in replies_file.read_text("utf-8").splitlines()]
        if replies_file.exists()
        else [answer_file.read_text("utf-8")]
    )
    item = json.loads((folder / "tests" / "item.json").read_text("utf-8"))
    request = {"archive": str(folder / "tests" / "waybench.zip"), "item": item, "replies": replies}
    command = [sys.executable, "-I", "-S", "-c", _ALONE]
    try:
        process = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise UsageError(f"{env_id}: its solution takes too long to be played here") from None
    if process.returncode:
        reason = (process.stderr.strip().splitlines() or ["it failed"])[-1]
        raise UsageError(
            f"{env_id}: the standard library alone does not play it ({reason}): give --image with what it needs"
        )


def _write_file(path: Path, content: bytes, *, is_program: bool = False) -> None:
    """Write a file with its folders; raise a UsageError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if is_program else 0o644)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from None
