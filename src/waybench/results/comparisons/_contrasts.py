"""The cost of a demand for a model: two values of an option at the same items, by an environment's contrasts.

Costs for two models are compared by pairing the costs at the same items.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from waybench.core import Contrast, End, Json, Option
from waybench.core._designs import has_ladder_ended
from waybench.envs import registry
from waybench.results.comparisons._comparison import (
    GROUP,
    Comparison,
    Effect,
    EffectKind,
    adjust_effects,
    compare,
    comparison_columns,
    metric_and_item_columns,
)
from waybench.results.comparisons._item_scores import MODEL, ItemScores, comparison_key, headline_scores
from waybench.results.formatting import align_columns, change_text, difference_text, mean_text, one_line
from waybench.results.frames import Column
from waybench.results.horizons import SHARES, Horizon
from waybench.results.horizons._horizons import axis_items
from waybench.results.horizons._text import position_text
from waybench.results.results import LONGEST, ItemKey, Row, RunKey, environment_options, group_by
from waybench.results.results._groups import key_without_settings
from waybench.results.stats._horizon_ratios import HorizonRatio, horizon_ratio

# Of tables of costs, beside which they stand.
_RATIO = "The ratio has all levels that each condition was played at, and p is that of the cost, not of the ratio."
_MOVED = "An interval that ends at 0 was moved there to agree with its test, which is exact where few {items} differ."
_UNADJUSTED = "Unadjusted: too few {items} differ for any result to be significant."


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastEffect(Effect):
    """The cost of a demand: the results of one model without it less those with it, at the same items.

    Attributes:
        ratio: The 50 % horizon with the demand divided by the one without it; None where there are no horizons.
    """

    kind = EffectKind(
        name="contrasts",
        doc="One row for each player and contrast of the environment: the cost of one demand, at the same items.",
        columns=(
            GROUP,
            Column(
                "demand",
                str,
                "The demand.",
                "contrast.demand",
                heading="Cost of",
                text=lambda effect: effect.contrast.demand,
            ),
            Column(
                "values",
                str,
                "The option's values without the demand and with it.",
                lambda effect: f"{effect.contrast.base} - {effect.contrast.demanding}",
                heading="Difference of",
                text=lambda effect: f"{effect.contrast.base} − {effect.contrast.demanding}",
            ),
            Column("reference", RunKey, "The same with the demand.", "reference", only="json"),
            *metric_and_item_columns(
                "Items that were given in both; where a ladder ended, those above it count as failed."
            ),
            *comparison_columns(
                ("Mean without the demand.", "Without"),
                ("demanding_mean", "Mean with the demand.", "With"),
                "Mean of the items' values without the demand less those with it: what the demand costs. The intervals "
                "of a player's rows hold together.",
                "contrasts of the player",
                "is the value without the demand",
                interval="simultaneous",
            ),
            Column(
                "ratio",
                float,
                "The 50 % horizon with the demand divided by the one without it; null where it is not known.",
                "ratio.value",
                heading="Ratio of horizons",
                text=lambda effect: ratio_text(effect.ratio),
            ),
            Column("ratio_low", float, "Lower end of its 90 % interval; null where there is none.", "ratio.low"),
            Column("ratio_high", float, "Upper end of it.", "ratio.high"),
        ),
        id="task-contrasts",
        title="What each demand costs",
        caption="{metric} of the same players on the same {items} without one demand and with it, with the {interval}. "
        "The difference is the cost of the demand; below 0 it is no cost. The paired intervals of a player’s rows hold "
        "together at 95 % (Bonferroni). p is from a paired test, adjusted by Holm’s procedure over the rows of a "
        "player; a difference is bold where p is below 0.05. One that is not shown is no evidence of none: at 80 "
        "{items} a cost of about 0.24 is shown in 80 % of samples. The last column is the 50 % horizon with the demand "
        "divided by the one without it, with its 90 % interval. "
        f"{_RATIO} {_MOVED} {_UNADJUSTED} "
        "{Items} above the level at which a ladder ended count as failed.",
        table=("demand", "values", "items", "mean", "demanding_mean", "difference", "p_adjusted", "ratio"),
    )
    contrast: Contrast
    ratio: HorizonRatio | None = None

    @property
    def group_without_option(self) -> RunKey:
        """The group without the option, whose values stand in columns of their own."""
        return self.group.without_option(self.contrast.option)


def contrast_effects(all_rows: Iterable[Row]) -> list[ContrastEffect]:
    """Return the cost of each demand for each model, by the headline metric.

    The tests of one model with its settings at one environment are one family. Episodes that a teacher has played, and
    those of searches, are left out.
    """
    by_any_group = group_by((row for row in all_rows if not row.guided and not row.adaptive), lambda row: row.group)
    groups_by_env = group_by(by_any_group, lambda group: group.env)
    contrasts = {env: _contrasts_of_groups(groups) for env, groups in groups_by_env.items()}
    by_group = {group: rows for group, rows in by_any_group.items() if contrasts[group.env]}
    rows = [row for group_rows in by_group.values() for row in group_rows]
    ladder_ends = {group: _ladder_end(group_rows) for group, group_rows in by_group.items()}
    effects: list[ContrastEffect] = []
    scores = [side for side in headline_scores(rows) if side.group is not None]
    options = ((contrast.option, *contrast.goes_with) for declared in contrasts.values() for contrast in declared)
    for names in dict.fromkeys(options):  # an option, and those that are set along with it
        envs = {env for env, declared in contrasts.items() if any(contrast.option == names[0] for contrast in declared)}
        scores_of_option = [side for side in scores if side.env in envs]
        by_other_settings = group_by(
            scores_of_option, lambda side, names=names: key_without_settings(_group_of_scores(side), *names)
        )
        for sides in by_other_settings.values():
            env = sides[0].env
            by_value = {_option_value_text(_group_of_scores(side), names): side for side in sides}
            for contrast in _played_contrasts(contrasts[env], names[0], by_value):
                base, demanding = by_value[contrast.base], by_value[contrast.demanding]
                first, second = _scores_at_same_items(base, demanding, ladder_ends)
                family = (env, base.model, tuple(sorted(map(str, base.settings.items()))))
                comparison = compare(first, second, contrast.option, family=family)
                if comparison is not None:
                    effects.append(ContrastEffect(comparison=comparison, contrast=contrast))
    return _with_ratios(adjust_effects(effects), rows)


def _with_ratios(effects: Sequence[ContrastEffect], rows: Iterable[Row]) -> list[ContrastEffect]:
    """Return effects with the ratios of their horizons; only the curves that these need are fitted."""
    groups = {group for effect in effects for group in effect.comparison.groups}
    items_of_axes = axis_items(row for row in rows if row.group in groups)
    fits = {items.group: items.main_fit for items in items_of_axes if items.leads and not items.lost}
    return [
        replace(effect, ratio=horizon_ratio(fits[effect.reference], fits[effect.group]))
        if fits.keys() >= {effect.group, effect.reference}
        else effect
        for effect in effects
    ]


def _contrasts_of_groups(groups: Sequence[RunKey]) -> list[Contrast]:
    """Return the contrasts of the environment of `groups`, for options that at least one group sets."""
    names = {name for group in groups for name, value in group.options if value is not None}
    return [contrast for contrast in groups[0].environment.contrasts if contrast.option in names]


def _declared_option(env: str, name: str) -> Option:
    """Return an option of an environment, or of an extension of its play."""
    options = (*environment_options(env), *registry.load(env).extension_options)
    return next(option for option in options if option.name == name)


def _option_value_text(group: RunKey, names: Sequence[str]) -> str:
    """Return the first option's value, with those of the others in parentheses: "none", "fog (3)"."""
    options = dict(group.options)
    value = options.get(names[0], _declared_option(group.env, names[0]).default)
    others = ", ".join(str(options[name]) for name in names[1:] if options.get(name) is not None)
    text = "none" if value is None else str(value)
    return f"{text} ({others})" if others else text


