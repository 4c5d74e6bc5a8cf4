import gc

import pytest

from waybench.evaluation._engine import freeze_existing_objects


def test_what_exists_before_is_not_visited_and_is_afterwards() -> None:
    assert gc.get_freeze_count() == 0
    with freeze_existing_objects():
        assert gc.get_freeze_count() > 10_000  # the interpreter's own modules alone are as many
        later = [[]]
        assert any(each is later for each in gc.get_objects())
    assert gc.get_freeze_count() == 0


def test_an_error_passes_through_and_ends_it() -> None:
    with pytest.raises(ZeroDivisionError), freeze_existing_objects():
        1 / 0  # noqa: B018
    assert gc.get_freeze_count() == 0


def test_a_program_that_froze_objects_itself_keeps_them_so() -> None:
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with freeze_existing_objects():
            assert gc.get_freeze_count() == before
        assert gc.get_freeze_count() == before
    finally:
        gc.unfreeze()
