"""The site: pages, their templates, and a summary for programs."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from waybench._version import __version__
from waybench.analysis import (
    CONFIDENCE,
    Cluster,
    Estimate,
    Group,
    LoggedEpisode,
    Variables,
    agents,
    as_metric,
    by_level,
    example_changes,
    labels,
    mean_text,
    measure,
    one_line,
    overall,
    pairs,
    regressions,
    repeats,
    rows,
    setting,
    spread,
    variables,
    visible,
)
from waybench.core import UsageError
from waybench.envs import registry
from waybench.report._agents import agent_tables
from waybench.report._aggregates import of_model
from waybench.report._drawn import clusters, prompt
from waybench.report._families import family
from waybench.report._files import slug, write
from waybench.report._format import amount, heading, in_words, interval_text, percent, plural, told
from waybench.report._home import Compared, sections
from waybench.report._model import Episodes, Level, levels
from waybench.report._replay import frames, script, source_of
from waybench.report._simulated import simulate

SUMMARY_SCHEMA = 1
PAGE_NAME = re.compile(r"[a-z0-9-]+\.html")


def write_report(episodes: Iterable[LoggedEpisode], out: Path, *, title: str = "waybench") -> Path:
    """Write a static site of some episodes: a first page, pages of models and of their episodes, a summary.

    Nothing is fetched, and nothing is executed but one script of ours. Every episode is simulated again from its
    record; where the two do not agree, the episode counts in no number, and the pages say so.

    Args:
        episodes: The episodes of any number of runs.
        out: The folder; it is made if need be, and files of the same names are replaced.
        title: The site's title.

    Returns:
        The path of the first page, index.html. Beside it are models/*.html, replays/*.html and summary.json
        (`SUMMARY_SCHEMA`).

    Raises:
        UsageError: If there are no episodes, or the folder cannot be written.
        DataError: If a record lacks what its environment's metrics need.
    """
    listed = list(episodes)
    if not listed:
        raise UsageError("no episodes to report: run a task first, as in `waybench run alicia --model waybench/oracle`")
    again = simulate(listed)
    all_rows = rows(listed, {position for position, simulated in enumerate(again) if simulated.mismatch})
    estimates, totals = by_level(all_rows), overall(all_rows)
    known = variables(all_rows, listed)
    compared = Compared(
        changes=example_changes(all_rows),
        repeats=repeats(all_rows),
        pairs=pairs(all_rows, _paired(total.group.env for total in totals)),
        regressions=regressions(all_rows, known),
    )
    names = labels(total.group for total in totals)
    pages = {group: _page_name(group) for group in names}
    templates = _templates(title)
    written: list[str] = []
    for total in totals:
        group = total.group
        own = [played for played in zip(all_rows, listed, again, strict=True) if played[0].group == group]
        of_group = [estimate for estimate in estimates if estimate.group == group]
        env, words = registry.load(group.env), family(group.env)
        shown = levels(env, words, own, of_group, pages[group])
        page = _model_page(templates, names[group], total, of_group, own, known.get(group, {}), shown)
        write(out / "models" / pages[group], page)
        for name, replay_page in _replay_pages(templates, names[group], total, shown, pages[group]):
            write(out / "replays" / name, replay_page)
            written.append(name)
    played = agents(all_rows)
    home = templates.get_template("index.html").render(
        sections=sections(estimates, totals, compared, pages), agent_tables=agent_tables(played, pages)
    )
    _remove_stale(out, set(pages.values()), set(written))
    more = {
        "changes": [each.to_json() for each in compared.changes],
        "spreads": [each.to_json() for each in spread(estimates)],
        "repeats": [each.to_json() for each in compared.repeats],
        # There are many pairs, so models are told by their pages, as in "overall".
        "pairs": [
            {**each.to_json(), "first": f"models/{pages[each.first]}", "second": f"models/{pages[each.second]}"}
            for each in compared.pairs
        ],
        "agents": [each.to_json() for each in played],
        "regressions": [each.to_json() for each in compared.regressions],
    }
    write(out / "summary.json", _summary(title, estimates, totals, pages, more))
    write(out / "index.html", home)
    return out / "index.html"


def _paired(envs: Iterable[str]) -> list[str]:
    tables = (table for env in envs for table in family(env).pairs.values())
    return list(dict.fromkeys(name for names in tables for name in names))


def _model_page(
    templates: Templates,
    name: str,
    total: Estimate,
    estimates: Sequence[Estimate],
    own: Episodes,
    known: Mapping[Cluster, Variables],
    shown: Sequence[Level],
) -> str:
    group = total.group
    env, words = registry.load(group.env), family(group.env)
    parts = [metric for one in env.aggregates for metric in one.metrics]  # which have a table of their own
    anchors = {batch.cluster: batch.anchor for level in shown for batch in level.batches if batch.cluster}
    return templates.get_template("model.html").render(
        name=name,
        group=group,
        settings=[setting(option, value) for option, value in group.settings.items()],
        env=env,
        family=words,
        measured=measure(env, total.guided),
        series=[as_metric(series) for series in env.series],
        total=total,
        aggregates=of_model(env, words, [*estimates, total] if env.pooled and len(estimates) > 1 else estimates),
        listed=[metric for metric in env.metrics if total.guided or metric not in parts],
        prompt=prompt(total, words),
        live=env.live is not None and any(env.live(episode.record) for _, episode, _ in own),
        clusters=clusters(env, words, [row for row, _, _ in own], known, anchors),
        levels=shown,
    )


def _replay_pages(
    templates: Templates, name: str, total: Estimate, shown: Sequence[Level], page: str
) -> Iterator[tuple[str, str]]:
    """Yield file names and pages of the episodes that can be followed."""
    group = total.group
    env, words = registry.load(group.env), family(group.env)
    draw, code = words.frame(), script()
    cards = [(batch, card) for level in shown for batch in level.batches for card in batch.cards]
    for batch, card in cards:
        for attempt in (each for each in card.attempts if each.replay):
            assert draw is not None
            assert attempt.again.instance is not None
            said = {who: [each for each in attempt.conversation if each.who == who] for who in ("reply", "answer")}
            yield (
                attempt.replay,
                templates.get_template("replay.html").render(
                    name=name,
                    group=group,
                    page=page,
                    env=env,
                    family=words,
                    measured=measure(env, total.guided),
                    card=card,
                    attempt=attempt,
                    prompt=[*batch.opening, *card.prompt],
                    exchanges=list(zip(said["reply"], said["answer"], strict=True)),
                    frames=frames(draw, attempt.again.instance, attempt.again.turns),
                    script=code,
                    script_source=source_of(code),
                ),
            )


def _page_name(group: Group) -> str:
    identity = json.dumps([group.env, group.model, group.settings], sort_keys=True)
    return f"{slug(f'{group.model}-{group.task}', identity)}.html"


def _anchor(env_id: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", env_id)


def _remove_stale(out: Path, pages: Collection[str], replays: Collection[str]) -> None:
    """Remove pages of an earlier report in the same folder, by its own list of them, that this one has not."""
    try:
        before = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        listed = {str(total["page"]) for total in before["overall"]}
    except (OSError, ValueError, KeyError, TypeError):
        return
    names = {name for page in listed if PAGE_NAME.fullmatch(name := page.removeprefix("models/"))}
    old = [out / "models" / name for name in names - set(pages)]
    for path in (out / "replays").glob("*.html"):
        if f"{path.stem.rpartition('-')[0]}.html" in names and path.name not in replays:
            old.append(path)
    for path in old:
        with suppress(OSError):
            path.unlink()


def _templates(title: str) -> Templates:
    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    # Every value that a template prints goes through `shown` and is then escaped; only Markup, which is made in
    # _svg.py and of drawings, is not.
    templates = Templates(
        loader=PackageLoader("waybench.report", "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    values, filters = cast(dict[str, Any], templates.globals), cast(dict[str, Any], templates.filters)
    values |= {"site": one_line(title, 80), "version": __version__, "confidence": f"{100 * CONFIDENCE:.0f}"}
    for function in (amount, heading, in_words, one_line, percent, plural, told):
        filters[function.__name__] = function
    filters |= {"interval": interval_text, "mean": mean_text, "anchor": _anchor}
    return templates


def _summary(
    title: str,
    estimates: Sequence[Estimate],
    totals: Sequence[Estimate],
    pages: Mapping[Group, str],
    more: Mapping[str, Any],
) -> str:
    def listed(some: Sequence[Estimate]) -> list[dict[str, Any]]:
        return [{**estimate.to_json(), "page": f"models/{pages[estimate.group]}"} for estimate in some]

    summary = {
        "schema": SUMMARY_SCHEMA,
        "waybench": __version__,
        "title": title,
        "confidence": CONFIDENCE,
        "levels": listed(estimates),
        "overall": listed(totals),
        **more,
    }
    return json.dumps(summary, indent=1, allow_nan=False) + "\n"
