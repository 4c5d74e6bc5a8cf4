"""An address that the environment gives is in the log like one that the user gave, so that servers are told apart."""

import pytest

from waybench.evaluation._engine import open_model


def test_the_address_of_the_environment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("LOCAL_BASE_URL", "http://127.0.0.1:9/v1")
    assert open_model("openai-api/local/m", None, {}).explicit_base_url == "http://127.0.0.1:9/v1"
    given = "http://127.0.0.1:10/v1"
    assert open_model("openai-api/local/m", given, {}).explicit_base_url == given


def test_embedded_players_have_no_server() -> None:
    assert open_model("waybench/null", None, {}).explicit_base_url is None
