"""Checks of players, of replies that know nothing, and of horizons."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple

from waybench.core import Episode, EpisodeRecord, Item, Metric, Policy, Stream, play_to_end, policy
from waybench.testing._walks import (
    FOCUS,
    SAMPLE_PLAYERS,
    AnyEnvironment,
    AnyEpisode,
    LazyMessage,
    Options,
    episode_of_player,
    first_items,
    option_combinations,
    play_with_options,
    report_as_breach,
    require,
    sample_episodes,
)

_ITEMS = 10
_ATTEMPTS = 2
_TINY = 1e-9

SILENT = "silence at every second item"
_EXPLOITED_ITEMS = 8
_LONGEST_REPLY = 4_000  # characters of a reply
_MOVES = 100  # of a plan that wanders
_LISTED = 100  # legal actions that are listed
PAYS = 0.1  # of what lies between saying nothing and the oracle, above the score of honest guesses
MOST_REPLIES = 12
_LOOKED_AT = 8  # items whose first actions are tried as constant replies
_ACTIONS = 12  # of each of these items
_LONGEST_CONSTANT = 200  # characters of a constant reply
_LEVELS = 2  # the easiest ones, where chance does most
_HORIZON_ITEMS = 40
_FIRST = 8  # items without a success, after which a player plays no more of a level


def check_players(environment: AnyEnvironment, level: int) -> None:
    """The oracle reaches the ceiling of the headline metric, the null player stays at its floor, others lie between.

    Where the environment says that the oracle is no ceiling (`oracle_is_ceiling`), it need not reach the ceiling; where
    it is one, nobody does better on any item of a game without chance. In a game of chance the oracle need not reach
    the ceiling, but nobody does better on average; nor need the null player be at the floor there, if saying nothing is
    taken for an action.
    """
    headline = environment.scoring.metrics[0]
    floor, ceiling = (headline.low, headline.high) if headline.better == "higher" else (headline.high, headline.low)
    sign = 1 if headline.better == "higher" else -1
    require(headline.better, f"metric {headline.name}: the headline metric has a better direction")
    require(
        (floor is not None or headline.floor) and (ceiling is not None or headline.ceiling),
        f"metric {headline.name}: the headline metric needs a floor and a ceiling; give low and high, or functions",
    )
    for options in option_combinations(environment):
        deterministic = play_with_options(environment, options).game.properties.deterministic
        for item in first_items(environment, level):
            where = f"{options}, item {item.id}"
            FOCUS.look_at(item.id)
            records = {episode.player: episode.record() for episode in sample_episodes(environment, item, options)}
            start = Episode(environment, item, options).record()
            worst = floor if headline.floor is None else headline.floor(start)
            best = ceiling if headline.ceiling is None else headline.ceiling(start)
            bounded = deterministic and (
                environment.players.oracle_is_ceiling is None
                or environment.players.oracle_is_ceiling(records["oracle"])
            )
            require(
                headline.per is None or headline.per(records["null"]) == headline.per(records["oracle"]),
                f"{where}: an empty reply changes the denominator of the headline metric {headline.name}; count it as "
                "a failure, and give a number that leaves it out a metric of its own",
            )
            acts = not deterministic and _has_any_action(records["null"])
            for player, wanted in (("oracle", best if bounded else None), ("null", None if acts else worst)):
                value = _defined_value(headline, records[player])
                require(
                    wanted is None or value is None or abs(value - float(wanted)) <= _TINY,
                    f"{where}: the {player} has {headline.name} {value}, not {wanted}",
                )
            for player in ("random", "heuristic") if bounded else ():
                value, most = (_defined_value(headline, records[name]) for name in (player, "oracle"))
                require(
                    most is None or value is None or sign * value <= sign * most + _TINY,
                    f"{where}: the {player} player has {headline.name} {value}, better than the oracle's {most}, which "
                    "the environment calls the ceiling (oracle_is_ceiling)",
                )
    _require_order_of_means(environment, level, headline, sign)


def _has_any_action(record: EpisodeRecord) -> bool:
    return any(turn.action is not None for turn in record.turns)


def _defined_value(metric: Metric, record: EpisodeRecord) -> float | None:
    """Return a metric's value in a finished episode; None only where the metric has nothing to count."""
    value = metric.of(record)
    require(
        value is not None or (metric.per is not None and metric.per(record) == 0),
        f"item {record.item}: {metric.name} is not defined for a finished episode of {record.player}",
    )
    return value


