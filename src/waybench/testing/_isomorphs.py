"""Checks of isomorphic instances: other instances that are as difficult."""

import json

from waybench.core import IsomorphicSource
from waybench.testing._require import AnyEnvironment, Message, require, require_frozen
from waybench.testing._walks import items, play_name

_NUMBERS = (1, 2)


def check_isomorphs(environment: AnyEnvironment, level: int) -> None:
    """Isomorphic instances are of the same level, are read back from JSON, and give the oracle the same score."""
    if environment.items.isomorph is None:
        return
    headline = environment.scoring.metrics[0]
    originals = items(environment, level)
    new = 0
    for number in _NUMBERS:
        source = IsomorphicSource(
            environment.source(level=level), environment.items.isomorph, environment.items.prove, number
        )
        for original in originals:
            item, where = source.item(original.index), f"isomorph {number} of item {original.id}"
            instance = item.instance
            require_frozen(instance, Message(where))
            require(source.item(original.index) == item, f"{where}: two calls gave two instances")
            require(environment.items.level_of(instance) == level, f"{where}: it has another level")
            back = environment.item(json.loads(json.dumps(instance.to_json(), allow_nan=False)))
            require(back.instance == instance, f"{where}: the instance changes on its way through JSON")
            require(dict(back.proof) == dict(item.proof), f"{where}: from outside, it has another proof")
            scores = [headline.of(play_name(environment, each, "oracle").record()) for each in (original, item)]
            require(scores[0] == scores[1], f"{where}: the oracle's score is {scores[1]}, and {scores[0]} at the item")
            new += instance.hash != original.instance.hash
    require(new > 0, "isomorph returns the instances themselves, so that nothing is new")
