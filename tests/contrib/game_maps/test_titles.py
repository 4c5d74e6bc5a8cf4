import pytest

from waybench.ext.author.game_maps._words import is_darkness_title, names_place, room_title


@pytest.mark.parametrize(
    ("looked", "title"),
    [
        ("\n\nBedroom (in bed)\nThis bedroom is extremely spare.\n", "bedroom"),
        ("\nMaze (exit north)\nIt is a maze.\n", "maze (exit north)"),
        ("-= Living Room =-\nYou see a sofa. Exciting.\n", "living room"),
        ("Welcome to the house of doors\n\n-= Attic =-\nAn attic.\n", "attic"),
        ("(getting out of the chair)\n\nHall\nA hall.\n", "hall"),
        ("  West of House\nYou are standing in an open field.\n", "west of house"),
        ("221-B Baker Street\n", "221-b baker street"),
        ("It is pitch dark.\n", None),
        ("Please give one of the answers above.\n\nHall\n", None),
        ('"Who goes there"\n', None),
        ("\n\n", None),
        ("x" * 80, None),
        ("Hall\x1b[2J\nA hall.", None),
        ("", None),
    ],
)
def test_the_title_of_a_room(looked: str, title: str | None) -> None:
    assert room_title(looked) == title


def test_a_name_is_told_by_a_line_of_its_own() -> None:
    text = "You leave the hall behind.\n\n  Cellar   (on the stairs)\nA cellar under the hall.\n"
    assert names_place(text, {"cellar", "vault"})
    assert not names_place(text, {"hall"})


@pytest.mark.parametrize("title", ["darkness", "in the dark", "pitch dark", "total darkness", "in the darkness"])
def test_darkness_is_no_name(title: str) -> None:
    assert is_darkness_title(title)


@pytest.mark.parametrize("title", ["dark corner", "the dark tower", "black forest", "darkroom"])
def test_a_dark_name_is_a_name(title: str) -> None:
    assert not is_darkness_title(title)