def _played_contrasts(contrasts: Iterable[Contrast], option: str, values: Iterable[str]) -> Iterator[Contrast]:
    """Yield an option's contrasts whose values were played; one without a demanding value is with each other value."""
    played = sorted(values, key=lambda text: (len(text), text))
    for contrast in contrasts:
        if contrast.option == option and contrast.base in played:
            for demanding in [contrast.demanding] if contrast.demanding else played:
                if demanding in played and demanding != contrast.base:
                    yield contrast._replace(demanding=demanding)


def _group_of_scores(side: ItemScores) -> RunKey:
    """Return the group of scores at one of waybench's tasks."""
    assert side.group is not None
    return side.group


def _ladder_end(rows: Sequence[Row]) -> int | None:
    """Return the level at which a group's ladder ended without success; None if it has none, or did not end."""
    by_level = group_by(rows, lambda row: row.level)
    levels = sorted(by_level)
    are_failed = [all(row.is_included and row.end != End.SOLVED for row in by_level[level]) for level in levels]
    has_ended = has_ladder_ended(are_failed, rows[0].group.environment.scoring.best_of)
    return levels[-1] if has_ended and any(row.declared_levels for row in rows) else None


def _scores_at_same_items(
    first: ItemScores, second: ItemScores, ladder_ends: Mapping[RunKey, int | None]
) -> tuple[ItemScores, ItemScores]:
    """Return both sides' scores with common keys, whatever the items' names and clusters.

    Items of the other side above the level at which a side's ladder ended have the metric's least value; 0 without one.
    """
    keys = {(key.level, key.instance): key for side in (second, first) for key in side.values}

    def common_key(key: ItemKey) -> ItemKey:
        """Return the key under which both sides have an item."""
        return keys.get((key.level, key.instance), key)

    def with_common_keys(side: ItemScores) -> ItemScores:
        """Return a side's scores under the common keys, with the least value above its ladder's end."""
        values = {common_key(key): value for key, value in side.values.items()}
        end = ladder_ends[_group_of_scores(side)]
        not_reached = [key for key in keys.values() if end is not None and key.level > end and key not in values]
        return replace(
            side,
            values={**values, **dict.fromkeys(not_reached, side.metric.low or 0.0)},
            missing=frozenset(map(common_key, side.missing)),
            unconfirmed=frozenset(map(common_key, side.unconfirmed)),
            incomplete={common_key(key): pair for key, pair in side.incomplete.items()},
        )

    return with_common_keys(first), with_common_keys(second)


