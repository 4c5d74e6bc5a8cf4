"""Runs of the embedded players, some of them under the names of models, with all that reports have tables of.

Times, identifiers and the order of the logs of a run are set to fixed ones, as nothing else differs between two runs.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from click.testing import CliRunner

import waybench
from tests.analysis.foreign import BROKEN, CUT, RIGHT, WRONG, ask
from waybench.cli import main

import_module("zipfile_zstd")  # teaches zipfile the compression of the logs

Json = Any

LARGE, SMALL, OTHER, PEER = "vendor/steady-70b", "vendor/steady-7b", "other/hand", "other/peer"
PLAYERS = {
    LARGE: "waybench/noisy-0.05",
    SMALL: "waybench/noisy-0.3",
    OTHER: "waybench/heuristic",
    PEER: "waybench/noisy-0.1",  # ranked beside the last one, for both played mazes alone
}
ORACLE, RANDOM, NULL = "waybench/oracle", "waybench/random", "waybench/null"
REFERENCES = ORACLE, RANDOM, NULL

PRICES = {LARGE: {"input": 2.0, "output": 10.0, "input_cache_read": 0.5}, SMALL: {"input": 0.2, "output": 0.8}}
FACTS = f"""\
["{LARGE}"]
name = "Steady 70B"
size = "70B"
date = "2025-11"
series = "Steady"
["{SMALL}"]
name = "Steady 7B"
size = "7B"
date = "2025-03-01"
series = "Steady"
["{OTHER}"]
size = 1.5e9
date = "2024-06"
["{PEER}"]
size = "30B"
series = "Steady"
"""


class Run(NamedTuple):
    """A run of some tasks by some players.

    Attributes:
        name: Name of its folder.
        command: What follows `waybench run`.
        models: Models and players.
        change: Changes a sample of its logs, given with the model and the number of the sample.
    """

    name: str
    command: str
    models: tuple[str, ...] = (LARGE, SMALL, OTHER, PEER, *REFERENCES)
    change: Callable[[Json, str, int], None] | None = None


def lose(progress: Json, model: str, number: int) -> None:
    """Let episodes of the large model end in an infrastructure error, and make one of the small model unreadable."""
    if model == LARGE and number < 2:
        progress |= {"end": "infrastructure_error", "error": "RateLimitError: 429", "turns": progress["turns"][:-1]}
    if model == SMALL and number == 4:
        progress["end"] = "nonsense"


def tamper(progress: Json, model: str, number: int) -> None:
    """Change what came of the first action of an episode of the small model."""
    if model == SMALL and number == 0:
        turn = json.loads(progress["turns"][0])
        turn["outcome"] = "ok" if turn["outcome"] != "ok" else "illegal"
        progress["turns"][0] = _compact(turn)


_TWO, _PAIR = (LARGE, SMALL), (LARGE, SMALL, ORACLE)
RUNS = (
    Run("mazes", "alicia -T max_dimension=7 --limit 6 --attempts 2 --levels"),
    Run("wordings", "alicia --each wording=ascii,image -T max_dimension=5 --limit 3 --attempts 2", _TWO),
    Run("tools", "alicia -T interface=tools -T max_dimension=5 --limit 2 --attempts 1", _TWO),
    Run("probes", "guessnum coin -T level=8 --probe every:3 --limit 7", (*_PAIR, NULL)),
    Run("trees", "dfs cavedfs --limit 4 --levels", _PAIR),
    Run("again", "dfs --limit 4 --attempts 3 -T level=6", _TWO),
    Run("sets", "guessnum -T sets=2 -T key=mine --limit 3 -T level=8", _TWO),
    Run("isomorphs", "dfs --each isomorph=1,2 --limit 4", _TWO),
    Run("examples", "guessnum -T icl=2 -T level=8 --limit 5", _TWO),
    Run("teacher", "dfs --each teacher_guided=true,2 --limit 2", _TWO),
    Run("coach", "guessnum -T weak_tg_chances=2 -T level=8 --limit 2", _TWO),
    Run("prefix", "dfs --prefix oracle:3 --limit 3", _TWO),
    Run("context", "mango_route -T context_tokens=3000 -T level=2 -T worlds=1 --limit 2 -T protocol=sound", _TWO),
    Run("maps", "mango_destination mango_route -T level=2 -T worlds=3 --limit 3 -T protocol=sound", _PAIR),
    Run("extract", "mango_minigames mango_extract -T level=1 -T worlds=1 --limit 2", _TWO),
    Run("agent", "coin --agent tests.net.agents.planner:times=2 -T level=8 --limit 7", _TWO),
    Run("effort", "coin --reasoning-effort high -T level=8 --limit 7", _TWO),
    Run("games", "bandit_high_low rps_basic hanoi_3 messenger_l1 -T wording=one_question --limit 2", _PAIR),
    Run("worlds", "crafter voxel_find -T steps=8 -T wording=one_question --limit 1", (LARGE,)),
    Run("tiles", "gtb gtb_state gtb_stepwise --limit 1", _TWO),
    Run("explore", "maze_explore graph_paths --limit 2", _TWO),
    Run("spanish", "alicia -T language=es -T max_dimension=5 --limit 3 --attempts 2", _TWO),
    Run("demands", "atlas_world --each condition=plan,read --each level=3,6 --limit 8", _TWO),
    Run("decided", "bfs --until decided --max-items 12", _TWO),
    Run("search", "horizon_maze -T most=20", _TWO),
    Run("lost", "hanoi --limit 5", (*_PAIR, NULL), lose),
    Run("tampered", "messenger --limit 3", _PAIR, tamper),
)


class Corpus(NamedTuple):
    """The corpus.

    Attributes:
        folder: Its folder, with the logs in `logs`, a person's records, prices and facts of models.
        printed: What each run printed, by its name.
    """

    folder: Path
    printed: dict[str, str]


def build(folder: Path, runs: Iterable[Run] = RUNS) -> Corpus:
    """Play all runs, in an empty folder."""
    logs = folder / "logs"
    printed: dict[str, str] = {}
    number = 0
    for run in runs:
        players = [PLAYERS.get(model, model) for model in run.models]
        models = [part for player in players for part in ("--model", player)]
        out = logs / run.name
        printed[run.name] = waybench_("run", *run.command.split(), *models, "--out", out, "--display", "none")
        number = _settle(out, run, number)
    for name, replies in (("first", _first), ("second", _second)):
        ask(folder / "foreign" / name, name, replies)
    _play(logs / "person.jsonl")
    (folder / "prices.json").write_text(json.dumps(PRICES), encoding="utf-8")
    (folder / "models.toml").write_text(FACTS, encoding="utf-8")
    return Corpus(folder, printed)


def waybench_(*arguments: object, stdin: str | None = None) -> str:
    """Return what a command prints on standard output."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    if result.exit_code != 0:
        raise AssertionError(f"waybench {' '.join(map(str, arguments))}: {result.output}") from result.exception
    return result.stdout


