"""Replays of searches, slot machines and matches, as they are on the report's pages."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import waybench
from tests.report.pages import Page
from tests.report.test_frames import drawings
from waybench.core import Episode, policy
from waybench.reporting import write_report
from waybench.reporting._format import presentation_of
from waybench.results import LoggedEpisode

HOSTILE = '7"/></svg></script><script>alert(1)</script>'
ENVS = ("search/guessnum", "search/cavedfs", "search/bfs", "bandit/arms", "rps/rounds")


def played(env: str) -> Any:
    """Return an episode with a hostile reply now and then."""
    environment = waybench.load(env)
    done: Episode[Any, Any, Any] = Episode(
        environment, environment.source("replays", environment.items.sample_levels[0]).item(0)
    )
    while not done.done:
        reply = policy("random").reply(done)
        done.step(f"{HOSTILE} {reply}" if len(done.turns) % 3 == 2 else reply)
    return done


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a report on an episode of each environment."""
    out = tmp_path_factory.mktemp("site")
    write_report([LoggedEpisode("m", env, played(env).record()) for env in ENVS], out)
    return out


@pytest.mark.parametrize("env", ENVS)
def test_nothing_moves_and_nothing_is_said_in_a_replay(site: Path, env: str) -> None:
    (path,) = (site / "replays").glob(f"*{env.replace('/', '-')}*")
    page = Page(path.read_text(encoding="utf-8"))
    assert page.problems == []
    made = drawings(page.scripts[0])
    assert len(made) == len(played(env).turns) + 1
    roots = [ElementTree.fromstring(each) for each in made]
    assert len({root.get("viewBox") for root in roots}) == 1
    assert len({root.get("aria-label") for root in roots}) > 2
    assert not any("alert" in each or "script" in each for each in made)
    assert all('reference"' in each for each in made[1:])
    assert [each["id"] for each in page.all("input") if "checked" in each] == ["show-reference"]
    assert presentation_of(env).legend in page.text


def test_searches_are_drawn_by_what_is_searched() -> None:
    for name, told in (("guessnum", "A number"), ("dfs", "Depth-first"), ("bfs", "Breadth-first")):
        for env in (f"search/{name}", f"search/{'coin' if name == 'guessnum' else f'cave{name}'}"):
            draw = presentation_of(env).draw
            assert draw is not None
            environment = waybench.load(env)
            svg = draw(environment.source("replays", environment.items.sample_levels[0]).item(0).instance, ())
            assert ElementTree.fromstring(svg).get("aria-label", "").startswith(told)
            assert presentation_of(env).title == presentation_of("search/dfs").title