def ratio_text(ratio: HorizonRatio | None) -> str:
    """Return a ratio of horizons with its 90 % interval: "0.33 (0.2 to 0.5)", "at most 0.4"; "" if it is not known."""
    if ratio is None:
        return ""
    value, low, high = (None if number is None else f"{number:.2g}" for number in ratio[:3])
    if low and high:
        return f"{value} ({low} to {high})" if value else f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else ""


@dataclass(frozen=True, slots=True)
class Profile:
    """The horizon of one model with each value of an option, and the cost of each demand.

    Attributes:
        group: Model, task and settings, without the option.
        horizons: The 50 % horizon with each value that was played, in the option's order.
        effects: The costs of demands, in the order in which the environment declares them.
    """

    group: RunKey
    horizons: Mapping[str, Horizon]
    effects: Sequence[ContrastEffect]

    @property
    def text(self) -> str:
        """The profile in two sentences: the horizons, and the demands with a significant cost, the highest first."""
        env, name = self.group.environment, one_line(self.group.model, LONGEST)
        values_by_horizon = group_by(self.horizons, lambda value: position_text(self.horizons[value]))
        horizons = "; ".join(f"{', '.join(values)}: {text}" for text, values in values_by_horizon.items())
        words = env.presentation
        sentence = f"{name}: {words.level} at which half of the {words.items} succeed: {horizons}."
        costly = [
            effect
            for effect in self.effects
            if effect.comparison.is_shown and effect.comparison.paired_difference.value > 0
        ]
        if not costly:
            return f"{sentence} No demand is shown to have a cost."
        costly.sort(key=lambda effect: -effect.comparison.paired_difference.value)
        costs = ", ".join(f"{effect.contrast.demand} ({_mean_cost_text(effect)})" for effect in costly)
        return f"{sentence} Demands that cost {costly[0].comparison.metric.title.lower()}, most first: {costs}."


