"""An episode of one player on one instance: the only stateful part of core."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic

from waybench.core._conversation import Conversation
from waybench.core._environment import PLAY_EXTENSIONS, Environment, I
from waybench.core._errors import WaybenchError, defect_error, is_environment_defect
from waybench.core._game import A, End, Json, Outcome, S, Stream, Transition
from waybench.core._items import Item
from waybench.core._questions import Belief
from waybench.core._record import EpisodeRecord, ProbeRecord, TurnRecord, Usage
from waybench.core._replies import split_reasoning
from waybench.core._wording import Invalid, Message, Wording


@dataclass(frozen=True, slots=True)
class Reply:
    """A player's reply.

    Attributes:
        text: The raw reply.
        stop: "stop"; "truncated" if the player ran into its output limit; "overflow" if the conversation was longer
            than the player can read, and the text may be the provider's own; "refused" if it or its provider declined.
        usage: Tokens and time, if known.
    """

    text: str
    stop: str = "stop"
    usage: Usage | None = None


# `Reply.stop` -> the outcome of a reply that was not carried out.
NOT_CARRIED_OUT = {"truncated": Outcome.TRUNCATED, "overflow": Outcome.OVERFLOW, "refused": Outcome.REFUSED}

ABANDONED = "abandoned: the player left before the end"
_NO_CHANCE = Stream("no chance")
_ILLEGAL = Outcome.ILLEGAL
_COACHED: Mapping[str, Json] = MappingProxyType({"coached": True})


class Episode(Generic[I, S, A]):
    """Plays one instance turn by turn and keeps the record.

    Args:
        environment: What is played.
        item: The instance, with its place in a set.
        options: Options of play; missing ones get their defaults.
        attempt: Number of this attempt at the item, from 1; stochastic games differ between attempts.
        player: Name for the record.
        plays_prefix: Whether the turns of the options' prefix, if they have one, are played at once; otherwise
            `play_prefix_turn` plays them.

    Raises:
        UsageError: For a wrong option, for examples of more than 4 million characters, for examples in a wording with
            pictures, and for a prefix where a teacher plays or where there is only one turn.
        DefectError: If the environment's code raises an exception.
    """

    __slots__ = (
        "_conversation",
        "_game",
        "_is_deterministic",
        "_n_invalid_in_a_row",
        "_n_turns_counted",
        "_prefix",
        "_probes",
        "_rewrites",
        "_stream",
        "_turns",
        "_wording",
        "attempt",
        "end_reason",
        "environment",
        "error",
        "item",
        "limits",
        "options",
        "play",
        "player",
        "reasoning_returned",
        "reasoning_sent_back",
        "state",
    )

    def __init__(
        self,
        environment: Environment[I, S, A],
        item: Item[I],
        options: Mapping[str, Json] | None = None,
        *,
        attempt: int = 1,
        player: str = "",
        plays_prefix: bool = True,
    ) -> None:
        self.environment = environment
        self.item = item
        self.attempt = attempt
        self.player = player
        try:
            self._start(options or {}, plays_prefix)
        except Exception as error:
            if is_environment_defect(error):
                raise defect_error(environment.id, error) from error
            raise

    def _start(self, options: Mapping[str, Json], plays_prefix: bool) -> None:
        """Set up the first state and the conversation, and play the prefix."""
        environment, item = self.environment, self.item
        self.options = environment.resolve_options(options)
        for extension in PLAY_EXTENSIONS:
            if extension.for_item is not None:
                self.options = extension.for_item(environment, item, self.options, self.attempt)
        self.play = play = environment.play_with(self.options)
        self.limits = play.limits_on(item.instance)
        self._game, self._wording = play.game, play.wording
        self._is_deterministic = play.game.properties.deterministic
        # Most wordings show replies unchanged, and to call `remember` in each turn takes time.
        self._rewrites = type(play.wording).remember is not Wording.remember  # pyright: ignore[reportUnknownMemberType]
        self.state: S = play.game.start(item.instance)
        self.end_reason: End | None = play.game.terminal(self.state)
        self.error: str | None = None
        self.reasoning_returned = self.reasoning_sent_back = ""  # set by the program that sends the requests
        self._stream: Stream | None = None
        self._turns: list[TurnRecord] = []
        self._probes: list[ProbeRecord] = []
        self._n_invalid_in_a_row = 0
        self._n_turns_counted = 0  # towards the limit
        self._conversation = Conversation(environment, item, play, self.options, self.state)
        self._prefix = iter(() if play.prefix_turns is None else play.prefix_turns(self))
        while plays_prefix and self.play_prefix_turn() is not None:
            pass

    def play_prefix_turn(self) -> TurnRecord | None:
        """Play the next turn of the prefix and return it; None if there is none left."""
        player_and_reply = next(self._prefix, None)
        if player_and_reply is None:
            return None
        player, reply = player_and_reply
        self._turns[-1] = turn = self.step(reply)._replace(prefix=player)
        return turn

    @property
    def default_opening(self) -> tuple[Message, ...]:
        """The opening in the default form of `Wording.prompt`, at the start of an episode."""
        return self._conversation.default_opening()

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.end_reason is not None

    @property
    def turns(self) -> tuple[TurnRecord, ...]:
        """The turns so far."""
        return tuple(self._turns)

    @property
    def probes(self) -> tuple[ProbeRecord, ...]:
        """The belief probes so far, with their answers."""
        return tuple(self._probes)

    @property
    def turns_left(self) -> int:
        """The number of turns left; invalid replies do not count where the limits forgive them."""
        return self.limits.turns - self._n_turns_counted

    @property
    def messages(self) -> list[Message]:
        """The next prompt as chat turns, cut as the wording's memory says."""
        return self._conversation.prompt_messages(self._turns, self.state)

    def stream(self, purpose: str) -> Stream:
        """Return a random stream for one purpose in the present turn of this attempt."""
        if self._stream is None:  # made on demand: an episode without chance saves the hash of its instance
            self._stream = Stream(self.environment.id, self.item.instance.hash, "attempt", self.attempt, "turn")
        return self._stream.child(len(self._turns), purpose)

    def step(self, reply: Reply | str, execute: A | None = None) -> TurnRecord:
        """Play one turn with a player's reply, and return it.

        Args:
            reply: What the player said.
            execute: An action that is carried out in place of the reply's; by default the action of the play's guide,
                if it has one.

        Raises:
            WaybenchError: If the episode is over.
            DefectError: If the environment's code raises an exception.
        """
        if self.end_reason is not None:
            raise WaybenchError(f"the episode is over ({self.end_reason}): start a new one")
        try:
            return self._step_with_reply(reply, execute)
        except Exception as error:
            if is_environment_defect(error):
                defect = defect_error(self.environment.id, error)
                defect.reply = reply if isinstance(reply, str) else reply.text
                raise defect from error
            raise

    def _step_with_reply(self, reply: Reply | str, execute: A | None) -> TurnRecord:
        """Play one turn, without the check for the end and the conversion of errors of `step`."""
        play, state = self.play, self.state
        text, stop, usage = (reply, "stop", None) if isinstance(reply, str) else (reply.text, reply.stop, reply.usage)
        answer, reasoning = play.reply_parts(text)
        parsed = self._parse_answer(answer, stop)
        if execute is None and play.guide is not None:
            execute = play.guide(state, self.stream("guide"), self._turns)
        if execute is not None:
            remembered = self._wording.render(execute, state)
        else:
            remembered = self._wording.remember(text, parsed) if self._rewrites else text
        is_refused = is_invalid = False
        if execute is not None:
            turn = self._carry_out_replacement(text, parsed, execute, usage)
        elif isinstance(parsed, Invalid):
            turn, is_invalid = self._take_invalid_reply(text, parsed, usage), True
        elif play.coach is not None and (objection := play.coach(state, parsed, self._turns)) is not None:
            turn, is_refused = self._turn_refused_by_coach(text, parsed, objection, usage), True
        else:
            turn = self._carry_out_action(text, parsed, usage)
            is_invalid = turn.outcome is _ILLEGAL and self.limits.illegal
        if reasoning:
            turn = turn._replace(reasoning=reasoning)
        if remembered != text:
            self._conversation.replaced[len(self._turns)] = remembered
        self._turns.append(turn)
        if is_refused:  # it counts towards no limit
            return turn
        if is_invalid:
            self._end_at_invalid_limit()
        else:
            self._n_invalid_in_a_row = 0
        if self.end_reason is None:
            self.end_reason = self._game.terminal(self.state)
            if self.end_reason is None and self._n_turns_counted >= self.limits.turns:
                self.end_reason = End.TURN_LIMIT
        if self.end_reason is not None:
            self._conversation.drop_picture_at_end(len(self._turns))
        return turn

    @property
    def beliefs(self) -> tuple[Belief[S], ...]:
        """The belief probes that can be asked now; () where the wording may hide what they ask for (`takes_probes`)."""
        if self.end_reason is not None or not self.play.takes_probes:
            return ()
        return tuple(belief for belief in self.environment.probes if belief.is_shown(self.options, self.state))

    def probe(self, belief: Belief[S], reply: Reply | str) -> ProbeRecord:
        """Record the answer to a belief probe and return the probe; the episode's state does not change.

        Args:
            belief: One of `beliefs`.
            reply: The player's reply; a reply that was cut off is read as far as it goes.

        Raises:
            WaybenchError: If the belief is not asked in this state, or was asked before in this turn.
        """
        if belief not in self.beliefs:
            raise WaybenchError(f"the probe {belief.name!r} is not asked in this state")
        turn = len(self._turns)
        if any(probe.turn == turn and probe.name == belief.name for probe in self._probes[-len(self.beliefs) :]):
            raise WaybenchError(f"the probe {belief.name!r} was asked before in this turn")
        text, usage = (reply, None) if isinstance(reply, str) else (reply.text, reply.usage)
        answer_text = split_reasoning(text, self.play.think_tags).answer
        expected, answer = belief.expected(self.state), belief.parse(answer_text)
        if isinstance(answer, Invalid):
            probe = ProbeRecord(turn, belief.name, belief.text, text, answer.reason, expected=expected, usage=usage)
        else:
            share = None if belief.share is None else float(belief.share(expected, answer))
            correct = answer == expected
            probe = ProbeRecord(turn, belief.name, belief.text, text, None, answer, expected, correct, share, usage)
        self._probes.append(probe)
        return probe

    def _parse_answer(self, text: str, stop: str) -> A | Invalid:
        """Return the action in a reply, or why there is none; `stop` is the `Reply.stop` of the reply.

        A reply that was cut off or refused has none, unless the wording reads truncated replies.
        """
        if stop not in NOT_CARRIED_OUT:
            return self._wording.parse(text, self.state)
        invalid = Invalid(self._wording.texts[f"stop.{stop}"], NOT_CARRIED_OUT[stop])
        if stop == "truncated" and self._wording.takes_truncated(self.state):
            parsed = self._wording.parse(text, self.state)
            return invalid if isinstance(parsed, Invalid) else parsed
        return invalid

    def _take_invalid_reply(self, text: str, invalid: Invalid, usage: Usage | None) -> TurnRecord:
        """Return the turn of a reply without an action, and count it as the limits say."""
        self._n_turns_counted += self.limits.invalid == "turn"
        self.state = self._game.forfeit(self.state)
        message = self._message_after_reply(invalid)
        return TurnRecord(text, invalid.outcome, invalid.reason, message=message, usage=usage)

    def _turn_refused_by_coach(self, text: str, action: A, objection: str, usage: Usage | None) -> TurnRecord:
        """Return the turn of an action that the coach has refused; the state does not change."""
        encoded, why = self._game.encode(action), "The coach has refused it."
        return TurnRecord(text, Outcome.UNPRODUCTIVE, why, encoded, events=_COACHED, message=objection, usage=usage)

    def _carry_out_action(self, text: str, action: A, usage: Usage | None) -> TurnRecord:
        """Apply an action to the state and return the turn."""
        game = self._game
        transition = game.apply(self.state, action, self._game_stream())
        self.state, reward, events, outcome = transition
        is_forgiven = outcome is _ILLEGAL and self.limits.illegal and self.limits.invalid != "turn"
        if not is_forgiven:
            self._n_turns_counted += 1
        encoded, message = game.encode(action), self._message_after_reply(transition)
        # `_make` takes half the time of a call with named arguments.
        return TurnRecord._make((text, outcome, None, encoded, None, reward, events, message, usage, "", ""))

    def _message_after_reply(self, last: Transition[S] | Invalid) -> str:
        """Return the message to the player on the outcome of a reply, and keep its picture."""
        if self._conversation.has_pictures:
            self._conversation.keep_picture(len(self._turns) + 1, self.state, last, self._n_turns_counted)
        return self._wording.observe(self.state, last, self._n_turns_counted)

    def _game_stream(self) -> Stream:
        """Return the random stream of the game in this turn."""
        # The contract tests check that a game that declares itself deterministic ignores its stream.
        return _NO_CHANCE if self._is_deterministic else self.stream("game")

    def _carry_out_replacement(self, text: str, parsed: A | Invalid, execute: A, usage: Usage | None) -> TurnRecord:
        """Apply `execute` in place of the parsed action and return the turn.

        The turn's outcome is that of the parsed action in the same state; reward and events are those of `execute`.
        """
        game, state_before = self.play.game, self.state
        transition = game.apply(state_before, execute, self._game_stream())
        self._n_turns_counted += 1
        self.state, reward, events, _ = transition
        if isinstance(parsed, Invalid):
            outcome, reason, action = parsed.outcome, parsed.reason, None
        else:
            outcome = game.apply(state_before, parsed, self._game_stream()).outcome
            reason, action = None, game.encode(parsed)
        message = self._message_after_reply(transition)
        executed = game.encode(execute)
        return TurnRecord(text, outcome, reason, action, executed, reward, events, message, usage)

    def _end_at_invalid_limit(self) -> None:
        """Count an invalid reply, and end the episode if there are too many in a row."""
        limits = self.limits
        self._n_invalid_in_a_row += 1
        is_over = limits.invalid == "end" or (limits.invalid == "retry" and self._n_invalid_in_a_row > limits.retries)
        if is_over:
            self.end_reason = End.INVALID_LIMIT

    def end(self, reason: End, error: str | None = None) -> None:
        """End the episode from outside.

        Args:
            reason: INFRASTRUCTURE, or TURN_LIMIT for a budget of the caller's.
            error: The reason as text; without it the record does not replay, since nothing in it explains the end.
        """
        self.end_reason = reason
        self.error = error

    def abandon(self) -> None:
        """End an episode that its player leaves before the end: it counts as one whose turns ran out."""
        self.end(End.TURN_LIMIT, ABANDONED)

    def record(self) -> EpisodeRecord:
        """Return the record of the episode so far."""
        environment, item = self.environment, self.item
        return EpisodeRecord(
            env=environment.id,
            env_version=environment.version,
            options=self.options,
            instance=item.instance.to_json(),
            instance_hash=item.instance.hash,
            item={"id": item.id, "level": item.level, "key": item.key_label, "index": item.index},
            proof=item.proof,
            examples=tuple(example.to_json() for example in item.examples),
            attempt=self.attempt,
            player=self.player,
            # Pictures are left out: they follow from the instance and the replies.
            opening=tuple(message._replace(picture=None) for message in self._conversation.opening),
            turns=self.turns,
            probes=self.probes,
            reasoning_returned=self.reasoning_returned,
            reasoning_sent_back=self.reasoning_sent_back,
            end=self.end_reason,
            error=self.error,
        )


AnyEpisode = Episode[Any, Any, Any]
