"""Hidden states of models in this process (`hf/`) before each turn, with what is true then."""

import json
from base64 import b64encode
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from anyio import to_thread
from inspect_ai.model import ChatMessage, Model

from waybench.core import Episode, Json, UsageError, is_array

STATES = "waybench_states"  # the attribute of a model's provider that has them
_DEPTHS = 4  # by default the embeddings, a quarter, half and three quarters of the layers, and the last


class HiddenStates:
    """Appends a line of JSON for each request: the hidden states of its last token, and labels.

    Args:
        path: The file. A resumed run appends to it; of several lines for one turn the last counts.
        layers: Numbers of layers, 0 for the embeddings; by default some at equal distances.
    """

    def __init__(self, path: Path, layers: Sequence[int] = ()) -> None:
        self._path, self._layers, self._lock = path, layers, Lock()

    def attach(self, model: Model) -> None:
        """Store the hidden states of a model's requests from now on.

        Raises:
            UsageError: If the model does not run in this process, or has no such layer.
        """
        api: Any = model.api
        if not all(hasattr(api, name) for name in ("hf_chat", "tokenizer", "model")):
            raise UsageError(f"--states: {str(model)[:120]} does not run in this process: give a model of hf/")
        last_layer = int(api.model.config.num_hidden_layers)
        if missing_layers := [layer for layer in self._layers if layer > last_layer]:
            raise UsageError(f"--layers {missing_layers[0]}: {str(model)[:120]} has layers up to {last_layer}")
        setattr(api, STATES, self)

    async def store(self, api: Any, messages: list[ChatMessage], tools: Any, episode: Episode[Any, Any, Any]) -> None:
        """Append the hidden states before the next turn of an episode to the file."""
        line = {
            "model": episode.player,
            "env": episode.environment.id,
            "level": episode.item.level,
            "item": episode.item.instance.hash,
            "attempt": episode.attempt,
            "turn": len(episode.turns),
            "labels": episode_labels(episode),
        }
        await to_thread.run_sync(self._append_line, api, api.hf_chat(messages, tools), line)

    def _append_line(self, api: Any, text: str, line: dict[str, Any]) -> None:
        """Compute the hidden states at the end of a prompt, and append them with the other fields of the line."""
        torch: Any = import_module("torch")
        with self._lock, torch.inference_mode():
            tokens = api.tokenizer(text, return_tensors="pt", **(api.tokenizer_call_args or {}))
            ids = tokens["input_ids"].to(api.model.device)
            states: Sequence[Any] = api.model(input_ids=ids, output_hidden_states=True).hidden_states
            layers = self._layers or sorted({quarter * (len(states) - 1) // _DEPTHS for quarter in range(_DEPTHS + 1)})
            bytes_by_layer = {
                str(layer): states[layer][0, -1].float().cpu().numpy().astype("<f4").tobytes() for layer in layers
            }
            line["states"] = {layer: b64encode(values).decode() for layer, values in bytes_by_layer.items()}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def episode_labels(episode: Episode[Any, Any, Any]) -> dict[str, float]:
    """Return numbers that describe an episode's present state, by name.

    They are the numbers of the environment's belief probes (such as the position), its potentials (such as the share of
    the way, or of the map, that is known), and at the first turn the length of a shortest solution.
    """
    environment, state, values = episode.environment, episode.state, dict[str, float]()
    for belief in episode.beliefs:
        expected: Json = belief.expected(state)
        for index, value in enumerate(expected if is_array(expected) else [expected]):
            if isinstance(value, int | float):
                values[f"{belief.name}.{index}"] = float(value)
    values |= {potential.name: float(potential.of(state)) for potential in environment.players.potentials}
    minimum = episode.item.proof.get("minimum")
    if not episode.turns and isinstance(minimum, int | float):
        values["minimum"] = float(minimum)
    return values
