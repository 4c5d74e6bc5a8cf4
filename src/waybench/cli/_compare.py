"""`waybench compare`: differences of models."""

from collections.abc import Callable, Iterable
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
    option,
    with_parameters,
)
from waybench.cli._output import write_json
from waybench.cli._sides import Side, location_text, player_of, players_of, read_results, read_side, sides_of_two_models
from waybench.core import LANGUAGE, UsageError, unknown_name_message

if TYPE_CHECKING:
    from waybench.results.comparisons._comparison import Comparison


_EXAMPLES = """\b
waybench compare                                          the two models of waybench-out
waybench compare openai/gpt-4o claude-sonnet-4            two models of waybench-out
waybench compare gpt-4o gpt-4o-mini --in monday --in tuesday
waybench compare before after                             each model in both folders, against itself
waybench compare before/gpt-4o after/gpt-4o               one model, before and after a change
waybench compare before after --fail-if worse             a check of a change, which fails by its exit status
waybench compare ada.jsonl openai/gpt-4o                  a person and a model
waybench compare null random --metric solved --json -     shares of solved items, as JSON
waybench compare waybench-out --twins                     each model at coin and guessnum, at cavedfs and dfs
waybench compare waybench-out --isomorphs                 each model at items and at isomorphic ones (-T isomorph=1)
waybench compare waybench-out --wordings                  each model in several wordings, such as text and pictures
waybench compare waybench-out --language                  each model in several languages (-T language=es)
waybench compare people.jsonl --people                    how far people agree on the same items
waybench compare waybench-out --models models.toml        whether larger models of a series are better"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def compare(
    a: str | None = argument("[A]"),
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
    people: bool = option("Show how far the people in A agree on the items that several of them answered."),
    models: Path | None = option(
        "File of models as for `waybench report`: test whether larger models of a series in A are better.",
        metavar="FILE",
    ),
    fail_if: tuple[str, ...] = option(
        "Fail if B is worse than A at some task (exit status 4), is not better at any or worse at some (5), or if some "
        "task shows neither a difference nor a tie (6); repeatable.",
        type=click.Choice(("worse", "not-better", "unsure")),
    ),
    markdown: str | None = option(
        "Write the verdict and a table as Markdown to a file (- for standard output).", metavar="FILE"
    ),
    out: str | None = JSON_FILE,
) -> None:
    """Compare A and B on the same items, with paired tests.

    Without B, A is a folder with the results of two models, which are compared; without A, it is that of --in.

    A and B are folders of logs, files of records from `waybench play --record`, or models. A folder or a file stands
    for all models and people in it. FOLDER/MODEL is one model in that folder. Anything else is the name of a model,
    with or without its provider, or of a person (human/Ada), in the folders and files given with --in. A model with an
    agent is named as a run names it: "gpt-4o (react)".
    The logs of other Inspect tasks work too: each of their scores is compared, sample by sample.

    For each task, the output shows both means for a single attempt; their difference with its 95 % interval; a
    test (McNemar's test with the mid-p value for solved or not, otherwise a test that belongs to the interval,
    clustered by map where maps are shared); the p value, adjusted by Holm's procedure over all tasks that can show a
    difference; and the verdict: A or B is better, they are tied, no difference is shown, or there are too few items
    to tell. Infrastructure errors are excluded and counted.

    Where normalised scores are known, a table of pairs of models has the difference over all tasks of both, from which
    a report reads its ranks.

    Where both sides met the same items with and without a demand (Atlas), the output shows in which demands they
    differ: what each costs A and B, and the difference of both.

    Where both sides were asked what they know (--probe), the shares of right answers are compared likewise, by item.

    With --fail-if, A is what there was before and B the change: a check of a change fails by the exit status.

    Where both sides have a 50 % horizon, the output shows their ratio with its 90 % interval. Searches for horizons
    (horizon_ tasks) are compared by it alone, since they choose their items by their results.
    """
    flags = zip(_PAIRINGS, (twins, isomorphs, wordings, language), strict=True)
    pairings = [name for name, is_given in flags if is_given]
    if len(pairings) > 1:
        raise UsageError(f"{pairings[0]} and {pairings[1]} compare different things: give one of them")
    folders = folders or (DEFAULT_OUT,)
    if a is None:
        if len(folders) > 1:
            raise UsageError("give A and B, two of the models in these folders")
        a = str(*folders)
    if (fail_if or markdown) and (models is not None or people or pairings):
        raise UsageError("--fail-if and --markdown are of two models: leave out the other options, or these")
    if models is not None:
        if b is not None or pairings or people:
            raise UsageError(f"--models compares the series of models in {a!r}: leave out {b or 'the other options'!r}")
        _compare_series(read_side(a, folders), tasks, models, out)
    elif people:
        if b is not None or pairings:
            raise UsageError(f"--people compares the people in {a!r} with each other: leave out {b or pairings[0]!r}")
        _compare_people_in_side(read_side(a, folders), tasks, metric, out)
    elif pairings:
        if b is not None:
            raise UsageError(f"{pairings[0]} compares each model of {a!r} with itself: leave {b!r} out")
        _compare_models_with_themselves(pairings[0], read_side(a, folders), tasks, metric, margin, out)
    else:
        _compare_two_sides(a, b, folders, tasks, metric, margin, fail_if, markdown, out)


def _compare_two_sides(
    a: str,
    b: str | None,
    folders: tuple[Path, ...],
    tasks: tuple[str, ...],
    metric: str,
    margin: float,
    fail_if: tuple[str, ...],
    markdown: str | None,
    out: str | None,
) -> None:
    """Write the comparison of A and B, or of the two models in A if B is None; exit if a condition of failure holds."""
    from waybench.results.comparisons._beliefs import compare_beliefs
    from waybench.results.comparisons._contrasts import compare_costs, cost_differences_text
    from waybench.results.comparisons._decision_text import decisions_text
    from waybench.results.comparisons._decisions import stored_decisions
    from waybench.results.comparisons._models import compare_sides
    from waybench.results.comparisons._outcomes import item_costs, outcomes
    from waybench.results.comparisons._text import comparisons_json, comparisons_text
    from waybench.results.estimates._model_pairs import compare_models, model_pairs_text
    from waybench.results.horizons._text import compare_horizons, ratio_over_families

    side_a = read_side(a, folders)
    sides = sides_of_two_models(side_a, metric) if b is None else (side_a, read_side(b, folders))
    results = {side.folders: read_results(side.folders, metric, with_bounds=not metric) for side in sides}
    results_of_sides = [results[side.folders] for side in sides]
    runs = [[*scores, *(row.group for row in rows)] for scores, rows in results_of_sides]
    players = players_of(sides, runs)
    same_error = UsageError(f"A and B are the same, {a!r} and {b!r}: give two models or two folders")
    if (sides[0].folders, players[0]) == (sides[1].folders, players[1]):
        raise same_error
    first_scores, second_scores = (
        [score for score in scores if player.includes(score) and _is_task_chosen(score.task, tasks)]
        for (scores, _), player in zip(results_of_sides, players, strict=True)
    )
    first_rows, second_rows = (
        [row for row in rows if player.includes(row.group) and _is_task_chosen(row.group.task, tasks)]
        for (_, rows), player in zip(results_of_sides, players, strict=True)
    )
    comparisons, missing = compare_sides(first_scores, second_scores, margin)
    model_pairs = [] if metric else compare_models(first_rows, second_rows, _model_pairs(comparisons))
    ratios, beliefs = compare_horizons(first_rows, second_rows), compare_beliefs(first_rows, second_rows)
    cost_differences = [] if metric else compare_costs(first_rows, second_rows)
    compared_models = {row.group.model for row in (*first_rows, *second_rows)}
    decisions = [
        decision
        for decision in stored_decisions(row for _, rows in results.values() for row in rows)
        if compared_models.issuperset(decision.plan.models) and _is_task_chosen(decision.plan.task, tasks)
    ]
    is_one_pair = len({(ratio.first.model, ratio.second.model) for ratio in ratios}) == 1
    over_families = ratio_over_families(ratios) if is_one_pair else None
    if not comparisons and not ratios and not decisions:
        known_tasks = [score.task for scores, _ in results.values() for score in scores]
        raise UsageError(_nothing_to_compare_message(missing[0].why if missing else "", known_tasks, tasks))
    if any(pair.first.model == pair.second.model and pair.first.logs & pair.second.logs for pair in comparisons):
        raise same_error
    if out is not None:
        document = {
            "a": sides[0].model if b is None else a,
            "b": sides[1].model if b is None else b,
            **comparisons_json(comparisons, missing, margin),
            "horizons": [ratio.to_json() for ratio in ratios],
            "horizons_over_families": None if over_families is None else over_families.to_json(),
            "beliefs": [belief.to_json() for belief in beliefs],
            "contrasts": [difference.to_json() for difference in cost_differences],
            "model_pairs": [pair.to_json() for pair in model_pairs],
            "decisions": [decision.summary for decision in decisions],
        }
        write_json(out, document)
    conclusions = outcomes(comparisons, item_costs([*first_rows, *second_rows]))
    if "-" not in (out, markdown):  # standard output has the JSON or the Markdown alone
        has_origins = sides[0].folders != sides[1].folders  # otherwise the models' names say which side is meant
        origins = (location_text(sides[0]), location_text(sides[1])) if has_origins else ("", "")
        ratio_texts = [ratio.text for ratio in ratios if ratio.is_bounded]
        ratio_texts += [] if over_families is None else [over_families.text]
        _print_blocks(
            "\n".join(conclusion.text for conclusion in conclusions),
            comparisons_text(comparisons, missing, margin, origins) if comparisons or not decisions else "",
            decisions_text(decisions),
            model_pairs_text([pair for pair in model_pairs if pair.paired]),
            cost_differences_text(cost_differences),
            "\n".join(["Horizons:", *(f"  {text}" for text in ratio_texts)]) if ratio_texts else "",
            "\n".join(["Belief probes:", *(f"  {belief.text}" for belief in beliefs)]) if beliefs else "",
        )
    if fail_if or markdown:
        from waybench.cli._fail_if import exit_if_failed, tally_tasks, write_markdown

        second_model = players[1].model or next((pair.second.model for pair in comparisons), "")
        tally = tally_tasks(comparisons, ratios, decisions, second_model)
        failure = tally.first_condition_met(fail_if)
        if markdown:
            write_markdown(markdown, conclusions, comparisons, tally, failure)
        exit_if_failed(tally, failure)


def _print_blocks(*blocks: str) -> None:
    """Print the blocks of text that are not empty, with blank lines between them."""
    click.echo("\n\n".join(block for block in blocks if block))


class _Pairing(NamedTuple):
    """A way to compare models with themselves: what the two sides are, and why there may be nothing to compare."""

    origins: tuple[str, str]
    why: str


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


def _compare_models_with_themselves(
    flag: str, side: Side, tasks: tuple[str, ...], metric: str, margin: float, out: str | None
) -> None:
    """Write the comparisons of each model of a side with itself, such as at twins (`flag` is "--twins")."""
    from waybench.results.comparisons._isomorphs import compare_isomorphs, compare_twins, invariance_text
    from waybench.results.comparisons._presentations import compare_presentations
    from waybench.results.comparisons._text import comparisons_json, comparisons_text

    pairing = _PAIRINGS[flag]
    scores, _ = read_results(side.folders, metric)
    player = player_of(side, scores)
    compare_functions: dict[str, Callable[..., list[Any]]] = {
        "--twins": compare_twins,
        "--isomorphs": compare_isomorphs,
        "--wordings": compare_presentations,
        "--language": partial(compare_presentations, option=LANGUAGE),
    }
    scores_of_model = [score for score in scores if player.includes(score)]
    effects = compare_functions[flag](scores_of_model, margin, partial(_is_task_chosen, tasks=tasks))
    if not effects:
        raise UsageError(_nothing_to_compare_message(pairing.why, [score.task for score in scores], tasks))
    comparisons = [getattr(effect, "comparison", effect) for effect in effects]  # those of twins are comparisons
    if out is not None:
        document: dict[str, Any] = {"a": side.model or location_text(side)}
        document |= comparisons_json(comparisons, [], margin)
        for comparison_json, effect in zip(document["comparisons"], effects, strict=True):
            comparison_json |= getattr(effect, "more", {})
        write_json(out, document)
    if out != "-":
        invariance = invariance_text(effects) if flag == "--isomorphs" else ""
        _print_blocks(comparisons_text(comparisons, [], margin, pairing.origins), invariance)


def _compare_people_in_side(side: Side, tasks: tuple[str, ...], metric: str, out: str | None) -> None:
    """Write how far the people of a side agree with each other."""
    from waybench.results.comparisons._agreement import agreements, agreements_text

    _, rows = read_results(side.folders, metric)
    results = agreements((row for row in rows if _is_task_chosen(row.group.task, tasks)), metric)
    if not results:
        raise UsageError(
            "no item was answered by two people: give records of `waybench play --player NAME --record FILE`"
        )
    if out is not None:
        write_json(out, {"a": location_text(side), "agreement": [result.to_json() for result in results]})
    if out != "-":
        click.echo(agreements_text(results))


def _compare_series(side: Side, tasks: tuple[str, ...], models: Path, out: str | None) -> None:
    """Write the tests of whether larger models of a series are better."""
    from waybench.reporting import read_models
    from waybench.results.comparisons._trends import trend_effects, trends_text
    from waybench.results.results import without_searches

    model_table = read_models(models)
    _, rows = read_results(side.folders, "")
    rows_of_tasks = [row for row in without_searches(rows) if _is_task_chosen(row.group.task, tasks)]
    effects = trend_effects(rows_of_tasks, model_table)
    if not effects:
        raise UsageError(
            f"no series of {models} has three models of different sizes at the items of one task: give `series` and "
            "`size` of each, and run them on the same items"
        )
    if out is not None:
        write_json(out, {"a": location_text(side), "trends": [effect.to_json() for effect in effects]})
    if out != "-":
        click.echo(trends_text(effects))


def _model_pairs(comparisons: "Iterable[Comparison]") -> list[tuple[str, str]]:
    """Return the distinct pairs of models that are compared at waybench's tasks."""
    return list(dict.fromkeys((pair.first.model, pair.second.model) for pair in comparisons if pair.first.group))


def _is_task_chosen(task: str, tasks: tuple[str, ...]) -> bool:
    """Return whether a task is named in `tasks`, with or without its package, or no task is."""
    return not tasks or task in tasks or task.rpartition("/")[2] in tasks


def _nothing_to_compare_message(why: str, known_tasks: list[str], tasks: tuple[str, ...]) -> str:
    """Return the message of an error: an unknown name among `tasks`, or the reason `why`."""
    if unknown_names := [
        task for task in tasks if not any(_is_task_chosen(known_task, (task,)) for known_task in known_tasks)
    ]:
        return unknown_name_message("task", unknown_names[0], set(known_tasks))
    return f"nothing to compare: {why or 'there are no scores'}; run both with the same tasks, items and options"
