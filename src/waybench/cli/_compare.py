"""`waybench compare`: whether two models differ, at the same items; `waybench profile`: one ability of each model."""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from waybench.cli._options import DEFAULT_OUT, FiniteRange, LogPlace, argument, log_places, option, with_parameters
from waybench.cli._output import lines, tell_skipped
from waybench.core import UsageError, unknown
from waybench.data import cache_dir
from waybench.ext.scale import is_url, local_copy

if TYPE_CHECKING:
    from waybench.results import Row
    from waybench.results.comparisons import ItemScores

_EXAMPLES = """\b
waybench compare openai/gpt-4o claude-sonnet-4            two models of waybench-out
waybench compare gpt-4o gpt-4o-mini --in monday --in tuesday
waybench compare before after                             each model in both folders, against itself
waybench compare before/gpt-4o after/gpt-4o               one model, before and after a change
waybench compare ada.jsonl openai/gpt-4o                  a person and a model
waybench compare null random --metric solved --json -     shares of solved items, as JSON
waybench compare waybench-out --twins                     each model at coin and guessnum, at cavedfs and dfs
waybench compare waybench-out --isomorphs                 each model at items and at isomorphic ones (-T isomorph=1)
waybench compare waybench-out --wordings                  each model in several wordings, such as text and pictures"""


class Side(NamedTuple):
    """One of the two things to compare.

    Attributes:
        folders: Where its logs are.
        model: The model's name, or the end of it; "" for all models.
    """

    folders: tuple[Path, ...]
    model: str


@click.command(epilog=_EXAMPLES)
@with_parameters
def compare(
    a: str = argument("A"),
    b: str | None = argument("[B]"),
    folders: tuple[Path, ...] = option(
        f"Folder in which to look up model names; repeatable.  [default: {DEFAULT_OUT}]",
        "--in",
        type=LogPlace(),
        metavar="DIR|URL",
    ),
    tasks: tuple[str, ...] = option("Compare on this task only; repeatable.", "--task", metavar="NAME"),
    metric: str = option(
        "Metric to compare, or `solved`; by default each task's headline metric.", default="", metavar="NAME"
    ),
    margin: float = option(
        "Differences below this share of the metric's range count as a tie.",
        type=FiniteRange(0, 1, min_open=True),
        default=0.05,
    ),
    twins: bool = option("Compare tasks with their embodied twins on the same items, each model of A with itself."),
    isomorphs: bool = option(
        "Compare original items with isomorphic ones (-T isomorph=N), each model of A with itself."
    ),
    wordings: bool = option("Compare wordings of the same items with the default one, each model of A with itself."),
    out: str | None = option("Write JSON to a file (- for standard output).", "--json", metavar="FILE"),
) -> None:
    """Compare A and B on the same items, with paired tests.

    A and B are folders of logs, files of records from `waybench play --record`, or models. A folder or a file stands
    for all models and people in it. FOLDER/MODEL is one model in that folder. Anything else is the name of a model,
    with or without its provider, or of a person (human/Ada), in the folders and files given with --in.
    The logs of other Inspect tasks work too: each of their scores is compared, sample by sample.

    For each task, the output shows both means for a single attempt; their difference with its 95 % interval; a
    test (McNemar's exact test for solved or not, otherwise a test that belongs to the interval, clustered by map
    where maps are shared); the p value, adjusted by Holm's procedure over all tasks; and the verdict: A or B is
    better, they are tied, or no difference is shown. Infrastructure errors are excluded and counted.

    Where both sides were asked what they know (--probe), the shares of right answers are compared likewise, by item.

    Where both sides have a 50 % horizon, the output shows their ratio with its 90 % interval. Searches for horizons
    (horizon_ tasks) are compared by it alone, since they choose their items by their results.
    """
    from waybench.results import compare_sides
    from waybench.results.comparisons import compare_beliefs, comparisons_json, comparisons_text
    from waybench.results.horizons import compare_horizons, ratio_over_families

    given = [name for name, is_given in zip(_PAIRINGS, (twins, isomorphs, wordings), strict=True) if is_given]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} compare different things: give one of them")
    if given:
        name = given[0]
        if b is not None:
            raise UsageError(f"{name} compares each model of {a!r} with itself: leave {b!r} out")
        _compare_with_themselves(_PAIRINGS[name], _side(a, folders or (DEFAULT_OUT,)), tasks, metric, margin, out)
        return
    if b is None:
        raise UsageError("give B: another folder or model, or --twins, --isomorphs or --wordings")
    first, second = _sides(a, b, folders or (DEFAULT_OUT,))
    results = {some: _read_results(some, metric) for some in dict.fromkeys((first.folders, second.folders))}
    known = {some: scores for some, (scores, _) in results.items()}
    names = {
        some: [*(one.model for one in scores), *(row.group.model for row in own)]
        for some, (scores, own) in results.items()
    }
    models = [_model(side, names[side.folders]) for side in (first, second)]
    same = UsageError(f"A and B are the same, {a!r} and {b!r}: give two models or two folders")
    if (first.folders, models[0]) == (second.folders, models[1]):
        raise same
    scores = [
        [one for one in known[side.folders] if model in ("", one.model) and _chosen(one.task, tasks)]
        for side, model in zip((first, second), models, strict=True)
    ]
    found, left = compare_sides(scores[0], scores[1], margin)
    rows = [
        [row for row in results[side.folders][1] if model in ("", row.group.model) and _chosen(row.group.task, tasks)]
        for side, model in zip((first, second), models, strict=True)
    ]
    ratios, beliefs = compare_horizons(rows[0], rows[1]), compare_beliefs(rows[0], rows[1])
    is_one_pair = len({(one.first.model, one.second.model) for one in ratios}) == 1
    over_families = ratio_over_families(ratios) if is_one_pair else None
    if not found and not ratios:
        raise UsageError(
            _nothing(left[0].why if left else "", [one.task for some in known.values() for one in some], tasks)
        )
    if any(one.first.model == one.second.model and one.first.logs & one.second.logs for one in found):
        raise same
    if out is not None:
        horizons = {
            "horizons": [one.to_json() for one in ratios],
            "horizons_over_families": None if over_families is None else over_families.to_json(),
        }
        known_states = {"beliefs": [one.to_json() for one in beliefs]}
        document = {"a": a, "b": b, **comparisons_json(found, left, margin), **horizons, **known_states}
        with lines(out) as write:
            write(json.dumps(document, allow_nan=False))
    if out != "-":
        places = ("", "") if first.folders == second.folders else (_place(first), _place(second))
        texts = [one.text for one in ratios if one.is_bounded] + ([] if over_families is None else [over_families.text])
        horizon_lines = "\n".join(["Horizons:", *(f"  {text}" for text in texts)]) if texts else ""
        belief_lines = "\n".join(["Belief probes:", *(f"  {one.text}" for one in beliefs)]) if beliefs else ""
        blocks = comparisons_text(found, left, margin, places), horizon_lines, belief_lines
        click.echo("\n\n".join(block for block in blocks if block))


