"""Whether what waybench makes of the corpus is what it was."""


import pytest

from tests.net.digests import committed, differences, digests, present


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return present(tmp_path_factory.mktemp("net"))


@pytest.mark.slow
def test_outputs_are_those_of_the_committed_digests(texts: dict[str, str]) -> None:
    found = list(differences(committed(), digests(texts)))
    assert not found, "\n".join(["compare the outputs of both versions (python -m tests.net --out FOLDER):", *found])
