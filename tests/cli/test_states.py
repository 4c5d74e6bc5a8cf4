"""`waybench run --states`: hidden states before each turn, with what is true then. A stand-in takes torch's place."""

import json
import sys
from base64 import b64decode
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cli.support import Command, one_line_error
from tests.examples.test_finetune import script
from waybench.core import Episode
from waybench.envs import registry
from waybench.evaluation._provider import EmbeddedPlayer
from waybench.results import read_logs

LAYERS = 4


class Tensor:
    """A tensor of torch, as far as it is used."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, index: Any) -> "Tensor":
        return Tensor(self.values[index])

    def to(self, device: str) -> "Tensor":
        return self

    def float(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return self

    def numpy(self) -> Any:
        return self.values


class Transformer:
    """A model whose states at layer k are k times the number of the last token, and the length of the text."""

    config, device = SimpleNamespace(num_hidden_layers=LAYERS), "cpu"

    def __call__(self, input_ids: Tensor, output_hidden_states: bool) -> Any:
        assert output_hidden_states
        tokens = input_ids.values
        lengths = np.full(tokens.shape, tokens.shape[1])
        return SimpleNamespace(
            hidden_states=[Tensor(np.stack([k * tokens, lengths], axis=-1)) for k in range(LAYERS + 1)]
        )


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let embedded players look like a model of Hugging Face."""

    def tokenize(text: str, return_tensors: str) -> dict[str, Tensor]:
        return {"input_ids": Tensor(np.array([[*text.encode()]]))}

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(inference_mode=nullcontext))

    def join(messages: Any, tools: Any) -> str:
        return "\n".join(message.text for message in messages)

    parts: dict[str, Any] = {
        "hf_chat": staticmethod(join),
        "tokenizer": staticmethod(tokenize),
        "tokenizer_call_args": None,
        "model": Transformer(),
    }
    for name, part in parts.items():
        monkeypatch.setattr(EmbeddedPlayer, name, part, raising=False)


RUN = ["alicia", "-T", "max_dimension=5", "--limit", 6, "--attempts", 1, "--display", "none"]


@pytest.mark.usefixtures("in_process")
def test_each_turn_has_its_states_and_labels(command: Command, tmp_path: Path) -> None:
    path, out = tmp_path / "states.jsonl", tmp_path / "out"
    args = [*RUN, "-m", "waybench/noisy-0.5", "--states", path, "--out", out]
    assert command("run", *args, "--layers", "0,4").exit_code == 0
    turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    records = {episode.record.instance_hash: episode.record for episode in read_logs(out)}
    assert len(turns) == sum(len(record.turns) for record in records.values()) > len(records) == 6
    for turn in turns:
        record = records[turn["item"]]
        assert (turn["model"], turn["env"], turn["attempt"]) == (record.player, record.env, record.attempt)
        environment = registry.load(record.env)
        episode: Any = Episode(environment, environment.item(record.instance), record.options)
        for earlier in record.turns[: turn["turn"]]:
            episode.step(earlier.reply)
        assert turn["labels"]["distance"] == environment.players.potentials[0].of(episode.state)
        assert [turn["labels"][f"position.{axis}"] for axis in (0, 1)] == environment.probes[0].expected(episode.state)
        text = "\n".join(message.text for message in episode.messages).encode()
        states = {layer: np.frombuffer(b64decode(value), "<f4").tolist() for layer, value in turn["states"].items()}
        assert states == {"0": [0, len(text)], "4": [4 * text[-1], len(text)]}
    probes = script("linear_probe")
    assert len(probes.read_turns(path)) == len(turns)
    header, _, *rows = probes.probe_table(turns).splitlines()
    assert header == "| label | layer 0 | layer 4 |" and any(row.startswith("| distance | ") for row in rows)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--layers", "0,9"], "--layers 9: waybench/null has layers up to 4"),
        (["--layers", "last"], "give numbers of layers"),
        (["--executor", "processes"], "leave --executor out"),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_what_cannot_be_stored_is_refused(command: Command, tmp_path: Path, args: list[str], expected: str) -> None:
    base = [*RUN, "-m", "waybench/null", "--states", tmp_path / "states.jsonl", "--out", tmp_path / "out"]
    assert expected in one_line_error(command("run", *base, *args))


def test_a_model_elsewhere_has_no_states(command: Command, tmp_path: Path) -> None:
    base = [*RUN, "-m", "waybench/null", "--out", tmp_path / "out"]
    assert "does not run in this process" in one_line_error(command("run", *base, "--states", tmp_path / "s.jsonl"))
    assert "--layers" in one_line_error(command("run", *base, "--layers", 3))