class _Pairing(NamedTuple):
    """How models are compared with themselves."""

    compare: str  # the name of a function in `waybench.results.comparisons`
    origins: tuple[str, str]  # what the two sides are
    why: str  # why there may be nothing to compare


_PAIRINGS = {
    "--twins": _Pairing(
        "compare_twins",
        ("the task that is named first", "the other"),
        "no model was given the same items at a task and at its twin",
    ),
    "--isomorphs": _Pairing(
        "compare_isomorphs",
        ("original items", "isomorphic items"),
        "no model was given the same items in two appearances (run a task again with -T isomorph=1)",
    ),
    "--wordings": _Pairing(
        "compare_wordings",
        ("the wording that is named first", "the other"),
        "no model was given the same items in two wordings (run a task with --each wording=...)",
    ),
}


def _compare_with_themselves(
    pairing: _Pairing, side: Side, tasks: tuple[str, ...], metric: str, margin: float, out: str | None
) -> None:
    """Write the comparisons of a side's models with themselves.

    Raises:
        UsageError: If there are none; it says why.
    """
    from waybench.results import comparisons as library

    scores = read_scores(side.folders, metric)
    model = _model(side, (score.model for score in scores))
    compare_all: Callable[..., list[Any]] = getattr(library, pairing.compare)
    scores_of_model = [score for score in scores if model in ("", score.model)]
    effects = compare_all(scores_of_model, margin, partial(_chosen, tasks=tasks))
    if not effects:
        raise UsageError(_nothing(pairing.why, [score.task for score in scores], tasks))
    comparisons = [getattr(effect, "comparison", effect) for effect in effects]
    if out is not None:
        document: dict[str, Any] = {
            "a": side.model or _place(side),
            **library.comparisons_json(comparisons, [], margin),
        }
        for comparison, effect in zip(document["comparisons"], effects, strict=True):
            comparison |= getattr(effect, "more", {})
        with lines(out) as write:
            write(json.dumps(document, allow_nan=False))
    if out != "-":
        invariance = library.invariance_text(effects) if pairing.compare == "compare_isomorphs" else ""
        blocks = library.comparisons_text(comparisons, [], margin, pairing.origins), invariance
        click.echo("\n\n".join(block for block in blocks if block))


def _sides(a: str, b: str, folders: tuple[Path, ...]) -> tuple[Side, Side]:
    first, second = (_side(text, folders) for text in (a, b))
    return first, second


def _side(text: str, folders: tuple[Path, ...]) -> Side:
    """Read what A or B says: a folder, a file of records, a folder with logs and a model in it, or a model.

    Raises:
        UsageError: If it is no folder, and there are none to look for a model in.
    """
    if is_url(text):
        return Side((local_copy(text, cache_dir()),), "")
    path = Path(text)
    if os.path.isdir(path) or os.path.isfile(path):  # False also for a name that is too long to be one
        return Side((path.resolve(),), "")
    # Models' names have slashes, too, and no other folder than one with logs is searched for them.
    for parent in path.parents:
        if next(parent.glob("*.eval"), None) and parent != Path():
            return Side((parent.resolve(),), path.relative_to(parent).as_posix())
    for folder in folders:
        if not os.path.isdir(folder) and not os.path.isfile(folder):
            raise UsageError(
                f"{text!r} is not a folder, and there is no folder {str(folder)!r} in which to look it up as a model: "
                "give a folder of logs with --in"
            )
    return Side(tuple(folder.resolve() for folder in folders), text)


