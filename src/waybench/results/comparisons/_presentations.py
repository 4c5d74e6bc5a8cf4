"""The same items in several presentations: wordings and languages."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from waybench.core import LANGUAGE, WORDING
from waybench.core._languages import LANGUAGE_OPTION, languages_of
from waybench.envs import registry
from waybench.results.comparisons._comparison import (
    GROUP,
    Comparison,
    Effect,
    EffectKind,
    adjust_comparisons,
    adjust_effects,
    compare,
    comparison_columns,
    metric_and_item_columns,
)
from waybench.results.comparisons._item_scores import ItemScores, headline_scores
from waybench.results.frames import Column
from waybench.results.results import Row, RunKey, environment_options
from waybench.results.stats._verdicts import MARGIN


def ordered_presentations(env: str, option: str, names: Collection[str]) -> tuple[list[str], str]:
    """Return values of `WORDING` or `LANGUAGE` in the order in which an environment lists them, and the reference.

    The reference is the option's default if it is among the values, otherwise the first value; "" without values.
    """
    if option == LANGUAGE:
        choices, default = languages_of(registry.load(env)), str(LANGUAGE_OPTION.default)
    else:
        declared = next(declared for declared in environment_options(env) if declared.name == option)
        choices, default = declared.all_choices, str(declared.default)
    declared_names = [name for name in choices if name in names]
    ordered = [*declared_names, *sorted(name for name in names if name not in declared_names)]
    return ordered, default if default in names else next(iter(ordered), "")


def compare_presentations(
    scores: Iterable[ItemScores],
    margin: float = MARGIN,
    is_chosen: Callable[[str], bool] = lambda task: True,
    option: str = WORDING,
) -> list[Comparison]:
    """Compare the results of models in several presentations of the same items; all comparisons are one family.

    Each wording or language is compared with the environment's default, or with the first that was run.

    Args:
        scores: Scores of any tasks; those of tasks that are not ours are left out.
        margin: The greatest difference in a tie, as a share of the metric's range.
        is_chosen: The name of a task -> whether it is compared.
        option: `WORDING`, or `LANGUAGE`, which groups in the default language lack.
    """
    return adjust_comparisons(
        compare(side, reference, option, name=f"{side.name}, {value} against {reference_value}", margin=margin)
        for (value, side), (reference_value, reference) in _presentation_pairs(scores, is_chosen, option)
    )


def _presentation_pairs(
    scores: Iterable[ItemScores], is_chosen: Callable[[str], bool], option: str
) -> Iterator[tuple[tuple[str, ItemScores], tuple[str, ItemScores]]]:
    """Yield pairs of presentation and reference of the same items, each as the option's value and scores."""
    by_identity: defaultdict[tuple[Any, ...], dict[str, ItemScores]] = defaultdict(dict)
    for side in scores:
        if side.group is not None and is_chosen(side.task):
            value = _presentation_of_group(side.group, option)
            others = tuple(other for other in side.key.options if other[0] != option)
            if value is not None:
                by_identity[side.identity(options=others)][value] = side
    for by_value in by_identity.values():
        values, reference = ordered_presentations(next(iter(by_value.values())).env, option, by_value)
        for value in values:
            if value != reference:
                yield (value, by_value[value]), (reference, by_value[reference])


def _presentation_of_group(group: RunKey, option: str) -> str | None:
    """Return a group's `WORDING` or `LANGUAGE`; None if its environment has no wordings."""
    value = dict(group.options).get(option, LANGUAGE_OPTION.default if option == LANGUAGE else None)
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageEffect(Effect):
    """The results of one model in a language, against the default one or the first that was run, at the same items."""

    kind = EffectKind(
        name="languages",
        doc="One row for each player and language beside the reference language, at the same items.",
        columns=(
            GROUP,
            Column(
                "language",
                str,
                "The language.",
                lambda effect: _presentation_of_group(effect.group, LANGUAGE),
                heading="Language",
                text=lambda effect: str(_presentation_of_group(effect.group, LANGUAGE)),
            ),
            Column("reference", RunKey, "The same in the reference language.", "reference", only="json"),
            *metric_and_item_columns("Items that were given in both languages."),
            *comparison_columns(
                ("Mean over these items of what an attempt gives.", "Mean"),
                ("reference_mean", "The same in the reference language.", "Mean in {reference}"),
                "Mean of the items' values less those in the reference language.",
                "players and languages of the environment",
                "is this language",
            ),
        ),
        id="task-languages",
        title="The same {items} in several languages",
        caption="{metric} of the same players with the same settings on the same {items}, with the {interval}. The "
        "difference is the mean in the language minus that in {reference}, with its paired interval. p is from a "
        "paired test, adjusted by Holm’s procedure over all rows; a difference is bold where p is below 0.05.",
        table=("language", "items", "reference_mean", "mean", "difference", "p_adjusted"),
        words=lambda effects: {"reference": str(_presentation_of_group(effects[0].reference, LANGUAGE))},
    )


def language_effects(all_rows: Iterable[Row]) -> list[LanguageEffect]:
    """Return the comparisons of languages for each model, by the headline metric.

    The tests of all models at one environment are one family. Episodes that a teacher has played are left out.
    """
    scores = headline_scores(row for row in all_rows if not row.guided)
    return adjust_effects(
        LanguageEffect(comparison=comparison)
        for (_, side), (_, reference) in _presentation_pairs(scores, lambda task: True, LANGUAGE)
        if (comparison := compare(side, reference, LANGUAGE, family=side.env))
    )
