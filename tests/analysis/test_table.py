from tests.analysis.episodes import detour, estimate, failed, item, logged, played
from waybench.results import rows
from waybench.results.estimates._measures import score_tables_text
from waybench.results.formatting import LOST, one_line, visible
from waybench.results.results import labels

NAMES = "waybench/null", "waybench/oracle"


def test_table_is_aligned_with_models_before_embedded_players() -> None:
    episodes = [*played("null", (5, 7)), *played("oracle", (5, 11)), *played("oracle", (5, 7), model="vendor/good")]
    assert score_tables_text(estimate(episodes)) == (
        "Mazes (AliciaBench)      5      7     11\n"
        "----------------------------------------\n"
        "vendor/good          100.0  100.0\n"
        "----------------------------------------\n"
        "waybench/oracle      100.0         100.0\n"
        "waybench/null          0.0"
    )


def test_what_errors_took_is_marked() -> None:
    lost = [logged(failed(detour(item(7), 2)))]
    some = [logged(detour(item(5), 0)), logged(failed(detour(item(5, 1), 2)))]
    *_, last, blank, legend, five, seven = score_tables_text(estimate([*lost, *some])).splitlines()
    assert last.split() == ["vendor/model", "100.0*", "n/a*"]
    assert (blank, legend) == ("", f"* {LOST}")
    assert five == "  vendor/model, 5: n = 1 of 2; 50.0 to 100.0"
    assert seven == "  vendor/model, 7: n = 0 of 1; 0.0 to 100.0"


def test_a_wide_table_goes_on_below() -> None:
    levels = [5, 7, 9, 11, 13, 15]
    episodes = [*played("oracle", levels, mazes=1), *played("null", (5,), mazes=1, model="vendor/*")]
    whole = score_tables_text(estimate(episodes))
    assert score_tables_text(estimate(episodes), max(map(len, whole.splitlines()))) == whole
    assert "n = " not in whole
    blocks = score_tables_text(estimate(episodes), 45).split("\n\n")
    assert [[int(level) for level in block.splitlines()[0].split()[2:]] for block in blocks] == [levels[:3], levels[3:]]
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 45
    assert all("waybench/oracle" in block and "vendor/*" in block for block in blocks)
    assert len(score_tables_text(estimate(episodes), 1).split("\n\n")) == len(levels)


def test_rows_of_one_model_are_told_apart_by_their_settings() -> None:
    episodes = [*played("oracle", (5,), mazes=1), *played("oracle", (5,), mazes=1, wording="ascii", exit_hint=True)]
    groups = [row.group for row in rows(episodes)]
    assert list(labels(groups).values()) == ["waybench/oracle (matrix)", "waybench/oracle (ascii, exit hint)"]
    assert list(labels(groups[:1]).values()) == ["waybench/oracle"]


def test_hostile_names_leave_the_table_whole() -> None:
    names = ["\x1b[31mred\n\nrow", "\u202eleft", "x" * 300, "模型" * 40, "\ud800"]
    table = score_tables_text(estimate([e for name in names for e in played("null", (5,), mazes=1, model=name)]))
    lines = table.encode().decode().splitlines()
    assert len(lines) == 2 + len(names)
    assert "\x1b" not in table
    assert "\u202e" not in table
    assert max(map(len, lines)) < 80


def test_no_estimates_no_table() -> None:
    assert score_tables_text([]) == ""


def test_visible() -> None:
    assert visible("a\tb\r\nc") == "a\tb\nc"
    assert visible("\0\x1b\r\x7f\x85") == "␀␛␍␡⟨U+0085⟩"
    assert visible("\u202eabc\u2066\ud800\ufeff") == "⟨U+202E⟩abc⟨U+2066⟩⟨U+D800⟩⟨U+FEFF⟩"
    assert visible("👩‍🚀 é 模") == "👩‍🚀 é 模"


def test_one_line_keeps_both_ends() -> None:
    assert one_line("a\n b", 9) == "a b"
    assert one_line("abcdefghij", 7) == "abc…hij"
    assert one_line("模" * 10, 7) == "模…模"
    assert one_line("x" * 10**7, 9) == "xxxx…xxxx"
