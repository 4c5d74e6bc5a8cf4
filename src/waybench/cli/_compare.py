"""`waybench compare` and `waybench profile`: differences and abilities of models."""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from waybench.cli._options import (
    DEFAULT_OUT,
    JSON_FILE,
    FiniteRange,
    LogPlace,
    argument,
    log_places,
    option,
    with_parameters,
)
from waybench.cli._output import tell_skipped, write_json
from waybench.core import LANGUAGE, UsageError, unknown_name_message
from waybench.data import cache_dir
from waybench.ext.scale import is_url
from waybench.ext.scale._folders import local_copy

if TYPE_CHECKING:
    from waybench.core import Price
    from waybench.results import Row
    from waybench.results.comparisons import ItemScores
    from waybench.results.comparisons._comparison import Comparison


_EXAMPLES = """\b
waybench compare openai/gpt-4o claude-sonnet-4            two models of waybench-out
waybench compare gpt-4o gpt-4o-mini --in monday --in tuesday
waybench compare before after                             each model in both folders, against itself
waybench compare before/gpt-4o after/gpt-4o               one model, before and after a change
waybench compare ada.jsonl openai/gpt-4o                  a person and a model
waybench compare null random --metric solved --json -     shares of solved items, as JSON
waybench compare waybench-out --twins                     each model at coin and guessnum, at cavedfs and dfs
waybench compare waybench-out --isomorphs                 each model at items and at isomorphic ones (-T isomorph=1)
waybench compare waybench-out --wordings                  each model in several wordings, such as text and pictures
waybench compare waybench-out --language                  each model in several languages (-T language=es)"""


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
    language: bool = option("Compare languages of the same items with English, each model of A with itself."),
    out: str | None = JSON_FILE,
) -> None:
    """Compare A and B on the same items, with paired tests.

    A and B are folders of logs, files of records from `waybench play --record`, or models. A folder or a file stands
    for all models and people in it. FOLDER/MODEL is one model in that folder. Anything else is the name of a model,
    with or without its provider, or of a person (human/Ada), in the folders and files given with --in.
    The logs of other Inspect tasks work too: each of their scores is compared, sample by sample.

    For each task, the output shows both means for a single attempt; their difference with its 95 % interval; a
    test (McNemar's test with the mid-p value for solved or not, otherwise a test that belongs to the interval,
    clustered by map where maps are shared); the p value, adjusted by Holm's procedure over all tasks that can show a
    difference; and the verdict: A or B is better, they are tied, no difference is shown, or there are too few items
    to tell. Infrastructure errors are excluded and counted.

    Where normalised scores are known, a table of pairs of models has the difference over all tasks of both, from which
    a report reads its ranks.

    Where both sides were asked what they know (--probe), the shares of right answers are compared likewise, by item.

    Where both sides have a 50 % horizon, the output shows their ratio with its 90 % interval. Searches for horizons
    (horizon_ tasks) are compared by it alone, since they choose their items by their results.
    """
    from waybench.results.comparisons._beliefs import compare_beliefs
    from waybench.results.comparisons._models import compare_sides
    from waybench.results.comparisons._text import comparisons_json, comparisons_text
    from waybench.results.estimates._model_pairs import compare_models, model_pairs_text
    from waybench.results.horizons._text import compare_horizons, ratio_over_families

    flags = zip(_PAIRINGS, (twins, isomorphs, wordings, language), strict=True)
    pairings = [name for name, is_given in flags if is_given]
    if len(pairings) > 1:
        raise UsageError(f"{pairings[0]} and {pairings[1]} compare different things: give one of them")
    folders = folders or (DEFAULT_OUT,)
    if pairings:
        if b is not None:
            raise UsageError(f"{pairings[0]} compares each model of {a!r} with itself: leave {b!r} out")
        _compare_with_themselves(pairings[0], _side(a, folders), tasks, metric, margin, out)
        return
    if b is None:
        raise UsageError("give B: another folder or model, or --twins, --isomorphs, --wordings or --language")
    sides = _side(a, folders), _side(b, folders)
    results = {side.folders: read_results(side.folders, metric, with_bounds=not metric) for side in sides}
    models = [
        _model(side, [*(score.model for score in scores), *(row.group.model for row in rows)])
        for side in sides
        for scores, rows in [results[side.folders]]
    ]
    same = UsageError(f"A and B are the same, {a!r} and {b!r}: give two models or two folders")
    if (sides[0].folders, models[0]) == (sides[1].folders, models[1]):
        raise same
    scores = [
        [score for score in scores if model in ("", score.model) and _is_chosen(score.task, tasks)]
        for scores, model in zip((results[side.folders][0] for side in sides), models, strict=True)
    ]
    rows = [
        [
            row
            for row in results[side.folders][1]
            if model in ("", row.group.model) and _is_chosen(row.group.task, tasks)
        ]
        for side, model in zip(sides, models, strict=True)
    ]
    comparisons, missing = compare_sides(scores[0], scores[1], margin)
    model_pairs = [] if metric else compare_models(rows[0], rows[1], _model_names(comparisons))
    ratios, beliefs = compare_horizons(rows[0], rows[1]), compare_beliefs(rows[0], rows[1])
    is_one_pair = len({(ratio.first.model, ratio.second.model) for ratio in ratios}) == 1
    over_families = ratio_over_families(ratios) if is_one_pair else None
    if not comparisons and not ratios:
        known_tasks = [score.task for scores, _ in results.values() for score in scores]
        raise UsageError(_nothing_message(missing[0].why if missing else "", known_tasks, tasks))
    if any(pair.first.model == pair.second.model and pair.first.logs & pair.second.logs for pair in comparisons):
        raise same
    if out is not None:
        document = {
            "a": a,
            "b": b,
            **comparisons_json(comparisons, missing, margin),
            "horizons": [ratio.to_json() for ratio in ratios],
            "horizons_over_families": None if over_families is None else over_families.to_json(),
            "beliefs": [belief.to_json() for belief in beliefs],
            "model_pairs": [pair.to_json() for pair in model_pairs],
        }
        write_json(out, document)
    if out != "-":
        origins = ("", "") if sides[0].folders == sides[1].folders else (_location(sides[0]), _location(sides[1]))
        texts = [ratio.text for ratio in ratios if ratio.is_bounded]
        texts += [] if over_families is None else [over_families.text]
        _print_blocks(
            comparisons_text(comparisons, missing, margin, origins),
            model_pairs_text([pair for pair in model_pairs if pair.paired]),
            "\n".join(["Horizons:", *(f"  {text}" for text in texts)]) if texts else "",
            "\n".join(["Belief probes:", *(f"  {belief.text}" for belief in beliefs)]) if beliefs else "",
        )


