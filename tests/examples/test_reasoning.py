"""The ablation of docs/howto/reasoning.md: a model that needs its reasoning of earlier turns, with and without it."""

import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.eval.play import MODEL, records, waybench_
from tests.examples.test_finetune import script


@pytest.mark.slow
def test_reasoning_that_is_sent_back_wins_and_dropped_reasoning_loses(tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), script("server", "reasoning").Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    run = ("run", "guessnum", "-T", "protocol=sound", "--limit", "12", "--model", MODEL, "--model-base-url", address)
    try:
        for name, more in (("kept", ()), ("dropped", ("-G", "reasoning_history=none"))):
            done = waybench_(*run, "--no-check", *more, "--out", str(tmp_path / name))
            assert done.returncode == 0, done.stderr
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    kept, dropped = records(tmp_path / "kept").values(), records(tmp_path / "dropped").values()
    assert len(kept) == len(dropped) == 12
    assert {(str(record.end), record.reasoning_returned, record.reasoning_sent_back) for record in kept} == {
        ("solved", "text", "all")
    }
    assert {(str(record.end), record.reasoning_returned, record.reasoning_sent_back) for record in dropped} == {
        ("turn_limit", "text", "none")
    }
    compared = waybench_("compare", str(tmp_path / "kept"), str(tmp_path / "dropped"), "--metric", "solved")
    assert f"{MODEL} in A is better than {MODEL} in B" in compared.stdout
    assert "A with reasoning history: default.\n  B with reasoning history: none." in compared.stdout
    assert "Reasoning of earlier turns that was sent back: A all, B none." in compared.stdout
