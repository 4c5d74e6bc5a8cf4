"""Checks of what an environment says of itself: names, options, metrics, players."""

import re

from waybench.core import IMAGE, IMAGE_OPTIONS, Episode, Option, UsageError
from waybench.testing._walks import AnyEnvironment, ContractError, Message, items, require


def check_names(environment: AnyEnvironment) -> None:
    """Id, version, title, description, levels and players are there and of the right form."""
    require(re.fullmatch(r"[a-z0-9_-]+/[a-z0-9_-]+", environment.id), f'id {environment.id!r}: give "family/variant"')
    require(environment.version >= 1, f"version {environment.version}: count from 1")
    require(environment.title.strip(), "the environment has no title")
    require(len(environment.about) >= 80, "about says too little for a page of documentation")
    require(environment.items.public_key, "the environment has no public key")
    levels = environment.items.sample_levels
    require(levels, "the environment has no sample levels")
    require(list(levels) == sorted(set(levels)), f"sample_levels {levels}: give each once, easiest first")
    missing = {"heuristic", "oracle"} - set(environment.players.policies)
    require(not missing, f"the environment lacks the players {sorted(missing)}")
    for name in environment.players.policies:
        require(re.fullmatch(r"[a-z][a-z0-9_-]*", name), f"player {name!r}: use small letters, digits, - and _")
    require("null" not in environment.players.policies, 'the player "null" is the same everywhere: leave it out')


def check_options(environment: AnyEnvironment) -> None:
    """Options are documented, their defaults pass their own check, and every choice can be played."""
    for kind, options in (("option", environment.playing.options), ("source option", environment.items.options)):
        names = [option.name for option in options]
        require(len(names) == len(set(names)), f"{kind}s come twice: {names}")
        for option in options:
            _check_option(kind, option)
    by_name = {option.name: option for option in environment.playing.options}
    for name in ("protocol", "wording"):
        require(by_name[name].choices, f"option {name}: list its choices")
    require(set(by_name["protocol"].choices) <= {"paper", "sound"}, 'protocol is "paper" or "sound"')
    item = items(environment, environment.items.smallest_level, 1)[0]
    for option in environment.playing.options:
        if option.name not in ("protocol", "wording"):
            for value in option.choices or (option.default,):
                drawn = {"wording": IMAGE} if option.name in IMAGE_OPTIONS else {}
                record = Episode(environment, item, {**drawn, option.name: value}).record()
                require(record.options[option.name] == value, f"option {option.name}: {value!r} is not in the record")
    for option in environment.items.options:
        # What makes something else of the environment may need what is not installed here.
        for value in (option.default,) if option.separate_tables else option.choices or (option.default,):
            environment.source(None, None, **{option.name: value}).item(0)


def _check_option(kind: str, option: Option) -> None:
    what = Message("{} {!r}", kind, option.name)
    require(re.fullmatch(r"[a-z][a-z0-9_]*", option.name), "{}: a name has small letters, digits and _", what)
    require(option.doc.strip().endswith("."), "{}: say in a sentence what it does", what)
    require(option.type in (bool, int, float, str), "{}: give kind, for the default is {!r}", what, option.default)
    try:
        require(option.check(option.default) == option.default, "{}: its default does not stay what it is", what)
        for choice in option.choices:
            require(option.check(choice) == choice, "{}: its choice {!r} does not stay what it is", what, choice)
    except UsageError as error:
        raise ContractError(f"{what}: its own values do not pass its check: {error}") from error
    bad: list[object] = [[], {}, float("nan"), "\ud800"]
    bad += [bound + step for bound, step in ((option.low, -1), (option.high, 1)) if bound is not None]
    for value in bad:
        try:
            option.check(value)
        except UsageError as error:
            require(str(error).isprintable(), "{}: the error is not one line: {!r}", what, str(error)[:80])
        else:
            free_text = option.type is str and not option.choices
            require(free_text and isinstance(value, str | float), "{} takes {!r}", what, value)


def check_failures_declared(environment: AnyEnvironment) -> None:
    """Kinds of failure have names of their own, a title that completes "fails by ...", and a sentence."""
    names = [kind.name for kind in environment.scoring.failures]
    require(len(names) == len(set(names)), f"kinds of failure come twice: {names}")
    for kind in environment.scoring.failures:
        what = f"kind of failure {kind.name!r}"
        require(re.fullmatch(r"[a-z][a-z0-9_]*", kind.name), f"{what}: a name has small letters, digits and _")
        require(kind.title.strip(), f'{what} has no title; give what completes "fails by ..."')
        require(kind.doc.strip().endswith("."), f"{what}: say in a sentence which episodes fail so")
    titles = [kind.title for kind in environment.scoring.failure_kinds]
    require(len(titles) == len(set(titles)), f"titles of kinds of failure come twice: {sorted(titles)}")


def check_metrics_declared(environment: AnyEnvironment) -> None:
    """Metrics are documented, their ranges and directions make sense, and aggregates are made of them."""
    scoring = environment.scoring
    require(scoring.metrics, "the environment has no metric")
    names = [metric.name for metric in scoring.metrics]
    require(len(names) == len(set(names)), f"metrics come twice: {names}")
    both = sorted(set(names) & {series.name for series in scoring.series})  # a score's output has them side by side
    require(not both, f"metrics and series of one name: {both}")
    for metric in scoring.metrics:
        what = Message("metric {!r}", metric.name)
        require(re.fullmatch(r"[a-z][a-z0-9_]*", metric.name), "{}: a name has small letters, digits and _", what)
        require(metric.title.strip() and metric.doc.strip().endswith("."), "{}: give a title and a sentence", what)
        require(metric.better in ("higher", "lower", ""), "{}: better is {!r}", what, metric.better)
        require(
            metric.low is None or metric.high is None or metric.low < metric.high,
            "{}: its floor {} is not below its ceiling {}",
            what,
            metric.low,
            metric.high,
        )
    for one in (*scoring.metrics, *scoring.series):
        require(
            one.range or one.unbounded or (one.low is not None and one.high is not None),
            f"{one.name!r} has no bounds: give low and high, or a range, or say why there are none (unbounded)",
        )
    for one in (*scoring.metrics, *scoring.aggregates):
        if one.sample_size is not None:
            size, what = one.sample_size, Message("{!r}: its sample size", one.name)
            require(size.fewest > 1 and size.units.strip(), "{} has a number above 1 and units", what)
            require(size.doc.strip().endswith("."), "{}: say in a sentence what happens with fewer", what)
    for one in scoring.aggregates:
        what = Message("aggregate {!r}", one.name)
        require(re.fullmatch(r"[a-z][a-z0-9_]*", one.name), "{}: a name has small letters, digits and _", what)
        require(one.name not in {*names, *(each.name for each in scoring.series)}, "{}: its name is taken", what)
        require(one.title.strip() and one.part.strip(), "{}: give a title and say what its metrics are", what)
        require(one.doc.strip().endswith("."), "{}: say in a sentence what it measures", what)
        require(one.metrics, "{} is made of no metric", what)
        for metric in one.metrics:
            require(metric in scoring.metrics, "{}: the environment has no metric {!r}", what, metric.name)
            require(
                metric.per is None, "{}: {!r} is a share of something, whose mean is not over items", what, metric.name
            )
    both = [one.name for one in scoring.aggregates]
    require(len(both) == len(set(both)), f"aggregates come twice: {both}")
