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
        title: The state that was asked for.
        verdict: "known", "wrong" or "no answer".
        expected: The right answer.
        reason: Why no answer could be read; "" if one was.
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
        return Probe(
            titles.get(probe.name, probe.name[:40]),
            "known" if probe.correct else "wrong" if probe.reason is None else "no answer",
            probe.question[:LONGEST_UNSENT],
            excerpt(probe.reply, longest),
            excerpt(_value_text(probe.expected), longest),
            (probe.reason or "")[:LONGEST_UNSENT],
        )

    by_turn = group_by(record.probes, lambda probe: probe.turn)
    return {turn: [probe_view(probe) for probe in of_turn] for turn, of_turn in by_turn.items()}


def _value_text(value: Json) -> str:
    """Return a value as text: a drawing row by row, anything else as JSON."""
    rows = cast(Sequence[Json], value if isinstance(value, list | tuple) else ())
    if rows and all(isinstance(row, str) for row in rows):
        return "\n".join(rows)
    return json.dumps(value, default=str)


_PARAGRAPH = re.compile(r".*?\n(?:[ \t]*\n)+|.+\Z", re.DOTALL)
_MOST_UNITS = 400  # of a message: comparing takes the product of two messages' units


class Divided(NamedTuple):
    """A message, split at its long parts that repeat an earlier message.

    Attributes:
        parts: Pairs of the new text before a repeated part, "" if there is none, and the part itself.
        rest: The new text after the last of them.
    """

    parts: list[tuple[str, str]]
    rest: str