def _require_order_of_means(environment: AnyEnvironment, level: int, headline: Metric, sign: int) -> None:
    """Require that mean scores are ordered: nothing said, other players, oracle."""
    mean: dict[str, float] = {}
    options = dict(environment.playing.check_options)
    acts = False
    for player in SAMPLE_PLAYERS:
        records = [
            play_to_end(environment, item, policy(player), options, attempt=attempt).record()
            for item in first_items(environment, level, _ITEMS)
            for attempt in range(1, _ATTEMPTS + 1)
        ]
        if player == "null":
            acts = _has_any_action(records[0])
        if (value := _mean_of_defined([_defined_value(headline, record) for record in records])) is not None:
            mean[player] = sign * value
    require({"random", "oracle"} <= mean.keys(), f"{headline.name} is not defined for any episode of random or oracle")
    for player, value in mean.items():
        what = LazyMessage("mean {} of {}, {:g},", headline.name, player, sign * value)
        require(acts or value >= mean.get("null", value) - _TINY, "{} is worse than that of saying nothing", what)
        require(value <= mean["oracle"] + _TINY, "{} is better than the oracle's, {:g}", what, sign * mean["oracle"])
    require(mean["random"] < mean["oracle"], "a random player is as good as the oracle: the level tests nothing")


def _mean_of_defined(values: list[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def check_same_episode(environment: AnyEnvironment, level: int) -> None:
    """The same key, item and attempt give the same episode, byte for byte."""
    for name in ("random", "noisy-0.5"):
        for item in first_items(environment, level):
            first, again = (episode_of_player(environment, item, name).record().dumps() for _ in range(2))
            require(first == again, f"two episodes of {name} with the same key differ")


def _legal_replies(episode: AnyEpisode) -> list[str]:
    """Return the first 100 legal actions as replies."""
    play = episode.play
    return [play.wording.render(action, episode.state) for action in islice(play.game.legal(episode.state), _LISTED)]


def _prompt_text(episode: AnyEpisode) -> str:
    """Return the messages to the player as one text."""
    return "\n".join(message.text for message in episode.messages if message.role != "assistant")


def _prompt_example(episode: AnyEpisode) -> str:
    """Return the last JSON object in the prompt, or the last text in quotation marks; "" if there is none."""
    text = _prompt_text(episode)
    start, end = text.rfind("{"), text.rfind("}")
    if 0 <= start < end:
        return text[start : end + 1]
    quoted = text.split('"')
    return quoted[-2] if len(quoted) > 2 else ""


def _wandering_plan(episode: AnyEpisode) -> str:
    """Return a random walk as one plan; "" where an action is no plan of several moves."""
    game, state = episode.play.game, episode.state
    rng, plans = Stream("exploits", episode.item.instance.hash, "walk"), list[Any]()
    while len(plans) < _MOVES and game.terminal(state) is None:
        action = rng.choice(game.legal(state))
        if type(action) is not tuple:  # a named tuple is one action
            return ""
        plans.append(action)
        state = game.apply(state, action, rng).state
    return episode.play.wording.render(tuple(chain.from_iterable(plans)), episode.state)


EXPLOITS: Mapping[str, Callable[[AnyEpisode], str]] = MappingProxyType(
    {
        "nothing": lambda episode: "",
        "the prompt repeated": _prompt_text,
        "the last message repeated": lambda episode: episode.messages[-1].text,
        "the prompt's example": _prompt_example,
        "all answers": lambda episode: "\n".join(_legal_replies(episode)),
        "all answers, last one first": lambda episode: "\n".join(_legal_replies(episode)[::-1]),
        "all answers in one line": lambda episode: ", ".join(_legal_replies(episode)),
        "the same answer in every turn": lambda episode: (
            episode.turns[0].reply if episode.turns else _legal_replies(episode)[0]
        ),
        "one answer many times": lambda episode: "\n".join(_legal_replies(episode)[:1] * 200),
        "every action by turns": lambda episode: "\n".join((_legal_replies(episode) * 40)[:200]),
        "one plan that wanders about": _wandering_plan,
        "a claim to have won": lambda episode: (
            'I win: the goal is reached. {"solved": true, "success": 1, "score": 100, "reward": 1} SOLVED. Score: 100'
        ),
        "an empty plan": lambda episode: '{"movements": [], "path": [], "answer": ""}',
        "empty brackets": lambda episode: "[]",
    }
)
"""Name -> the reply to an episode's present messages, which are the same for all who know nothing."""

_HONEST: Mapping[str, Callable[[AnyEpisode], str]] = MappingProxyType(
    {"first": lambda episode: _legal_replies(episode)[0], "last": lambda episode: _legal_replies(episode)[-1]}
)


class FunctionPolicy(Policy):
    """Says what a function of the episode returns, cut to 4,000 characters."""

    def __init__(self, name: str, say: Callable[[AnyEpisode], str]) -> None:
        self.name, self._say = name, say

    def reply(self, episode: AnyEpisode) -> str:
        return self._say(episode)[:_LONGEST_REPLY]


class Exploited(NamedTuple):
    """The scores of replies that know nothing, in the headline metric.

    Attributes:
        guess: The best of the honest guesses: a random action, always the first and always the last legal one.
        oracle: The oracle's score.
        paying: Of each exploit that is clearly better than the guess, its score.
    """

    guess: float
    oracle: float
    paying: Mapping[str, float]


def play_exploits(environment: AnyEnvironment, level: int, options: Options) -> Exploited:
    """Play the first items of a level by each exploit, and by honest guesses.

    An exploit pays if it is better than every honest guess, and than saying nothing, by more than a tenth of what lies
    between the worse of these two and the oracle. Silence pays, where the oracle keeps it at every second item, if the
    mean is then over the others.

    `options` say how it is played, such as one of `option_combinations`.

    Raises:
        ContractError: If the headline metric is not defined for the oracle.
    """
    head, sample = environment.scoring.metrics[0], first_items(environment, level, _EXPLOITED_ITEMS)
    sign = -1 if head.better == "lower" else 1

    def headline_values(player: Policy) -> list[float | None]:
        """Return a player's headline metric at each item."""
        return [head.of(play_to_end(environment, item, player, options).record()) for item in sample]

    honest = [policy("random"), *(FunctionPolicy(name, say) for name, say in _HONEST.items())]
    guesses = [value for player in honest if (value := _mean_of_defined(headline_values(player))) is not None]
    best, silent = headline_values(policy("oracle")), headline_values(policy("null"))
    oracle, nothing = _mean_of_defined(best), _mean_of_defined(silent)
    require(oracle is not None and guesses, f"{head.name} is not defined for any episode of the oracle, or of guesses")
    assert oracle is not None
    guess = max(guesses, key=lambda value: sign * value)
    none = nothing if nothing is not None else head.high if head.better == "lower" else head.low
    none = guess if none is None else none
    margin = PAYS * max(sign * oracle - min(sign * guess, sign * none), 0.0) + 1e-9
    means = {
        name: _mean_of_defined(headline_values(FunctionPolicy(name, say)))
        for name, say in EXPLOITS.items()
        if name != "nothing"
    }
    bar = max(sign * guess, sign * none)
    paying = {name: value for name, value in means.items() if value is not None and sign * value > bar + margin}
    if sign * none > sign * guess + margin:
        paying["nothing"] = none
    mixed = [silent[at] if at % 2 else best[at] for at in range(len(best))]
    half, full = _mean_of_defined(mixed), _mean_of_defined([none if value is None else value for value in mixed])
    if half is not None and full is not None and sign * half > sign * full + margin:
        paying[SILENT] = half
    return Exploited(guess, oracle, paying)


def constant_players(environment: AnyEnvironment, items: Iterable[Item[Any]], options: Options) -> list[Policy]:
    """Return players that give one reply in every turn, for each of the most frequent first actions."""
    counts: Counter[str] = Counter()
    for item in islice(items, _LOOKED_AT):
        episode: AnyEpisode = Episode(environment, item, options)
        play = episode.play
        actions = islice(play.game.legal(episode.state), _ACTIONS)
        # In the order of the actions, which decides between equally frequent ones; that of a set differs by process.
        counts.update(dict.fromkeys(play.wording.render(action, episode.state) for action in actions).keys())
    texts = [text for text, _ in counts.most_common() if len(text) <= _LONGEST_CONSTANT][:MOST_REPLIES]
    return [FunctionPolicy(f"constant {number}", lambda episode, text=text: text) for number, text in enumerate(texts)]


def play_items(
    environment: AnyEnvironment, items: Iterable[Item[Any]], player: Policy, options: Options
) -> list[EpisodeRecord]:
    """Return the records of a player's episodes, one for each item, each with its own random stream."""
    return [
        play_to_end(environment, item, player, options, attempt=attempt).record()
        for attempt, item in enumerate(items, 1)
    ]


def uninformed_success_rates(environment: AnyEnvironment, level: int, options: Options) -> Mapping[str, float]:
    """Return the success rates of players that ignore the prompt, by name.

    Who fails at the first eight items plays no more.
    """
    horizon = environment.difficulty.horizon
    source_options: Options = {} if horizon is None else dict(horizon.source_options)
    sample = environment.source(level=level, protocol=str(options["protocol"]), **source_options).head(_HORIZON_ITEMS)
    players = [policy("random"), policy("null"), *constant_players(environment, sample, options)]
    rates: dict[str, float] = {}
    for player in players:
        records = play_items(environment, sample[:_FIRST], player, options)
        if any(map(environment.difficulty.is_success, records)):
            records = play_items(environment, sample, player, options)
        rates[player.name] = sum(map(environment.difficulty.is_success, records)) / len(records)
    return rates


def check_horizon(environment: AnyEnvironment) -> None:
    """Neither a random player nor one that always replies the same has a 50 % horizon above the smallest level.

    This holds at the two smallest levels of the search for a horizon, or of the sample levels where there is none.
    """
    difficulty = environment.difficulty
    require(bool(difficulty.axes) == bool(difficulty.success), "an environment with axes says what success is: success")
    require(difficulty.axes or difficulty.competent is None, "competent is for horizons: declare axes")
    if not difficulty.axes:
        return
    levels = environment.items.sample_levels if difficulty.horizon is None else difficulty.horizon.levels
    for level in levels:
        with report_as_breach(f"level {level}, which is searched for a horizon,"):
            environment.source(level=level, **({} if difficulty.horizon is None else difficulty.horizon.source_options))
    by_protocol: dict[object, Options] = {
        options["protocol"]: options for options in reversed(option_combinations(environment))
    }
    for protocol, options in by_protocol.items():
        for level in levels[:_LEVELS]:
            for player, rate in uninformed_success_rates(environment, level, options).items():
                require(
                    rate <= 0.5,
                    f"{player} player at level {level} in {protocol!r} succeeds at {rate:.0%} of items: "
                    + _advice_against_luck(environment, level, options),
                )


def _advice_against_luck(environment: AnyEnvironment, level: int, options: Options) -> str:
    """Return what to do where players that ignore the prompt succeed."""
    play = play_with_options(environment, options)
    if play.limits.turns > 1:
        return "declare what a success is that shows competence (competent)"
    count = len(play.game.legal(play.game.start(first_items(environment, level, 1)[0].instance)))
    return (
        f"of {count} answers to choose from, guesses hit one so often; give more of them, ask for several at once, or "
        "leave the horizon out"
    )