def _first(number: int) -> str:
    return BROKEN if number == 0 else CUT if number == 1 else RIGHT


def _second(number: int) -> str:
    return WRONG if number % 2 else RIGHT


def _play(file: Path) -> None:
    """Record a person who solves a maze and gives up the next one."""
    source = waybench.load("maze/alicia").source(level=5)
    for index in range(4):
        solution = " ".join(f"{way[0]}{cells}" for way, cells in source.item(index).proof["solution"])
        typed = solution if index < 3 else "quit"
        game = ("play", "maze", "--level", 5, "--index", index, "--record", file, "--player", "Ada")
        waybench_(*game, stdin=f"{typed}\n")
    file.write_text(_SECONDS.sub(r"\g<1>1.5", file.read_text(encoding="utf-8")), encoding="utf-8")


def _settle(folder: Path, run: Run, number: int) -> int:
    """Give the logs of a run fixed names, times and identifiers, and the names of the models.

    Args:
        folder: The run's folder.
        run: The run.
        number: How many logs there were before.

    Returns:
        How many logs there are now.
    """
    contents = sorted((_parts(path, run) for path in folder.glob("*.eval")), key=_place)
    for path in folder.iterdir():
        if path.name.endswith(".decision.json"):
            path.write_text(_renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            path.unlink()
    for parts in contents:
        number += 1
        spec = parts["header.json"]["eval"]
        identity = hashlib.sha256(str(number).encode()).hexdigest()[:22]
        spec |= dict.fromkeys(("eval_set_id", "eval_id", "run_id", "task_id"), identity)
        spec |= {"created": f"2026-01-{1 + number // 24:02}T{number % 24:02}:00:00+00:00"}
        name = f"{spec['created'].replace(':', '-').replace('+', '-')}_{spec['task_display_name']}_{identity}.eval"
        with ZipFile(folder / name, "w", ZIP_DEFLATED) as log:
            for part, content in sorted(parts.items()):
                log.writestr(part, json.dumps(content))
    return number


def _place(parts: dict[str, Json]) -> str:
    spec = parts["header.json"]["eval"]
    return json.dumps([spec["task"], spec["model"], spec["task_args"]], sort_keys=True)


def _sample_place(summary: Json) -> tuple[str, int]:
    return summary["id"], summary["epoch"]


def _parts(path: Path, run: Run) -> dict[str, Json]:
    """Return the parts of a log that reports read, with the samples in order."""
    with ZipFile(path) as log:
        names = [name for name in sorted(log.namelist()) if not name.startswith("_journal/")]
        parts: dict[str, Json] = {name: json.loads(_renamed(log.read(name).decode())) for name in names}
    header, summaries = parts["header.json"], parts["summaries.json"]
    header["stats"] |= {"started_at": _TIME, "completed_at": _TIME}
    summaries.sort(key=_sample_place)
    for summary in summaries:
        summary |= _FIXED
    samples = [content for name, content in parts.items() if name.startswith("samples/")]
    for number, sample in enumerate(samples):
        sample |= {**_FIXED, "events": [], "attachments": {}}
        sample.pop("events_data", None)
        for progress in _progresses(sample):
            _add_usage(progress, header)
            if run.change:
                run.change(progress, header["eval"]["model"], number)
        if header["eval"]["model"] == LARGE:
            sample["store"]["waybench_reasoning"] = {"0": f"Sample {number}: go on."}
    return parts


_SECONDS = re.compile(r'(\\*"seconds\\*": ?)[-\d.e]+')
_TIME = "2026-01-01T00:00:00+00:00"
_FIXED = {"started_at": _TIME, "completed_at": _TIME, "total_time": 1.0, "working_time": 1.0, "uuid": "0" * 22}


def _renamed(text: str) -> str:
    """Return a part of a log with the names of the models, and with one time for every reply."""
    text = _SECONDS.sub(r"\g<1>1.5", text)
    for model, player in PLAYERS.items():
        text = text.replace(f"{player}\\", f"{model}\\").replace(f'{player}"', f'{model}"')
    return text


def _progresses(sample: Json) -> Iterator[Json]:
    """Yield what became of an episode, which a sample holds twice."""
    yield sample["store"]["waybench"]
    for score in sample["scores"].values():
        if "waybench" in (score.get("metadata") or {}):
            yield score["metadata"]["waybench"]


def _add_usage(progress: Json, header: Json) -> None:
    """Give the turns of models tokens, which grow with the reasoning effort."""
    is_model = header["eval"]["model"] in PLAYERS
    scale = 3 if header["plan"]["config"].get("reasoning_effort") else 1
    for number, text in enumerate(progress["turns"]):
        turn = json.loads(text)
        if turn.get("usage"):
            size = len(turn["reply"])
            tokens = {"input_tokens": 200 + 15 * number, "output_tokens": scale * (20 + size)}
            more = {"reasoning_tokens": 10 * scale, "cached_tokens": 100 if number else 0}
            turn["usage"] |= {**tokens, **more} if is_model else {}
            progress["turns"][number] = _compact(turn)


def _compact(turn: Json) -> str:
    return json.dumps(turn, sort_keys=True, separators=(",", ":"))
