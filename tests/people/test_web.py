"""The server of `waybench play --web`: who is let in, what is taken, and what is kept."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

import waybench
from waybench.core import EpisodeRecord, UsageError, replay
from waybench.people.web._app import study_application
from waybench.people.web._study import Study
from waybench.results import read_logs
from waybench.results.results import rows

PORT, TOKEN = 7599, "the-token"
HOME = f"http://127.0.0.1:{PORT}"
Items = list[Any]


def items() -> Items:
    """Return a puzzle and a number to guess."""
    found: Items = []
    for env_id, task in (("hanoi/rods", "hanoi"), ("search/guessnum", "guessnum")):
        environment = waybench.load(env_id)
        found.append(
            SimpleNamespace(
                task=task, environment=environment, options={}, item=environment.source().item(0), settings={}
            )
        )
    return found


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Browser:
    """A browser: its cookies, and the forms of the page that it shows."""

    def __init__(self, study: Study, *, token: str | None = TOKEN, cookies: Any = None) -> None:
        self.client = TestClient(study_application(study, PORT, TOKEN), base_url=HOME, cookies=cookies)
        self.page = self.client.get("/", params={} if token is None else {"token": token}).text

    def send(self, form: str, /, **values: str) -> Any:
        """Send the page's form, as a person does."""
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', self.page))
        answer = self.client.post(f"/{form}", data={**hidden, **values})
        if answer.status_code == 200:
            self.page = answer.text
        return answer

    @property
    def view(self) -> str:
        """What the page is about."""
        [view] = re.findall(r'data-view="(\w+)"', self.page)
        return view


@pytest.fixture
def new_study(tmp_path: Path) -> Callable[..., Study]:
    def new(**options: Any) -> Study:
        return Study(items(), tmp_path / "people.jsonl", **options)

    return new


@pytest.fixture
def study(new_study: Callable[..., Study]) -> Study:
    return new_study()


def started(study: Study, code: str = "Ada") -> Browser:
    browser = Browser(study)
    browser.send("join", code=code)
    browser.send("begin", agree="yes")
    assert browser.view == "play"
    return browser


def records(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "people.jsonl").read_text().splitlines()]


def test_items_in_order_with_a_break_between(study: Study, tmp_path: Path) -> None:
    browser = started(study)
    assert "item 1 of 2" in browser.page and "Tower of Hanoi" in browser.page
    browser.send("stop")
    assert browser.view == "break" and "Stopped before the end." in browser.page
    browser.send("next")
    assert browser.view == "play" and "item 2 of 2" in browser.page
    target = study.items[1].item.instance.target
    browser.send("reply", typed=str(target))
    assert browser.view == "break" and "Solved." in browser.page
    browser.send("next")
    assert browser.view == "end" and "Thank you" in browser.page
    gave_up, solved = records(tmp_path)
    assert (gave_up["player"], gave_up["end"], gave_up["task"]) == ("human/Ada", "turn_limit", "hanoi")
    assert (solved["player"], solved["end"], solved["task"]) == ("human/Ada", "solved", "guessnum")


def test_records_replay_and_are_read_as_a_humans(study: Study, tmp_path: Path) -> None:
    browser = started(study)
    for action in ("2", "1", "6"):
        browser.send("reply", action=action)
    browser.send("stop")
    [data] = records(tmp_path)
    record = EpisodeRecord.from_json({name: data[name] for name in data if name not in ("task", "settings")})
    assert [turn.action for turn in record.turns if turn.action != "thought"] == [[1, True], [0, True], [5, True]]
    replay(waybench.load("hanoi/rods"), record)
    assert [each.model for each in read_logs(tmp_path / "people.jsonl")] == ["human/Ada"]


def test_the_time_of_each_turn_is_recorded(new_study: Callable[..., Study], tmp_path: Path) -> None:
    clock = Clock()
    browser = started(new_study(clock=clock))
    clock.now += 4.5
    browser.page = browser.client.get("/").text  # a reload does not set it back
    clock.now += 3
    browser.send("reply", action="1")
    clock.now += 2
    browser.send("reply", action="2")
    browser.send("stop")
    seconds = [turn["usage"]["seconds"] for turn in records(tmp_path)[0]["turns"] if turn["usage"]]
    assert seconds == [7.5, 2]


def test_what_is_not_understood_costs_nothing(study: Study) -> None:
    browser = started(study)
    browser.send("stop")
    browser.send("next")
    browser.send("reply", typed="<b>banana</b>")
    assert "Not understood" in browser.page and "<b>banana" not in browser.page
    assert "&lt;b&gt;banana&lt;/b&gt;</textarea>" in browser.page
    person = study.join("Ada")
    assert person is not None and person.game is not None and person.game.episode.turns == ()


