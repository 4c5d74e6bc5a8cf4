"""The page of one attempt: messages and what they repeat, actions, outcomes and belief probes."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import NamedTuple, cast

from waybench.core import THINK_TAGS, End, Json, Outcome, ProbeRecord, TurnRecord, Usage, split_reasoning
from waybench.core._prefix import RECORDED
from waybench.envs import registry
from waybench.reporting._episode_store import Said, SharedPrefix, StoredEpisode, prompt_messages
from waybench.reporting._format import (
    LONGEST_MESSAGE,
    LONGEST_REPLY,
    LONGEST_UNSENT,
    OPENING_OF_AN_EPISODE,
    PROMPT_OF_AN_EPISODE,
    REPLIES_OF_A_PAGE,
    SHORT,
    Excerpt,
    characters_per_text,
    excerpt,
)
from waybench.reporting._replays import play_command, view_command
from waybench.results.formatting import visible
from waybench.results.logs import is_human
from waybench.results.results import group_by


@dataclass(frozen=True, slots=True)
class Probe:
    """A belief probe.

    Attributes:
        title: The title of the state in question.
        verdict: "known", "wrong" or "no answer".
        expected: The right answer.
        reason: Why no answer could be read; "" if an answer was read.
    """

    title: str
    verdict: str
    question: str
    reply: Excerpt
    expected: Excerpt
    reason: str = ""


def probes_by_turn(played: StoredEpisode) -> dict[int, list[Probe]]:
    """Return the belief probes of an episode by the turn, from 0, before whose reply they were asked."""
    record = played.episode.record
    titles = {belief.name: belief.title for belief in registry.load(record.env).probes}
    longest = characters_per_text(REPLIES_OF_A_PAGE, max(len(record.probes), 1), LONGEST_UNSENT)

    def probe_view(probe: ProbeRecord) -> Probe:
        wrong_or_none = "wrong" if probe.reason is None else "no answer"
        return Probe(
            titles.get(probe.name, probe.name[:40]),
            "known" if probe.correct else wrong_or_none,
            probe.question[:LONGEST_UNSENT],
            excerpt(probe.reply, longest),
            excerpt(_value_text(probe.expected), longest),
            (probe.reason or "")[:LONGEST_UNSENT],
        )

    by_turn = group_by(record.probes, lambda probe: probe.turn)
    return {turn: [probe_view(probe) for probe in probes] for turn, probes in by_turn.items()}


def _value_text(value: Json) -> str:
    """Return a value as text: a list of texts, such as a drawing, line by line, and other values as JSON."""
    rows = cast(Sequence[Json], value if isinstance(value, list | tuple) else ())
    if rows and all(isinstance(row, str) for row in rows):
        return "\n".join(rows)
    return json.dumps(value, default=str)


_PARAGRAPH = re.compile(r".*?\n(?:[ \t]*\n)+|.+\Z", re.DOTALL)
_MOST_UNITS = 400  # paragraphs or lines of a message; comparing takes the product of two messages' numbers of units


class Divided(NamedTuple):
    """A message, split at its long parts that repeat an earlier message.

    Attributes:
        parts: Pairs of the new text before a repeated part, which can be "", and the repeated part.
        rest: The new text after the last repeated part.
    """

    parts: list[tuple[str, str]]
    rest: str


def split_at_repeats(earlier: str, message: str) -> Divided:
    """Split a message at the runs of paragraphs that repeat an earlier message; all parts together are the message.

    Prompts repeat a history without its oldest steps, and with other numbers or headings, so that a repeated run can
    begin anywhere in both messages. A message without paragraphs is split by lines, at the longest run alone. Runs of
    at most `SHORT` characters count as new. A message without any new text is not split.
    """
    new = _PARAGRAPH.findall(message)
    has_paragraphs = len(new) > 1
    if has_paragraphs:
        old = _PARAGRAPH.findall(earlier)
    else:
        old, new = earlier.splitlines(keepends=True), message.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_UNITS:
        return Divided([], message)
    matcher = SequenceMatcher(None, [unit.rstrip() for unit in old], [unit.rstrip() for unit in new], autojunk=False)
    runs = [(block.b, block.b + block.size) for block in matcher.get_matching_blocks()]
    lengths = {(start, stop): sum(map(len, new[start:stop])) for start, stop in runs}  # in characters
    if not has_paragraphs:
        longest_run = max(runs, key=lengths.__getitem__)
        runs = [] if _cuts_a_map(new, *longest_run) else [longest_run]
    parts: list[tuple[str, str]] = []
    end = 0
    for start, stop in runs:
        if lengths[start, stop] > SHORT:
            parts.append(("".join(new[end:start]), "".join(new[start:stop])))
            end = stop
    rest = "".join(new[end:])
    has_new_text = rest or any(new_text for new_text, _ in parts)
    return Divided(parts, rest) if has_new_text else Divided([], message)


def _cuts_a_map(lines: Sequence[str], start: int, stop: int) -> bool:
    """Return whether a run of lines starts or stops between two rows of a map, which are lines of the same length."""
    return start > 0 and any(
        len(lines[row - 1].rstrip()) == len(lines[row].rstrip()) > 1 for row in (start, stop) if row < len(lines)
    )


ENDS = {
    End.SOLVED: "solved",
    End.FAILED: "failed",
    End.TURN_LIMIT: "out of turns",
    End.INVALID_LIMIT: "too many invalid replies",
    End.INFRASTRUCTURE: "infrastructure error",
}


@dataclass(frozen=True, slots=True)
class ConversationView:
    """The messages of an episode.

    Attributes:
        prompt: The first messages to the player.
        elsewhere: Whether a long beginning of the prompt is left out, which the page of results shows once for all.
        exchanges: Each reply with its answer.
        model: The word for the player: "Model" or "Person".
    """

    prompt: list[Said]
    elsewhere: bool
    exchanges: list[tuple[Said, Said]]
    model: str = "Model"


def conversation_view(played: StoredEpisode, shared: SharedPrefix) -> ConversationView:
    """Return the messages of an episode; `shared` is the prefix of its prompt that the results page shows."""
    opening = played.episode.record.opening
    elsewhere = shared.characters > OPENING_OF_AN_EPISODE
    prefix = shared if elsewhere else SharedPrefix()
    longest = characters_per_text(PROMPT_OF_AN_EPISODE, len(opening), OPENING_OF_AN_EPISODE)
    player = "Person" if is_human(played.row.group.model) else "Model"
    prompt = prompt_messages(played.episode.record, prefix, longest)
    return ConversationView(prompt, elsewhere, _exchanges(played, player), player)


def repeated_fold_texts(conversation: ConversationView) -> list[str]:
    """Return the folded texts of answers that repeat earlier messages, in the order of the page."""
    folds = [fold for _, answer in conversation.exchanges for _, fold in answer.folds]
    return [visible(fold.text) for fold in folds]


@dataclass(frozen=True, slots=True)
class EpisodeSource:
    """The source of an episode.

    Attributes:
        commands: Pairs of a command's purpose and the command.
        log: File name of its log.
        sample: Id of its sample in the log, and the epoch if it is not the first.
    """

    commands: list[tuple[str, str]]
    log: str
    sample: str


def episode_source(played: StoredEpisode) -> EpisodeSource:
    """Return the log and sample of an episode, and the commands that reproduce it."""
    row, episode = played.row, played.episode
    commands = [] if row.origin is None else [("Run the task", row.origin.command)]
    commands.append(("Play this item", play_command(row)))
    if view := view_command(row):
        commands.append(("Open the logs in Inspect's viewer, in the folder above that of the logs", view))
    epoch = f", epoch {episode.epoch}" if episode.epoch > 1 else ""
    return EpisodeSource(commands, PurePosixPath(row.log.replace("\\", "/")).name, f"{episode.sample}{epoch}")


def end_text(played: StoredEpisode) -> str:
    """Return how an episode ended, in words."""
    record = played.episode.record
    end = ENDS[record.end] if record.end else "no end"
    return f"{end}, by the teacher" if played.row.guided and record.end is End.SOLVED else end


def _exchanges(played: StoredEpisode, player_name: str) -> list[tuple[Said, Said]]:
    """Return each reply of an episode, by a player of this name, with the environment's answer."""
    record = played.episode.record
    longest_reply = characters_per_text(REPLIES_OF_A_PAGE, len(record.turns), LONGEST_REPLY)
    last_message = last_long_message = record.opening[-1].text if record.opening else ""
    exchanges: list[tuple[Said, Said]] = []
    for index, turn in enumerate(record.turns):
        reply = _reply_message(played, index, player_name, longest_reply)
        is_unsent = index == len(record.turns) - 1 and not played.row.error
        if turn.message == last_message and len(turn.message) > SHORT:
            parts, new_text = Divided([], "(The same as before.)")
        else:
            parts, new_text = split_at_repeats(last_long_message, turn.message)
        unsent = " (not sent, the attempt was over)" if is_unsent else ""
        longest_message = LONGEST_UNSENT if is_unsent else LONGEST_MESSAGE
        answer = Said(
            "answer",
            f"Environment{unsent}",
            excerpt(new_text, longest_message),
            folds=[(before.strip("\n"), excerpt(repeated, longest_message)) for before, repeated in parts],
        )
        exchanges.append((reply, answer))
        last_message = turn.message
        if len(last_message) > SHORT:  # a request for an action alone has no history
            last_long_message = last_message
    return exchanges


