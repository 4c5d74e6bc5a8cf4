from sliding_tiles import TILES, decode, distances

from waybench.core import DataError
from waybench.testing import check_environment


def test_contract() -> None:
    check_environment(TILES)


def test_every_position_that_can_be_solved_is_known() -> None:
    assert len(distances(3)) == 181_440  # 9! / 2
    assert max(distances(3).values()) == 31


def test_a_board_that_cannot_be_solved_is_refused() -> None:
    try:
        decode([[1, 2, 3], [4, 5, 6], [8, 7, 0]])
    except DataError as error:
        assert "can be solved" in str(error)
    else:
        raise AssertionError("two tiles are swapped")