def test_everything_goes_on_after_the_server_was_stopped(new_study: Callable[..., Study], tmp_path: Path) -> None:
    first = started(new_study())
    for action in ("2", "1", "6"):
        first.send("reply", action=action)
    before = re.findall(r'<svg class="board".*?</svg>', first.page)
    again = Browser(new_study(), cookies=first.client.cookies)
    assert again.view == "play"
    assert before == re.findall(r'<svg class="board".*?</svg>', again.page) != []
    again.send("reply", action="2")
    again.send("stop")
    assert len([turn for turn in records(tmp_path)[0]["turns"] if turn["reply"]]) == 4
    Browser(new_study())
    assert len(records(tmp_path)) == 1


@pytest.mark.parametrize("kept", ["record", "journal"])
def test_a_server_that_was_killed_while_it_wrote(new_study: Callable[..., Study], tmp_path: Path, kept: str) -> None:
    """A record is not written twice if the journal's last line is missing, and half a line is no line."""
    browser = started(new_study())
    browser.send("reply", action="2")
    browser.send("stop")
    journal = tmp_path / "people.jsonl.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    cut = b"" if kept == "record" else lines[-1][: len(lines[-1]) // 2]
    journal.write_bytes(b"".join(lines[:-1]) + cut)
    again = Browser(new_study(), cookies=browser.client.cookies)
    assert again.view == "break"
    assert len(records(tmp_path)) == 1


def test_a_journal_of_other_items_is_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belongs to other items"):
        Study(items()[:1], tmp_path / "people.jsonl")


def test_several_people_do_not_disturb_each_other(study: Study) -> None:
    ada, bob = started(study, "Ada"), started(study, "Bob")
    ada.send("reply", action="2")
    bob.send("stop")
    people = [study.join(code) for code in ("Ada", "Bob")]
    assert [(person and person.is_closed) for person in people] == [False, True]
    assert "<b>Bob</b>" in bob.page and "<b>Ada</b>" not in bob.page


def test_only_those_with_a_code_play(new_study: Callable[..., Study]) -> None:
    browser = Browser(new_study(codes=["k7", "p 9"]))
    browser.send("join", code="Ada")
    assert browser.view == "join" and "not on the list" in browser.page
    browser.send("join", code="  p   9 ")
    assert browser.view == "introduction"


@pytest.mark.parametrize("name", ["", "a" * 41, "a/b", "<script>", "a\nb\x00", "../x"])
def test_strange_names_are_refused(study: Study, name: str) -> None:
    browser = Browser(study)
    browser.send("join", code=name)
    assert browser.view == "join"


def test_the_introduction_is_text_that_people_agree_to(new_study: Callable[..., Study], tmp_path: Path) -> None:
    browser = Browser(new_study(introduction="Read <this> & agree."))
    browser.send("join", code="Ada")
    assert "Read &lt;this&gt; &amp; agree." in browser.page
    browser.send("begin")
    assert browser.view == "introduction" and "Tick the box" in browser.page
    browser.send("begin", agree="yes")
    assert browser.view == "play"
    assert '"begin":true' in (tmp_path / "people.jsonl.journal").read_text()


def test_a_form_of_another_site_is_refused(study: Study) -> None:
    browser = started(study)
    place = re.findall(r'name="place" value="([^"]*)"', browser.page)[0]
    for secret in ("", "wrong", "\ud800".encode("utf-8", "replace").decode()):
        answer = browser.client.post("/reply", data={"action": "2", "place": place, "secret": secret})
        assert answer.status_code == 403
    person = study.join("Ada")
    assert person is not None and person.game is not None
    assert not [turn for turn in person.game.episode.turns if turn.reply]


def test_a_page_that_is_open_twice_sends_nothing_twice(study: Study) -> None:
    browser = started(study)
    old = browser.page
    browser.send("reply", action="2")
    browser.page = old
    browser.send("reply", action="1")
    person = study.join("Ada")
    assert person is not None and person.game is not None
    assert len([turn for turn in person.game.episode.turns if turn.reply]) == 1


def test_strangers_and_other_names_are_kept_out(study: Study) -> None:
    application = study_application(study, PORT, TOKEN)
    client = TestClient(application, base_url=HOME)
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    assert client.post("/join", data={"code": "Ada"}).status_code == 403
    for host in ("example.org", f"example.org:{PORT}", "127.0.0.1:1"):
        assert client.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 421
    browser = Browser(study)
    for name in ("play.html", "../_app.py", "..%2f_app.py", "x"):
        assert browser.client.get(f"/static/{name}").status_code == 404
    assert browser.client.get("/join").status_code == 405


def test_what_is_sent_is_limited(study: Study, tmp_path: Path) -> None:
    browser = started(study)
    assert browser.client.post("/reply", content=b"x" * 1_000_000).status_code == 413
    assert browser.client.post("/reply", content=b"&".join(b"a=1" for _ in range(50))).status_code == 400
    assert browser.client.post("/reply", content=b"\xff\xfe").status_code == 400
    browser.send("reply", typed="{" + "y" * 100_001)
    assert "Not understood" in browser.page


