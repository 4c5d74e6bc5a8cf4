"""A site for tests that open its pages: several models at several tasks, whose names and replies are hostile."""

import json
from dataclasses import replace
from pathlib import Path

import waybench
from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import items, searched
from tests.analysis.test_agents import played as pulled
from waybench.core import Episode, EpisodeRecord, Price, play_to_end, policy
from waybench.reporting import write_report
from waybench.results import LoggedEpisode

STEADY = "vendor/steady"
SCRIPT = "</script><script>window.owned=1</script>"
IMAGE = "vendor/<img src=x onerror=window.owned=1>"
TURNED = "\u202evendor/turned\u202c"  # shown as what it is, or all that follows is written from right to left
MODELS = STEADY, SCRIPT, IMAGE, TURNED
REPLIES = (
    SCRIPT,
    "<img src=x onerror=window.owned=1>",
    "<svg onload=window.owned=1></svg>",
    "[a](javascript:window.owned=1) <a href='javascript:window.owned=1'>b</a>",
    "</pre></section></main><h1>owned</h1><style>*{display:none}</style>",
    "<iframe srcdoc='<script>parent.owned=1</script>'></iframe>",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css><img src=http://127.0.0.1:9/x.png>",
)
PRICES = {STEADY: Price(2.0, 10.0, 1.0), SCRIPT: Price(0.5, 1.5, 0.5)}
FORGED = "0" * 64  # hash of an instance that is none, so that the record does not replay
TITLE = "A site <b>for</b> tests"


def episodes() -> list[LoggedEpisode]:
    """Return the episodes, which are the same each time."""
    return [*_mazes(), *_searches(), *_puzzles(), *_maps(), *_machines()]


def make(out: Path) -> Path:
    """Write the site, and return its folder."""
    write_report(episodes(), out, title=TITLE, prices=PRICES)
    return out


def replays(site: Path, model: str, env: str) -> list[tuple[str, EpisodeRecord]]:
    """Return the pages of a model's episodes at an environment, each with its record, in the order of the episodes."""
    groups = json.loads((site / "summary.json").read_text(encoding="utf-8"))["overall"]
    (page,) = [each["page"] for each in groups if (each["group"]["model"], each["group"]["env"]) == (model, env)]
    records = [each.record for each in episodes() if (each.model, each.record.env) == (model, env)]
    return [(f"replays/{Path(page).stem}-{number}.html", each) for number, each in enumerate(records, start=1)]


def _mazes() -> list[LoggedEpisode]:
    replies = [said(REPLIES[start : start + 3], level=9, number=5 + number) for number, start in enumerate((0, 3, 4))]
    elsewhere = replace(said(["up", "down", "left"], level=5, number=1), instance_hash=FORGED)
    steady = played("noisy-0.1", (5, 7, 9), model=STEADY)
    return [
        *steady,
        steady[0],  # the same attempt again is set aside
        logged(failed(said(["hm", "hm", "hm"], level=9, number=3), "Timeout <b>after</b> 600 s"), STEADY),
        *(logged(said(["hm", "hm", "hm"], level=9, number=number), STEADY) for number in (4, 5)),
        logged(detour(item(9, 7), 4), STEADY),
        *played("noisy-0.3", (5, 7, 9), model=SCRIPT),
        logged(detour(item(9, 4), 2), SCRIPT),
        *(logged(record, SCRIPT) for record in replies),
        *played("random", (5, 7), mazes=4, model=IMAGE),
        logged(elsewhere, TURNED),
        *played("heuristic", (5,), model=TURNED),
        *played("oracle", (5, 7, 9), attempts=1),
        *played("null", (5,), attempts=1),
    ]


def _searches() -> list[LoggedEpisode]:
    hostile = [logged(_said(REPLIES), IMAGE, "guessnum"), logged(failed(_said(["1", "2"])), TURNED, "guessnum")]
    return [
        *searched("bisection", count=4, model=STEADY),
        *searched("linear", count=4, model=SCRIPT),
        *hostile,
        *searched("oracle"),
    ]


def _said(replies: "tuple[str, ...] | list[str]") -> EpisodeRecord:
    episode = Episode(waybench.load("search/guessnum"), items("guessnum")[0])
    for reply in replies:
        if not episode.done:
            episode.step(reply)
    return episode.record()


def _puzzles() -> list[LoggedEpisode]:
    environment = waybench.load("hanoi/rods")
    options = {"wording": "one_question", "protocol": "sound"}
    return [
        LoggedEpisode(model, "hanoi_3", play_to_end(environment, item, policy(player), options).record())
        for player, model in (("noisy-0.1", STEADY), ("random", SCRIPT), ("oracle", "waybench/oracle"))
        for item in environment.source("rods", 3).head(2)
    ]


def _maps() -> list[LoggedEpisode]:
    maps = [corridor(f"m{places}", places, words=200) for places in (3, 5, 6)]
    asked = ((STEADY, "walked"), (TURNED, "constant"), ("waybench/oracle", "oracle"))
    return [episode for model, who in asked for episode in answered(who, maps, "destination", model=model, most=5)]


def _machines() -> list[LoggedEpisode]:
    asked = (("thompson", STEADY), ("random", IMAGE), ("oracle", "waybench/oracle"))
    return [episode for who, model in asked for episode in pulled(who, model, count=2)]
