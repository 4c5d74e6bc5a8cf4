"""Calls something again and again while a block runs."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def repeating(call: Callable[[], None], seconds: float, name: str) -> Generator[None]:
    """Call a function every so many seconds of a block, in a thread of its own.

    Args:
        call: The function; the first call is after the first interval.
        seconds: The interval.
        name: The thread's name.
    """
    stop = threading.Event()

    def keep_calling() -> None:
        while not stop.wait(seconds):
            call()

    thread = threading.Thread(target=keep_calling, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
