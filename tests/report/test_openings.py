"""What prompts begin with, found while they come one at a time."""

from waybench.core import Message
from waybench.report._openings import Opening, opening


def test_what_prompts_begin_with() -> None:
    def user(text: str) -> Message:
        return Message("user", text)

    system, long = Message("system", "Be brief."), "A line of a walkthrough.\n" * 40
    assert opening([]) == Opening()
    assert opening([(), (user(long),)]) == Opening()
    assert opening([(user(long),)]) == Opening()
    assert opening([(user(long + "a"),), (user(long + "a"),)]) == Opening()
    assert opening([(system, user("a")), (system, user("b"))]) == Opening((system,))
    shared = opening([(system, user(long + "ab")), (system, user(long + "ac"))])
    assert shared == Opening((system,), user(long))
    assert shared.rest((system, user(long + "ab"), user("c"))) == [user("ab"), user("c")]
    assert [said.text.text for said in shared.said(100_000)] == ["Be brief.", long]
    assert opening([(user("short\na"),), (user("short\nb"),)]) == Opening()
    assert opening([(user(long + "a"),), (Message("system", long + "b"),)]) == Opening()
    # Of a text that is all of another one's beginning nothing is left.
    assert opening([(user(long),), (user(long + "b"),)]) == Opening((), user(long))
