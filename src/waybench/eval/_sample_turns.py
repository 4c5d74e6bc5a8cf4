"""The turns of a sample, from a journal or new."""

from contextlib import suppress

from inspect_ai.model import ModelOutput

from waybench.core import SCHEMA, TurnRecord
from waybench.eval._journal import Journal, JournalError, digest


class SampleTurns:
    """The turns of one sample: first those in the journal, then new ones, which are added to it.

    Args:
        journal: The journal; None if there is none, as where replies cost nothing.
        sample: The sample's id and epoch.
        uuid: Its UUID, by which the log knows it.
        head: What is known of its episode before the first reply.
    """

    def __init__(self, journal: Journal | None, sample: tuple[str, int], uuid: str, head: str) -> None:
        self._journal = journal
        self._sample = sample
        self._uuid = uuid
        self._turn = 0
        self._seen = [digest(each) for each in (head, *_in_older_schemas(head))]
        self._replayed = False

    @property
    def replayed(self) -> bool:
        """Whether the last reply came from the journal."""
        return self._replayed

    def known(self) -> ModelOutput | None:
        """Return the stored output of the next turn; None if a request is needed.

        Raises:
            JournalError: If its reply could not be kept.
        """
        if self._journal is None:
            return None
        output = self._journal.known(self._sample, self._turn, self._seen)
        self._replayed = output is not None
        if output is None:
            self._journal.check()
        return output

    def known_probe(self, name: str) -> ModelOutput | None:
        """Return the stored answer to a belief probe before the next turn; None if a request is needed.

        Args:
            name: The question's name.

        Raises:
            JournalError: If its answer could not be kept.
        """
        if self._journal is None:
            return None
        output = self._journal.known_probe(self._sample, self._turn, name, self._seen)
        if output is None:
            self._journal.check()
        return output

    def keep_probe(self, name: str, output: ModelOutput) -> None:
        """Add a new answer to a belief probe.

        Args:
            name: The question's name.
            output: What the model answered.

        Raises:
            JournalError: If that cannot be done.
        """
        if self._journal is not None:
            self._journal.keep_probe(self._sample, self._turn, name, self._seen[0], output)

    def keep(self, output: ModelOutput, turn: TurnRecord) -> None:
        """Add a turn unless the journal has it.

        Args:
            output: What the model answered.
            turn: The turn as recorded.

        Raises:
            JournalError: If that cannot be done.
        """
        if self._journal is None:
            return
        if not self._replayed:
            self._journal.keep(self._sample, self._turn, self._seen[0], output)
        self._turn += 1
        text = turn._replace(usage=None).dumps()
        self._seen = [digest([seen, text]) for seen in self._seen]

    def end(self) -> None:
        """Note that the sample has ended."""
        if self._journal is not None:
            with suppress(JournalError):  # which the next request raises; without the line no turn is dropped
                self._journal.end(self._sample, self._uuid)


def _in_older_schemas(head: str) -> list[str]:
    """Return an episode's head as older versions wrote it: the form of a record is nothing that a player is shown."""
    last = f'"schema":{SCHEMA}}}'
    return [f'{head.removesuffix(last)}"schema":{older}}}' for older in range(1, SCHEMA)] if head.endswith(last) else []
