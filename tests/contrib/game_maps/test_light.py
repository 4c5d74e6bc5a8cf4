"""Importing the package loads neither the interpreter nor what it brings."""

from tests.test_layers import loaded_by


def test_the_interpreter_is_loaded_when_a_game_is() -> None:
    loaded = loaded_by("import waybench.ext.author.game_maps") - loaded_by("import waybench.envs.textmap")
    assert not loaded & {"jericho", "numpy", "scipy", "numba", "spacy", "textworld"}
