"""Whether what waybench makes of the corpus is what it was, and whether the corpus fills all of its tables."""

import json

import pytest

from tests.net.digests import committed, differences, digests, present
from tests.net.kinds import makers, recorded
from tests.net.outputs import rows

# Functions that make no table or chart of the corpus, each with the reason.
UNFILLED = {
    "_agents.charts": "lists charts that others make",
    "_write.report_matrix": "the leaderboard's, which has tests of its own",
    "_task_pages.charts": "lists charts that others make",
    "_model_pages.charts": "lists charts that others make",
    "_variation.attempt_table": "all attempts of a model at the items of a set have one score here",
    "_variation.reliability_table": "no headline metric of runs with several attempts says success or failure",
}
# Parts of `compare --json` that no comparison of the corpus has, each with the reason.
ABSENT = {"horizons_over_families": "needs horizons of more than one family for both models"}
# Headings of the tables that `run` and `compare` print. Those of item difficulty and of agents beside the bare model
# are missing: no run of the corpus has enough models, or both in one folder. The pages have these tables.
HEADINGS = (
    *("score [95 %]", "in several wordings", "belief probes"),
    *("Horizons:", "Belief probes:", "Excluded:", "Not compared:", "agreement of two forms"),
)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], set[str]]:
    """Return the outputs, and the functions that made tables and charts."""
    made = tmp_path_factory.mktemp("made") / "functions.txt"
    with recorded(made):
        texts = present(tmp_path_factory.mktemp("net"))
    return texts, set(made.read_text(encoding="utf-8").splitlines())


@pytest.mark.slow
def test_outputs_are_those_of_the_committed_digests(net: tuple[dict[str, str], set[str]]) -> None:
    found = list(differences(committed(), digests(net[0])))
    assert not found, "\n".join(["compare the outputs of both versions (python -m tests.net --out FOLDER):", *found])


@pytest.mark.slow
def test_the_corpus_fills_every_frame_and_every_part_of_the_json(net: tuple[dict[str, str], set[str]]) -> None:
    texts, _ = net
    empty = [
        name
        for name, text in texts.items()
        if name.startswith("report/data/") and name.endswith(".csv") and not rows(text)
    ]
    empty += [name for name, text in texts.items() if name.startswith("report/summary/") and not json.loads(text)]
    documents = [json.loads(text) for name, text in texts.items() if name.startswith("compare/")]
    assert not empty
    absent = {key for key in documents[0] if not any(document.get(key) for document in documents)}
    assert absent == ABSENT.keys()


@pytest.mark.slow
def test_the_corpus_fills_every_table_and_every_chart(net: tuple[dict[str, str], set[str]]) -> None:
    texts, made = net
    assert makers() - made == UNFILLED.keys()
    printed = "".join(text for name, text in texts.items() if name.startswith("terminal/"))
    assert [heading for heading in HEADINGS if heading not in printed] == []