def split_at_repeats(earlier: str, message: str) -> Divided:
    """Split a message at the runs of paragraphs that repeat an earlier message.

    A history that prompts repeat loses its oldest steps and is numbered or headed anew, so what repeats can begin
    anywhere in either. A message without paragraphs is divided by its lines, at the longest run alone. Runs of at most
    `SHORT` characters count as new, and nothing is divided where nothing would be new.

    The parts together are the message.
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
    # Units differ in length: the longest text counts, not the most units.
    lengths = {(start, stop): sum(map(len, new[start:stop])) for start, stop in runs}
    if not has_paragraphs:
        runs = [run for run in [max(runs, key=lengths.__getitem__)] if not _cuts_a_map(new, *run)]
    parts: list[tuple[str, str]] = []
    end = 0
    for start, stop in runs:
        if lengths[start, stop] > SHORT:
            parts.append(("".join(new[end:start]), "".join(new[start:stop])))
            end = stop
    end_text = "".join(new[end:])
    return Divided(parts, end_text) if end_text or any(head for head, _ in parts) else Divided([], message)


def _cuts_a_map(lines: Sequence[str], start: int, stop: int) -> bool:
    """Return whether a run of lines starts or stops between two rows of a map."""
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
        elsewhere: Whether that begins with a long text which the page of the episode's results shows once for all.
        exchanges: Each reply with its answer.
        model: Who replies: "Model" or "Person".
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
    who = "Person" if is_human(played.row.group.model) else "Model"
    return ConversationView(
        prompt_messages(played.episode.record, prefix, longest), elsewhere, _exchanges(played, who), who
    )


def repeated_fold_texts(conversation: ConversationView) -> list[str]:
    """Return the folded texts of answers that repeat earlier messages, in the order of the page."""
    folds = [fold for _, answer in conversation.exchanges for _, fold in answer.folds]
    return [visible(fold.text) for fold in folds]


@dataclass(frozen=True, slots=True)
class EpisodeSource:
    """Where an episode comes from.

    Attributes:
        commands: Pairs of a command's purpose and the command.
        log: File name of its log.
        sample: Id of its sample there, and the epoch.
    """

    commands: list[tuple[str, str]]
    log: str
    sample: str


def episode_source(played: StoredEpisode) -> EpisodeSource:
    """Return the log and sample of an episode, and the commands that reproduce it."""
    row, episode = played.row, played.episode
    commands = [] if row.origin is None else [("Run the task", row.origin.command)]
    commands.append(("Play this item", play_command(row)))
    view = view_command(row)
    commands += [("Open the logs in Inspect's viewer, in the folder above that of the logs", view)] if view else []
    epoch = f", epoch {episode.epoch}" if episode.epoch > 1 else ""
    return EpisodeSource(commands, PurePosixPath(row.log.replace("\\", "/")).name, f"{episode.sample}{epoch}")


def end_text(played: StoredEpisode) -> str:
    """Return how an episode ended, in words."""
    record = played.episode.record
    end = ENDS[record.end] if record.end else "no end"
    return f"{end}, by the teacher" if played.row.guided and record.end is End.SOLVED else end


def _exchanges(played: StoredEpisode, player_name: str) -> list[tuple[Said, Said]]:
    """Return each reply of an episode, by a player of this name, with the environment's answer."""
    record, read, executed = played.episode.record, played.again.read, played.again.executed
    longest = characters_per_text(REPLIES_OF_A_PAGE, len(record.turns), LONGEST_REPLY)
    before = earlier = record.opening[-1].text if record.opening else ""  # the last message, and the last long one
    exchanges: list[tuple[Said, Said]] = []
    for number, turn in enumerate(record.turns, start=1):
        reason = (turn.reason or "")[:LONGEST_UNSENT]
        other = turn.executed is not None and turn.executed != turn.action
        name = _line_or_empty(executed, number - 1)
        instead = excerpt(name or str(turn.executed), LONGEST_UNSENT) if other else None
        answer, inside = split_reasoning(turn.reply, record.options.get(THINK_TAGS))
        reply_text = excerpt(answer.strip() if inside else turn.reply, longest)
        beside = played.episode.reasoning.get(str(number - 1), "")
        reasoning = "\n\n".join(filter(None, (beside, inside)))
        read_as, note = _reading_and_note(turn, _line_or_empty(read, number - 1), name)
        reply = Said(
            "reply",
            f"{_reply_speaker(turn, player_name)}, turn {number}",
            reply_text,
            turn.outcome,
            reason,
            instead,
            read_as,
            excerpt(reasoning, longest) if reasoning else None,
            _call_cost_text(turn.usage),
            note,
        )
        last = number == len(record.turns) and not played.row.error
        same = turn.message == before and len(turn.message) > SHORT
        parts, new_text = Divided([], "(The same as before.)") if same else split_at_repeats(earlier, turn.message)
        unsent = " (not sent, the attempt was over)" if last else ""
        longest_message = LONGEST_UNSENT if last else LONGEST_MESSAGE
        answer = Said(
            "answer",
            f"Environment{unsent}",
            excerpt(new_text, longest_message),
            folds=[(head.strip("\n"), excerpt(repeated, longest_message)) for head, repeated in parts],
        )
        exchanges.append((reply, answer))
        before = turn.message
        earlier = before if len(before) > SHORT else earlier  # a request for an action alone has no history
    return exchanges


def _reply_speaker(turn: TurnRecord, player_name: str) -> str:
    """Return the name of who gave a reply: the player, or whoever played before the hand-over."""
    if not turn.prefix:
        return player_name
    return f"{'From a record' if turn.prefix == RECORDED else f'By the player {turn.prefix}'}, before the hand-over"


def _reading_and_note(turn: TurnRecord, read_text: str, executed_name: str) -> tuple[str, str]:
    """Return the text that a reply was read as, and a note where no action was read.

    `read_text` is in the words of a reply, or a mark without letters for no action; `executed_name` is the name of the
    action that was carried out in its place, "" if it is not known.
    """
    if any(map(str.isalnum, read_text)):
        return read_text, ""
    if turn.outcome is not Outcome.UNPARSED:
        return "", ""  # a thought, which is taken as it is
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