def _print_blocks(*blocks: str) -> None:
    click.echo("\n\n".join(block for block in blocks if block))


class _Pairing(NamedTuple):
    """How models are compared with themselves."""

    origins: tuple[str, str]  # what the two sides are
    why: str  # why there may be nothing to compare


_PAIRINGS = {
    "--twins": _Pairing(
        ("the task that is named first", "the other"),
        "no model was given the same items at a task and at its twin",
    ),
    "--isomorphs": _Pairing(
        ("original items", "isomorphic items"),
        "no model was given the same items in two appearances (run a task again with -T isomorph=1)",
    ),
    "--wordings": _Pairing(
        ("the wording that is named first", "the other"),
        "no model was given the same items in two wordings (run a task with --each wording=...)",
    ),
    "--language": _Pairing(
        ("the language that is named first", "the other"),
        "no model was given the same items in two languages (run a task with --each language=en,es)",
    ),
}


def _compare_with_themselves(
    flag: str, side: Side, tasks: tuple[str, ...], metric: str, margin: float, out: str | None
) -> None:
    """Write the comparisons of a side's models with themselves."""
    from waybench.results.comparisons._isomorphs import compare_isomorphs, compare_twins, invariance_text
    from waybench.results.comparisons._prompts import compare_presentations
    from waybench.results.comparisons._text import comparisons_json, comparisons_text

    pairing = _PAIRINGS[flag]
    scores, _ = read_results(side.folders, metric)
    model = _model(side, (score.model for score in scores))
    functions: dict[str, Callable[..., list[Any]]] = {
        "--twins": compare_twins,
        "--isomorphs": compare_isomorphs,
        "--wordings": compare_presentations,
        "--language": partial(compare_presentations, option=LANGUAGE),
    }
    scores_of_model = [score for score in scores if model in ("", score.model)]
    effects = functions[flag](scores_of_model, margin, partial(_is_chosen, tasks=tasks))
    if not effects:
        raise UsageError(_nothing_message(pairing.why, [score.task for score in scores], tasks))
    comparisons = [getattr(effect, "comparison", effect) for effect in effects]
    if out is not None:
        document: dict[str, Any] = {
            "a": side.model or _location(side),
            **comparisons_json(comparisons, [], margin),
        }
        for comparison, effect in zip(document["comparisons"], effects, strict=True):
            comparison |= getattr(effect, "more", {})
        write_json(out, document)
    if out != "-":
        invariance = invariance_text(effects) if flag == "--isomorphs" else ""
        _print_blocks(comparisons_text(comparisons, [], margin, pairing.origins), invariance)


def _side(text: str, folders: tuple[Path, ...]) -> Side:
    """Read what A or B says: a folder, a file of records, a folder with logs and a model in it, or a model."""
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