def _reply_message(played: StoredEpisode, index: int, player_name: str, longest: int) -> Said:
    """Return the reply of an episode's turn with this index, from 0, with texts of at most `longest` characters."""
    record = played.episode.record
    turn = record.turns[index]
    executed_name = _line_or_empty(played.again.executed, index)
    has_other_action = turn.executed is not None and turn.executed != turn.action
    # Reasoning is logged beside the reply, or is within tags of the reply.
    answer, reasoning_in_reply = split_reasoning(turn.reply, record.options.get(THINK_TAGS))
    reasoning_in_log = played.episode.reasoning.get(str(index), "")
    reasoning = "\n\n".join(filter(None, (reasoning_in_log, reasoning_in_reply)))
    read_as, note = _reading_and_note(turn, _line_or_empty(played.again.read, index), executed_name)
    return Said(
        "reply",
        f"{_reply_speaker(turn, player_name)}, turn {index + 1}",
        excerpt(answer.strip() if reasoning_in_reply else turn.reply, longest),
        turn.outcome,
        (turn.reason or "")[:LONGEST_UNSENT],
        excerpt(executed_name or str(turn.executed), LONGEST_UNSENT) if has_other_action else None,
        read_as,
        excerpt(reasoning, longest) if reasoning else None,
        _call_cost_text(turn.usage),
        note,
    )