def _place(side: Side) -> str:
    here = Path.cwd()
    return ", ".join(str(path.relative_to(here) if path.is_relative_to(here) else path) for path in side.folders)


def read_scores(folders: tuple[Path, ...], metric: str) -> "list[ItemScores]":
    """Read the scores of models at our tasks and at others.

    Raises:
        UsageError: If there is nothing.
    """
    return _read_results(folders, metric)[0]


def _read_results(folders: tuple[Path, ...], metric: str) -> "tuple[list[ItemScores], list[Row]]":
    """Read the scores of models at our tasks and at others, and the rows of our tasks.

    Raises:
        UsageError: If there is nothing.
    """
    from waybench.results import read_logs, rows
    from waybench.results.comparisons import foreign_scores, item_scores
    from waybench.results.logs import NoEpisodesError, Skipped
    from waybench.results.results import fixed

    reported: set[Skipped] = set()

    def tell(problem: Skipped) -> None:
        if problem not in reported:  # by the other reader
            reported.add(problem)
            click.echo(f"waybench: {problem}", err=True)

    others = foreign_scores(*folders, on_problem=tell)
    try:
        own = rows(read_logs(*folders, on_problem=tell), on_problem=tell, confirm=True)
    except NoEpisodesError:
        own = []
    theirs = [one for one in others if metric in ("", one.metric.name)]
    # Two searches for horizons share items by chance: they are compared by their horizons alone.
    paired = fixed(own)
    ours = item_scores(paired, metric, needed=len(paired) == len(own) and not theirs) if paired else []
    if ours or theirs or len(paired) < len(own):
        return [*ours, *theirs], own
    if others:
        raise UsageError(unknown("metric", metric, {one.metric.name for one in others}))
    where = ", ".join(map(str, folders))
    raise UsageError(f"no scores in {where}: give a folder with logs from `waybench run` or another Inspect task")


def _model(side: Side, names: Iterable[str]) -> str:
    """Return the full name of a side's model; "" for all of them.

    Raises:
        UsageError: If there is none, or several fit.
    """
    if not side.model:
        return ""
    models = list(dict.fromkeys(names))
    if side.model in models:
        return side.model
    fit = [model for model in models if model.endswith(f"/{side.model}")]
    if len(fit) > 1:
        raise UsageError(f"{side.model!r} is ambiguous: give one of {', '.join(sorted(fit))}")
    if not fit:
        raise UsageError(unknown("folder or model", side.model, models))
    return fit[0]


def _chosen(task: str, tasks: tuple[str, ...]) -> bool:
    return not tasks or task in tasks or task.rpartition("/")[2] in tasks


def _nothing(why: str, known: list[str], tasks: tuple[str, ...]) -> str:
    if wrong := [task for task in tasks if not any(_chosen(each, (task,)) for each in known)]:
        return unknown("task", wrong[0], set(known))
    return f"nothing to compare: {why or 'there are no scores'}; run both with the same tasks, items and options"


_PROFILE_EXAMPLES = """\b
waybench profile waybench-out
waybench profile waybench-out --json -
waybench profile waybench-out --references        with the embedded players, as for a demonstration"""


@click.command(epilog=_PROFILE_EXAMPLES)
@with_parameters
def profile(
    folders: tuple[Path, ...] = log_places("DIR|URL|FILE"),
    references: bool = option("Count the embedded players as models."),
    out: str | None = option("Write JSON to a file (- for standard output).", "--json", metavar="FILE"),
) -> None:
    """Estimate each model's general ability from all runs in some folders, and predict scores of missing families.

    A joint model of all models and families (item response theory) has an ability of each model, which consists of a
    general ability and a deviation in each family, and a difficulty of each item. All models need not have run the
    same families or items. Where a model was not run on a family, the output shows in square brackets what score to
    expect, with a 90 % interval; predictions are never part of a mean or of a report. At least two models and two
    families with normalised scores are needed; with a handful of models, intervals are wide.
    """
    from waybench.results import read_logs
    from waybench.results.estimates import profiles, profiles_text
    from waybench.results.logs import Skipped
    from waybench.results.results import anchored, measurable

    skipped: list[Skipped] = []
    measured, rows = measurable(read_logs(*folders, on_problem=skipped.append), on_problem=skipped.append, confirm=True)
    rows = anchored((episode.record for episode in measured), rows)
    tell_skipped(skipped)
    ability = profiles(rows, references=references)
    if out is not None:
        with lines(out) as write:
            write(json.dumps(ability.to_json(), allow_nan=False))
    if out != "-":
        click.echo(profiles_text(ability, shutil.get_terminal_size().columns))