def _cost_text(effect: ContrastEffect) -> str:
    """Return a cost with its simultaneous interval, for a table."""
    return difference_text(effect.comparison.simultaneous, effect.comparison.metric)


def _mean_cost_text(effect: ContrastEffect) -> str:
    """Return a cost with its interval, for a sentence: "0.238, 0.099 to 0.367"."""
    metric, cost = effect.comparison.metric, effect.comparison.simultaneous
    value = mean_text(cost.value, metric)
    if cost.low is None or cost.high is None:
        return value
    return f"{value}, {mean_text(cost.low, metric)} to {mean_text(cost.high, metric)}"


def contrast_profiles(effects: Iterable[ContrastEffect], horizons: Iterable[Horizon]) -> list[Profile]:
    """Return the profile of each model that has effects of an option whose values have tables of their own.

    Models without a 50 % horizon on the environment's first axis are left out.
    """
    by_other_settings: dict[Hashable, list[Horizon]] = defaultdict(list)
    for horizon in horizons:
        contrasts = horizon.group.environment.scoring.contrasts
        if contrasts and horizon.share == SHARES[0]:
            by_other_settings[key_without_settings(horizon.group, contrasts[0].option)].append(horizon)
    profiles: list[Profile] = []
    by_profile = group_by(effects, lambda effect: key_without_settings(effect.group, effect.contrast.option))
    for key, profile_effects in by_profile.items():
        group, option = profile_effects[0].group, profile_effects[0].contrast.option
        declared = _declared_option(group.env, option)
        axis = group.environment.difficulty.axes[0].name if group.environment.difficulty.axes else ""
        by_value = {
            str(dict(horizon.group.options).get(option, declared.default)): horizon
            for horizon in by_other_settings.get(key, ())
            if horizon.axis == axis
        }
        ordered = {str(value): by_value[str(value)] for value in declared.choices if str(value) in by_value}
        if ordered and declared.separate_tables:
            profiles.append(Profile(group.without_option(option), ordered, profile_effects))
    return profiles


def contrast_text(all_rows: Iterable[Row], horizons: Iterable[Horizon] = ()) -> str:
    """Return the costs of demands as aligned tables of plain text, and profiles; "" if there are none.

    `horizons` are those of the same rows; without them there are no profiles.
    """
    effects = contrast_effects(all_rows)
    profiles = contrast_profiles(effects, horizons)
    texts: list[str] = []
    for env, env_effects in group_by(effects, lambda effect: effect.group.env).items():
        texts.append("\n".join([align_columns(*_cost_lines(env_effects)), *_cost_notes(env_effects)]))
        texts.append("\n".join(profile.text for profile in profiles if profile.group.env == env))
    return "\n\n".join(filter(None, texts))


def _cost_notes(effects: Sequence[ContrastEffect]) -> list[str]:
    """Return the notes below a table of costs, as sentences."""
    notes = ["In brackets: the 95 % interval of a cost, which holds together with those of the player's other costs."]
    if any(ratio_text(effect.ratio) for effect in effects):
        notes.append(_RATIO)
    if any("(±" in cost or "to ±" in cost for cost in map(_cost_text, effects)):
        notes.append(_MOVED)
    if any(effect.comparison.adjusted_p is None for effect in effects):
        notes.append(_UNADJUSTED)
    return [note.format(items=effects[0].group.environment.presentation.items) for note in notes]


