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
    ROUNDING_ERROR,
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

_ITEMS_OF_MEANS = 10
_ATTEMPTS_OF_MEANS = 2

SILENT = "silence at every second item"
_EXPLOITED_ITEMS = 8
_LONGEST_REPLY = 4_000  # characters of a reply
_MOVES = 100  # of a plan that wanders
_MOST_LISTED = 100  # legal actions of a reply that lists them
_MOST_REPEATED = 200  # lines of a reply that repeats actions
EXPLOIT_MARGIN = 0.1  # of the range from saying nothing to the oracle: by this an exploit is better than honest guesses
MOST_REPLIES = 12  # constant replies that are tried, at most
_ITEMS_OF_CONSTANTS = 8  # items whose first actions are tried as constant replies
_ACTIONS_OF_CONSTANTS = 12  # first actions of each of these items
_LONGEST_CONSTANT = 200  # characters of a constant reply
_HORIZON_LEVELS = 2  # the easiest ones, where guesses succeed most often
_HORIZON_ITEMS = 40
_FIRST_ITEMS = 8  # a player without a success at them plays no more items of the level


def check_players(environment: AnyEnvironment, level: int) -> None:
    """The oracle reaches the ceiling of the headline metric, the null player stays at its floor, others lie between.

    The oracle need not reach the ceiling in a game of chance, nor where the environment says that it is no ceiling
    (`oracle_is_ceiling`). Otherwise no player is better than the oracle on any item, and in a game of chance none is
    better on average. The null player need not be at the floor in a game of chance where an empty reply is an action.
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
            oracle_is_best = deterministic and (
                environment.players.oracle_is_ceiling is None
                or environment.players.oracle_is_ceiling(records["oracle"])
            )
            require(
                headline.per is None or headline.per(records["null"]) == headline.per(records["oracle"]),
                f"{where}: an empty reply changes the denominator of the headline metric {headline.name}; count it as "
                "a failure, and give a number that leaves it out a metric of its own",
            )
            null_player_acts = not deterministic and _has_any_action(records["null"])
            for player, wanted in (
                ("oracle", best if oracle_is_best else None),
                ("null", None if null_player_acts else worst),
            ):
                value = _defined_value(headline, records[player])
                is_expected = wanted is None or value is None or abs(value - float(wanted)) <= ROUNDING_ERROR
                require(is_expected, f"{where}: the {player} has {headline.name} {value}, not {wanted}")
            for player in ("random", "heuristic") if oracle_is_best else ():
                value, oracle_value = (_defined_value(headline, records[name]) for name in (player, "oracle"))
                require(
                    oracle_value is None or value is None or sign * value <= sign * oracle_value + ROUNDING_ERROR,
                    f"{where}: the {player} player has {headline.name} {value}, better than the oracle's "
                    f"{oracle_value}, which the environment calls the ceiling (oracle_is_ceiling)",
                )
    _require_order_of_means(environment, level, headline, sign)


def _has_any_action(record: EpisodeRecord) -> bool:
    """Return whether any reply of an episode was read as an action."""
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
    """Require that mean scores are ordered: saying nothing at most as good as other players, the oracle best.

    `sign` is 1 if higher values are better, otherwise -1.
    """
    mean: dict[str, float] = {}  # times `sign`
    options = dict(environment.playing.check_options)
    null_player_acts = False
    for player in SAMPLE_PLAYERS:
        records = [
            play_to_end(environment, item, policy(player), options, attempt=attempt).record()
            for item in first_items(environment, level, _ITEMS_OF_MEANS)
            for attempt in range(1, _ATTEMPTS_OF_MEANS + 1)
        ]
        if player == "null":
            null_player_acts = _has_any_action(records[0])
        if (value := _mean_of_defined([_defined_value(headline, record) for record in records])) is not None:
            mean[player] = sign * value
    require({"random", "oracle"} <= mean.keys(), f"{headline.name} is not defined for any episode of random or oracle")
    for player, value in mean.items():
        label = LazyMessage("mean {} of {}, {:g},", headline.name, player, sign * value)
        is_above_null = null_player_acts or value >= mean.get("null", value) - ROUNDING_ERROR
        require(is_above_null, "{} is worse than that of saying nothing", label)
        is_below_oracle = value <= mean["oracle"] + ROUNDING_ERROR
        require(is_below_oracle, "{} is better than the oracle's, {:g}", label, sign * mean["oracle"])
    require(mean["random"] < mean["oracle"], "a random player is as good as the oracle: the level tests nothing")


def _mean_of_defined(values: list[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def check_same_episode(environment: AnyEnvironment, level: int) -> None:
    """The same key, item and attempt give the same episode, byte for byte."""
    for name in ("random", "noisy-0.5"):
        for item in first_items(environment, level):
            first, second = (episode_of_player(environment, item, name).record().dumps() for _ in range(2))
            require(first == second, f"two episodes of {name} with the same key differ")


def _legal_replies(episode: AnyEpisode) -> list[str]:
    """Return the first 100 legal actions as replies."""
    play = episode.play
    legal_actions = islice(play.game.legal(episode.state), _MOST_LISTED)
    return [play.wording.render(action, episode.state) for action in legal_actions]


def _prompt_text(episode: AnyEpisode) -> str:
    """Return the messages to the player as one text."""
    return "\n".join(message.text for message in episode.messages if message.role != "assistant")


def _prompt_example(episode: AnyEpisode) -> str:
    """Return the last JSON object in the prompt, or the last text in quotation marks; "" if there is none."""
    text = _prompt_text(episode)
    start, end = text.rfind("{"), text.rfind("}")
    if 0 <= start < end:
        return text[start : end + 1]
    pieces = text.split('"')
    return pieces[-2] if len(pieces) > 2 else ""


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
        "one answer many times": lambda episode: "\n".join(_legal_replies(episode)[:1] * _MOST_REPEATED),
        "every action by turns": lambda episode: "\n".join((_legal_replies(episode) * 40)[:_MOST_REPEATED]),
        "one plan that wanders about": _wandering_plan,
        "a claim to have won": lambda episode: (
            'I win: the goal is reached. {"solved": true, "success": 1, "score": 100, "reward": 1} SOLVED. Score: 100'
        ),
        "an empty plan": lambda episode: '{"movements": [], "path": [], "answer": ""}',
        "empty brackets": lambda episode: "[]",
    }
)
"""Name -> a function from an episode to a reply that needs no knowledge of the game."""

_HONEST_GUESSES: Mapping[str, Callable[[AnyEpisode], str]] = MappingProxyType(
    {"first": lambda episode: _legal_replies(episode)[0], "last": lambda episode: _legal_replies(episode)[-1]}
)


class FunctionPolicy(Policy):
    """A player whose replies a function of the episode returns, cut to 4,000 characters."""

    def __init__(self, name: str, make_reply: Callable[[AnyEpisode], str]) -> None:
        self.name, self._make_reply = name, make_reply

    def reply(self, episode: AnyEpisode) -> str:
        """Return the function's reply."""
        return self._make_reply(episode)[:_LONGEST_REPLY]