def test_pages_say_what_browsers_may_do(study: Study) -> None:
    client = Browser(study).client
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    cookie = client.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert "http" not in answer.text.replace("http-equiv", "")  # nothing of elsewhere


def test_a_board_is_left_out_where_people_read_the_messages_alone(
    new_study: Callable[..., Study], tmp_path: Path
) -> None:
    study = new_study(text_only=True)
    browser = started(study)
    assert '<svg class="board"' not in browser.page and "Goal, from bottom" not in browser.page
    assert "the starting configuration is" in unescape(browser.page)
    browser.send("stop")
    (record,) = records(tmp_path)
    assert record["settings"]["text_only"] is True
    # It is a setting of its own in reports.
    (logged,) = read_logs(tmp_path / "people.jsonl", on_problem=lambda problem: pytest.fail(str(problem)))
    assert logged.settings["text_only"] is True


def test_the_same_item_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        Study([*items(), *items()], tmp_path / "people.jsonl")


def test_several_attempts_at_each_item(new_study: Callable[..., Study], tmp_path: Path) -> None:
    browser = started(new_study(attempts=2))
    assert "item 1 of 2, attempt 1 of 2" in browser.page
    lose(browser)
    assert "Next attempt" in browser.page
    browser.send("next")
    assert "item 1 of 2, attempt 2 of 2" in browser.page and "Tower of Hanoi" in browser.page
    # The first attempt's record has as many turns; a server that starts again does not take it for this one's.
    browser = Browser(new_study(attempts=2), cookies=browser.client.cookies)
    assert browser.view == "play"
    browser.send("stop")
    assert "Next item" in browser.page
    browser.send("next")
    assert "item 2 of 2, attempt 1 of 2" in browser.page
    assert [record["attempt"] for record in records(tmp_path)] == [1, 2]
    logs = list(read_logs(tmp_path / "people.jsonl", on_problem=lambda problem: pytest.fail(str(problem))))
    assert [each.attempt for each in logs] == [1, 2]
    with pytest.raises(UsageError, match="belongs to other items"):
        new_study()


def lose(browser: Browser) -> None:
    """Play the moves of Hanoi's first disk until they run out."""
    for number in range(200):
        if browser.view != "play":
            return
        browser.send("reply", action=("2", "3")[number % 2])
    raise AssertionError(browser.page)


def test_an_item_that_was_given_up_counts_as_failed_and_is_not_played_again(
    new_study: Callable[..., Study], tmp_path: Path
) -> None:
    browser = started(new_study(attempts=3))
    browser.send("stop")
    assert "Next item" in browser.page, "no second attempt at what was seen"
    browser.send("next")
    assert "item 2 of 2, attempt 1 of 3" in browser.page
    again = Browser(new_study(attempts=3), cookies=browser.client.cookies)
    assert "item 2 of 2, attempt 1 of 3" in again.page
    [line] = records(tmp_path)
    assert (line["end"], line["error"]) == ("turn_limit", "abandoned: the player left before the end")
    assert [row.exclusion_reason for row in rows(read_logs(tmp_path / "people.jsonl"))] == [""]


def test_a_second_browser_cannot_go_on_under_a_name_without_codes(new_study: Callable[..., Study]) -> None:
    first = started(new_study())
    study = new_study()
    other = Browser(study)
    other.send("join", code="Ada")
    assert other.view == "join" and "no other browser" in other.page
    other.send("join", code="Bob")
    assert other.view == "introduction"
    assert Browser(study, cookies=first.client.cookies).view == "play"
    with_codes = new_study(codes=["Ada", "Bob"])
    other = Browser(with_codes)
    other.send("join", code="Ada")
    assert other.view == "play", "whoever has a code goes on anywhere"


def test_only_their_owner_can_read_records(new_study: Callable[..., Study], tmp_path: Path) -> None:
    started(new_study()).send("stop")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"people.jsonl": 0o600, "people.jsonl.journal": 0o600}


def test_no_page_shows_a_person_the_instance_or_the_solution(new_study: Callable[..., Study]) -> None:
    study = new_study()
    hidden: list[str] = []
    for chosen in study.items:
        item = chosen.item
        parts = [item.instance.to_json(), *item.proof.values()]
        hidden += [item.instance.hash, *(text for part in parts if len(text := json.dumps(part)) > 12)]
    browser = Browser(study)
    pages = [browser.page]
    for form in ("join", "begin", "stop", "next", "stop", "next"):
        browser.send(form, code="Ada", agree="yes")
        pages.append(unescape(browser.page))
    assert browser.view == "end"
    assert [text for text in hidden if any(text in page for page in pages)] == []
    assert not any(name in page for name in ("proof", "instance_hash") for page in pages)