def _cost_lines(effects: Sequence[ContrastEffect]) -> tuple[list[list[str]], list[str]]:
    """Return the cells of the table of costs, and the kind of each line for `align_columns`."""
    env = effects[0].group.environment
    headings = ["difference of", env.presentation.items, "cost", "p of the cost (Holm)", "ratio of horizons"]
    lines, kinds = [[f"{env.title}: what each demand costs", *headings]], [""]
    for number, model_effects in enumerate(group_by(effects, lambda effect: effect.group.model).values()):
        lines.append([one_line(model_effects[0].group.model, LONGEST), *[""] * len(headings)])
        for effect in model_effects:
            comparison, contrast = effect.comparison, effect.contrast
            lines.append(
                [
                    f"  {contrast.demand}",
                    f"{contrast.base} − {contrast.demanding}",
                    str(comparison.items),
                    _cost_text(effect),
                    comparison.p_text,
                    ratio_text(effect.ratio),
                ]
            )
        kinds += [str(number)] * (len(model_effects) + 1)  # a rule after each model
    return lines, kinds


@dataclass(frozen=True, slots=True)
class CostDifference:
    """The cost of a demand for one model minus its cost for another, at the same items."""

    contrast: Contrast
    first: ContrastEffect
    second: ContrastEffect
    comparison: Comparison

    def to_json(self) -> dict[str, Json]:
        """Return the difference of two costs as JSON values."""
        return {
            "demand": self.contrast.demand,
            "base": self.contrast.base,
            "demanding": self.contrast.demanding,
            "items": self.comparison.items,
            "first": {"model": self.first.group.model, "cost": asdict(self.first.comparison.simultaneous)},
            "second": {"model": self.second.group.model, "cost": asdict(self.second.comparison.simultaneous)},
            "difference": asdict(self.comparison.simultaneous),
            "p": self.comparison.test.p,
            "p_holm": self.comparison.adjusted_p,
        }


def compare_costs(first: Iterable[Row], second: Iterable[Row]) -> list[CostDifference]:
    """Compare the costs of each demand for the models of two sides, at the items that both met with and without it.

    The tests of two models at one environment are one family.
    """
    by_demand = group_by(contrast_effects(second), _demand_key)
    differences: list[CostDifference] = []
    for effect in contrast_effects(first):
        for other in by_demand.get(_demand_key(effect), ()):
            family = effect.group.env, effect.group.model, other.group.model
            comparison = compare(_cost_scores(effect), _cost_scores(other), MODEL, family=family)
            if comparison is not None:
                differences.append(CostDifference(effect.contrast, effect, other, comparison))
    return adjust_effects(differences)


def _demand_key(effect: ContrastEffect) -> tuple[Contrast, Hashable]:
    """Return the contrast, environment and settings that costs of two models must share to be compared."""
    return effect.contrast, comparison_key(effect.group.without_option(effect.contrast.option))


def _cost_scores(effect: ContrastEffect) -> ItemScores:
    """Return the cost of a demand at each item with a score on both sides, as scores."""
    comparison, metric = effect.comparison, effect.comparison.metric
    costs = {key: comparison.first.values[key] - comparison.second.values[key] for key in comparison.keys}
    most = None if metric.low is None or metric.high is None else metric.high - metric.low
    return replace(
        comparison.first,
        values=costs,
        metric=replace(metric, low=None if most is None else -most, high=most),
        missing=frozenset(),
        unconfirmed=frozenset(),
        incomplete={},
    )


def cost_differences_text(differences: Sequence[CostDifference]) -> str:
    """Return the differences between two models' costs as an aligned table of plain text; "" if there are none."""
    if not differences:
        return ""
    lines = [["What each demand costs", "A", "B", "A − B", "p (Holm)", "verdict"]]
    for difference in differences:
        comparison, contrast, metric = difference.comparison, difference.contrast, difference.first.comparison.metric
        side = "B" if comparison.paired_difference.value < 0 else "A"
        lines.append(
            [
                f"{contrast.demand} ({contrast.base} − {contrast.demanding})",
                *(
                    change_text(effect.comparison.paired_difference.value, metric)
                    for effect in (difference.first, difference.second)
                ),
                difference_text(comparison.simultaneous, metric),
                comparison.p_text,
                f"costs {side} more" if comparison.is_shown else "not shown",
            ]
        )
    return align_columns(lines)
