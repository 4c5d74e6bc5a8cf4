"""Playing in a full screen: the board, the last message, the actions and a line to type in."""

from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, Header, Input, Static

from waybench.core import TypedAction
from waybench.people._play import PlayedEpisode, board_text

_WASD = {"w": "up", "a": "left", "s": "down", "d": "right"}
_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}
_MOST_LISTED = 20  # actions


class ReplyLine(Input):
    """The line to type in, which takes a pasted text of several lines as one."""

    def _on_paste(self, event: events.Paste) -> None:
        """Insert a pasted text as one line."""
        self.insert_text_at_cursor(" ".join(event.text.split()))
        event.stop()
        event.prevent_default()


class PlayApp(App[None]):
    """The screen on which a person plays an episode, with or without hints.

    Keys of the game act unless the line has the focus and a text in it; letters that are no key begin a reply.
    """

    CSS = """
    #table { height: 1fr; }
    #left { width: 3fr; }
    #right { width: 2fr; border-left: solid $panel; padding: 0 1; }
    #board { height: auto; padding: 1 2; }
    #message { height: auto; padding: 1 0; }
    #status { height: auto; padding: 0 2; background: $panel; }
    #note { height: auto; padding: 0 2; color: $warning; }
    .narrow #right { border-left: none; border-top: solid $panel; width: 1fr; height: 1fr; }
    .narrow #left { width: 1fr; height: 2fr; }
    .narrow #table { layout: vertical; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "line", "Type", priority=True),
        Binding("f1", "hint", "Hint"),
        Binding("f2", "prompt", "Whole prompt"),
        Binding("ctrl+q,ctrl+c", "stop", "Stop", priority=True),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, game: PlayedEpisode, *, hints: bool) -> None:
        super().__init__()
        self.title = game.title
        self._game, self._hints = game, hints
        self._started = monotonic()  # when the present turn was first shown
        self._shows_prompt = True  # whole, instead of the last message

    def compose(self) -> ComposeResult:
        """Yield the parts of the screen."""
        yield Header(icon=" ")
        with Horizontal(id="table"):
            with VerticalScroll(id="left", can_focus=False):
                yield Static(id="board")
            with Vertical(id="right"), VerticalScroll(id="messages"):
                yield Static(id="actions")
                yield Static(id="message")
        yield Static(id="status")
        yield Static(id="note")
        keys = "press a key of the list"
        if self._game.has_partial_actions:
            keys = "press keys of the list to build a reply"
        yield ReplyLine(placeholder=f"{keys}, type or paste it here; Enter sends it", id="line", select_on_focus=False)
        yield Footer()

    def on_mount(self) -> None:
        """Show the start of the episode."""
        self.query_one("#messages").focus()
        self._show_state()

    def on_resize(self, event: events.Resize) -> None:
        """Put the message below the board where the terminal is narrow."""
        self.set_class(event.size.width < 90, "narrow")
        self._show_state()

    def on_key(self, event: events.Key) -> None:
        """Play the action of a key, add the action to the plan in the line, or pass the key to the line."""
        line = self.query_one(Input)
        if self._game.episode.done:
            if event.key in ("enter", "escape", "q"):
                self.exit()
            return
        if line.has_focus and (line.value or event.key not in _ARROWS):  # the key edits the line
            if event.key == "escape":
                line.value = ""
                self.query_one("#messages").focus()
                event.stop()
            return
        actions = {action.key: action for action in self._game.actions if action.key}
        name = event.key.lower()
        action = actions.get(name) or actions.get(_WASD.get(name, ""))
        if action is not None:
            event.stop()
            event.prevent_default()
            if action.is_reply:
                self._play_typed(action.typed)
            else:
                line.value = ", ".join(part for part in (line.value, action.typed) if part)
        elif event.key == "enter" and line.value:
            self._play_typed(line.value)
        elif event.key == "backspace":  # removes the last action of the plan
            line.value = line.value.rpartition(",")[0]
        elif event.character is not None and event.is_printable and event.character.strip():
            line.focus()
            line.value += event.character
            line.cursor_position = len(line.value)
            event.stop()

    def on_paste(self, event: events.Paste) -> None:
        """Insert a pasted text into the line, wherever the focus is."""
        if not self._game.episode.done:
            line = self.query_one(ReplyLine)
            line.focus()
            line.insert_text_at_cursor(" ".join(event.text.split()))
            event.stop()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Draw the plan that is in the line, and say what Enter does."""
        self._draw_board(event.value)
        if not self._game.episode.done:
            self._show_note(self._enter_key_note(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Play what was typed."""
        self._play_typed(event.value)

    def _play_typed(self, typed: str) -> None:
        """Play what was typed, or carry out "quit" or "hint"."""
        line, typed = self.query_one(Input), typed.strip()
        if self._game.episode.done:
            self.exit()
        elif typed.lower() in ("quit", "q"):
            self.action_stop()
        elif typed.lower() == "hint":
            line.value = ""
            self.action_hint()
        elif typed:
            if self._game.play_typed(typed, monotonic() - self._started):
                self._started, self._shows_prompt = monotonic(), False
                line.value = ""
                self._show_state()
            else:
                self._show_note(f"Not understood (it does not count as a reply). {self._game.help}")

    def _enter_key_note(self, typed: str) -> str:
        """Return what the Enter key does with the text in the line; "" if it is not understood."""
        if typed:
            is_understood = self._game.parse_typed(typed) is not None
            undo = "; Backspace takes the last step back" if self._game.has_partial_actions else ""
            return f"Enter sends this reply{undo}." if is_understood else ""
        return "Keys build a plan; Enter sends it as one reply." if self._game.has_partial_actions else ""

    def action_line(self) -> None:
        """Move the focus to the line, or away from it."""
        line = self.query_one(Input)
        (self.query_one("#messages") if line.has_focus else line).focus()

    def action_hint(self) -> None:
        """Show the oracle's next action."""
        if not self._game.episode.done:
            self._show_note(
                self._game.hint_text() if self._hints else "Hints are off: start with --hints to turn them on."
            )

    def action_prompt(self) -> None:
        """Toggle between the whole prompt and the last message."""
        self._shows_prompt = not self._shows_prompt
        self._show_state()

    def action_stop(self) -> None:
        """Close the screen; the episode stays unfinished."""
        self.exit()

    def _show_note(self, text: str) -> None:
        """Show a text below the status."""
        self.query_one("#note", Static).update(Text(text))

    def _draw_board(self, typed: str) -> None:
        """Draw the board with the plan that is typed so far."""
        # The left part has 3 of 5 parts of a wide screen (see CSS); 6 columns and 14 rows are for all else.
        width = self.size.width if self.has_class("narrow") else self.size.width * 3 // 5
        board, text = self._game.board_with_plan(typed), ""
        if board is not None:
            text = board_text(board, max(width - 6, 12), max(self.size.height - 14, 8), max_cell_lines=3)
        self.query_one("#board", Static).update(Text.from_ansi(text))

    def _show_state(self) -> None:
        """Show board, actions, message and status of the present state."""
        game = self._game
        self._draw_board(self.query_one(Input).value)
        actions = () if game.episode.done else game.actions[:_MOST_LISTED]
        has_keys = any(action.key for action in actions)
        lines = "\n".join(_listed_action_text(action, has_keys=has_keys) for action in actions)
        self.query_one("#actions", Static).update(Text(f"{lines or game.help}\n"))
        self.query_one("#message", Static).update(Text(game.prompt if self._shows_prompt else game.message))
        self.query_one("#messages", VerticalScroll).scroll_home(animate=False)
        status = self.query_one("#status", Static)
        if game.episode.done:
            status.update(Text(" ".join(" ".join(game.result_lines()).split())))
            self._show_note("Press Enter to leave.")
            self.query_one("#messages").focus()
        else:
            status.update(Text(game.status_text))
            self._show_note(self._enter_key_note(self.query_one(Input).value))


def _listed_action_text(action: TypedAction, *, has_keys: bool) -> str:
    """Return an action as the list shows it: its key, in a column if some action has one, its number and its name."""
    key = _ARROWS.get(action.key, action.key)
    number = f"{action.typed} " if action.typed != action.name else ""
    key_column = f"{f'[{key}]' if key else '':<8}" if has_keys else ""
    return f"{key_column}{number}{action.name}"


def play_screen(game: PlayedEpisode, *, hints: bool) -> None:
    """Play an episode in a full screen, until it ends or the person stops."""
    PlayApp(game, hints=hints).run()