def _reply_speaker(turn: TurnRecord, player_name: str) -> str:
    """Return who gave a reply: the player of this name or, before a hand-over, another player or a record."""
    if not turn.prefix:
        return player_name
    return f"{'From a record' if turn.prefix == RECORDED else f'By the player {turn.prefix}'}, before the hand-over"


def _reading_and_note(turn: TurnRecord, read_text: str, executed_name: str) -> tuple[str, str]:
    """Return the text that a reply was read as, and a note if no action was read; one of the two, or both, are "".

    `read_text` is the action in the words of a reply, or a mark without letters for no action. `executed_name` is the
    name of the action that was carried out instead, "" if it is not known.
    """
    if any(map(str.isalnum, read_text)):
        return read_text, ""
    if turn.outcome is not Outcome.UNPARSED:
        return "", ""  # a thought, of which no action is read
    if turn.action is None:
        return "", "No action was read."
    action = f"“{executed_name}”, which" if executed_name else "the action that"
    return "", f"No action was read; the environment took {action} the protocol sets for such a reply."


def _call_cost_text(usage: Usage | None) -> str:
    """Return the tokens and time of a call: "120 input tokens, 45 output tokens (30 for reasoning), 1.2 s"."""
    if usage is None:
        return ""
    parts: list[str] = []
    if usage.input_tokens or usage.output_tokens:
        reasoning = f" ({usage.reasoning_tokens:,} for reasoning)" if usage.reasoning_tokens else ""
        parts = [f"{usage.input_tokens:,} input tokens", f"{usage.output_tokens:,} output tokens{reasoning}"]
    if usage.seconds:
        parts.append(f"{usage.seconds:,.1f} s")
    return ", ".join(parts)


def _line_or_empty(lines: Sequence[str], index: int) -> str:
    return lines[index] if index < len(lines) else ""
