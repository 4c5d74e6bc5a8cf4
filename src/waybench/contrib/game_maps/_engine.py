"""What the maker of maps asks of a game."""

from typing import Any, Protocol

PlaceId = int | str  # what the game itself tells its places apart by


class Playable(Protocol):
    """A text game that can be played and saved."""

    def reset(self) -> str:
        """Begin the game anew; return what it tells at the beginning."""
        ...

    def act(self, command: str) -> str:
        """Type a command; return what the game answers."""
        ...

    def save(self) -> Any:
        """Return what `restore` needs to come back to the present situation."""
        ...

    def restore(self, saved: Any) -> None:
        """Come back to a saved situation."""
        ...

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        ...


class Engine(Playable, Protocol):
    """A text game that knows where its player is."""

    def place(self) -> PlaceId | None:
        """Return the id of the place where the player is; None if there is none, as before a game has really begun."""
        ...

    def name(self) -> str | None:
        """Return what the game's own table calls that place; None if the game has no such table that can be read."""
        ...