class Exploited(NamedTuple):
    """The scores of replies that know nothing, in the headline metric.

    Attributes:
        guess: The best score of honest guesses: a random action, always the first and always the last legal one.
        oracle: The oracle's score.
        exploits: Name -> score, for each reply that is an exploit: it is clearly better than honest guesses.
    """

    guess: float
    oracle: float
    exploits: Mapping[str, float]


def play_exploits(environment: AnyEnvironment, level: int, options: Options) -> Exploited:
    """Play the first items of a level with each reply of `EXPLOITS`, and with honest guesses.

    A reply is an exploit if its mean score is better than that of every honest guess, and of saying nothing, by more
    than a tenth of the range from the worse of these two to the oracle. Silence at every second item is an exploit if
    the oracle's mean improves by as much where silent items, without a defined score, are left out of the mean.

    `options` are options of play, such as one of `option_combinations`.

    Raises:
        ContractError: If the headline metric is not defined for the oracle.
    """
    metric, items = environment.scoring.metrics[0], first_items(environment, level, _EXPLOITED_ITEMS)
    sign = -1 if metric.better == "lower" else 1

    def headline_values(player: Policy) -> list[float | None]:
        """Return a player's headline metric at each item."""
        return [metric.of(play_to_end(environment, item, player, options).record()) for item in items]

    guessers = [policy("random"), *(FunctionPolicy(name, reply) for name, reply in _HONEST_GUESSES.items())]
    guesses = [value for player in guessers if (value := _mean_of_defined(headline_values(player))) is not None]
    oracle_values, null_values = headline_values(policy("oracle")), headline_values(policy("null"))
    oracle, nothing = _mean_of_defined(oracle_values), _mean_of_defined(null_values)
    is_defined = oracle is not None and guesses
    require(is_defined, f"{metric.name} is not defined for any episode of the oracle, or of guesses")
    assert oracle is not None
    guess = max(guesses, key=lambda value: sign * value)
    if nothing is None:  # not defined for any silent episode
        nothing = metric.high if metric.better == "lower" else metric.low
    nothing = guess if nothing is None else nothing
    margin = EXPLOIT_MARGIN * max(sign * oracle - min(sign * guess, sign * nothing), 0.0) + ROUNDING_ERROR
    threshold = max(sign * guess, sign * nothing) + margin
    exploits: dict[str, float] = {}
    for name, reply in EXPLOITS.items():
        if name != "nothing":
            value = _mean_of_defined(headline_values(FunctionPolicy(name, reply)))
            if value is not None and sign * value > threshold:
                exploits[name] = value
    if sign * nothing > sign * guess + margin:
        exploits["nothing"] = nothing
    values = [*oracle_values]  # with silence at every second item
    values[1::2] = null_values[1::2]
    mean_of_defined = _mean_of_defined(values)
    mean_of_all = _mean_of_defined([nothing if value is None else value for value in values])
    if mean_of_defined is not None and mean_of_all is not None and sign * mean_of_defined > sign * mean_of_all + margin:
        exploits[SILENT] = mean_of_defined
    return Exploited(guess, oracle, exploits)