def _location(side: Side) -> str:
    here = Path.cwd()
    return ", ".join(str(path.relative_to(here) if path.is_relative_to(here) else path) for path in side.folders)


def _model_names(comparisons: "Iterable[Comparison]") -> list[tuple[str, str]]:
    """Return the names of the models that are compared at some task of ours, in pairs."""
    return list(dict.fromkeys((pair.first.model, pair.second.model) for pair in comparisons if pair.first.group))


def read_results(
    folders: tuple[Path, ...],
    metric: str,
    prices: "Mapping[str, Price] | None" = None,
    *,
    with_bounds: bool = False,
) -> "tuple[list[ItemScores], list[Row]]":
    """Read the scores of models at our tasks and at others, and the rows of our tasks.

    Args:
        folders: Folders of logs, and files of records.
        metric: Name of the metric; "" for each task's headline metric.
        prices: Model -> what its tokens cost, as far as that is known.
        with_bounds: Whether the rows have the floors and the ceilings of their items, for normalised scores.

    Raises:
        UsageError: If there are no scores, or none by this metric.
    """
    from waybench.results import read_logs
    from waybench.results.comparisons import item_scores
    from waybench.results.comparisons._models import foreign_scores
    from waybench.results.logs import Skipped
    from waybench.results.logs._logs import NoEpisodesError
    from waybench.results.results import measurable, without_searches
    from waybench.results.results._anchors import with_reference_bounds

    reported: set[Skipped] = set()

    def tell(problem: Skipped) -> None:
        if problem not in reported:  # by the other reader
            reported.add(problem)
            click.echo(f"waybench: {problem}", err=True)

    foreign = foreign_scores(*folders, on_problem=tell)
    try:
        episodes = read_logs(*folders, on_problem=tell)
        measured, all_rows = measurable(episodes, prices=prices, on_problem=tell, confirm=True)
        if with_bounds:
            all_rows = with_reference_bounds((episode.record for episode in measured), all_rows)
    except NoEpisodesError:
        all_rows = []
    scores = [score for score in foreign if metric in ("", score.metric.name)]
    # Two searches for horizons share items by chance: they are compared by their horizons alone.
    paired = without_searches(all_rows)
    if paired:
        scores = [*item_scores(paired, metric, needed=len(paired) == len(all_rows) and not scores), *scores]
    if scores or len(paired) < len(all_rows):
        return scores, all_rows
    if foreign:
        raise UsageError(unknown_name_message("metric", metric, {score.metric.name for score in foreign}))
    where = ", ".join(map(str, folders))
    raise UsageError(f"no scores in {where}: give a folder with logs from `waybench run` or another Inspect task")


def _model(side: Side, names: Iterable[str]) -> str:
    """Return the full name of a side's model; "" for all of them."""
    if not side.model:
        return ""
    models = list(dict.fromkeys(names))
    if side.model in models:
        return side.model
    fit = [model for model in models if model.endswith(f"/{side.model}")]
    if len(fit) > 1:
        raise UsageError(f"{side.model!r} is ambiguous: give one of {', '.join(sorted(fit))}")
    if not fit:
        raise UsageError(unknown_name_message("folder or model", side.model, models))
    return fit[0]


def _is_chosen(task: str, tasks: tuple[str, ...]) -> bool:
    return not tasks or task in tasks or task.rpartition("/")[2] in tasks


def _nothing_message(why: str, known_tasks: list[str], tasks: tuple[str, ...]) -> str:
    if wrong := [task for task in tasks if not any(_is_chosen(known_task, (task,)) for known_task in known_tasks)]:
        return unknown_name_message("task", wrong[0], set(known_tasks))
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
    out: str | None = JSON_FILE,
) -> None:
    """Estimate each model's general ability from all runs in some folders, and predict scores of missing families.

    A joint model of all models and families (item response theory) has an ability of each model, which consists of a
    general ability and a deviation in each family, and a difficulty of each item. All models need not have run the
    same families or items. Where a model was not run on a family, the output shows in square brackets what score to
    expect, with a 90 % interval; predictions are never part of a mean or of a report. At least two models and two
    families with normalised scores are needed; with a handful of models, intervals are wide.
    """
    from waybench.results import read_logs
    from waybench.results.estimates._profiles import profiles, profiles_text
    from waybench.results.logs import Skipped
    from waybench.results.results import measurable
    from waybench.results.results._anchors import with_reference_bounds

    skipped: list[Skipped] = []
    measured, rows = measurable(read_logs(*folders, on_problem=skipped.append), on_problem=skipped.append, confirm=True)
    rows = with_reference_bounds((episode.record for episode in measured), rows)
    tell_skipped(skipped)
    ability = profiles(rows, references=references)
    if out is not None:
        write_json(out, ability.to_json())
    if out != "-":
        click.echo(profiles_text(ability, shutil.get_terminal_size().columns))