def constant_players(environment: AnyEnvironment, items: Iterable[Item[Any]], options: Options) -> list[Policy]:
    """Return players that give one reply in every turn, each another one of the most frequent first actions."""
    counts: Counter[str] = Counter()
    for item in islice(items, _ITEMS_OF_CONSTANTS):
        episode: AnyEpisode = Episode(environment, item, options)
        play = episode.play
        actions = islice(play.game.legal(episode.state), _ACTIONS_OF_CONSTANTS)
        # No set: the order of the actions decides between equally frequent ones, and sets are ordered by process.
        counts.update(dict.fromkeys(play.wording.render(action, episode.state) for action in actions).keys())
    replies = [reply for reply, _ in counts.most_common() if len(reply) <= _LONGEST_CONSTANT][:MOST_REPLIES]
    return [FunctionPolicy(f"constant {n}", lambda episode, reply=reply: reply) for n, reply in enumerate(replies)]


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

    A player that fails at all of the first eight items plays no more.
    """
    horizon = environment.difficulty.horizon
    source_options: Options = {} if horizon is None else dict(horizon.source_options)
    items = environment.source(level=level, protocol=str(options["protocol"]), **source_options).head(_HORIZON_ITEMS)
    players = [policy("random"), policy("null"), *constant_players(environment, items, options)]
    rates: dict[str, float] = {}
    for player in players:
        records = play_items(environment, items[:_FIRST_ITEMS], player, options)
        if any(map(environment.difficulty.is_success, records)):
            records = play_items(environment, items, player, options)
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
    options_by_protocol: dict[object, Options] = {
        options["protocol"]: options for options in reversed(option_combinations(environment))
    }
    for protocol, options in options_by_protocol.items():
        for level in levels[:_HORIZON_LEVELS]:
            for player, rate in uninformed_success_rates(environment, level, options).items():
                require(
                    rate <= 0.5,
                    f"{player} player at level {level} in {protocol!r} succeeds at {rate:.0%} of items: "
                    + _advice_against_luck(environment, level, options),
                )


def _advice_against_luck(environment: AnyEnvironment, level: int, options: Options) -> str:
    """Return advice for environments where players that ignore the prompt succeed, which completes the message."""
    play = play_with_options(environment, options)
    if play.limits.turns > 1:
        return "declare what a success is that shows competence (competent)"
    n_answers = len(play.game.legal(play.game.start(first_items(environment, level, 1)[0].instance)))
    return (
        f"of {n_answers} answers to choose from, guesses hit one so often; give more of them, ask for several at once, "
        "or leave the horizon out"
    )
