"""What a set is judged by, and what is a detail."""

import waybench
from tests.analysis.episodes import logged, played
from waybench.core import play_to_end, policy
from waybench.results import by_level
from waybench.results.comparisons._item_scores import item_scores
from waybench.results.comparisons._models import compare_sides
from waybench.results.comparisons._text import comparisons_text
from waybench.results.estimates._summary import summary_table
from waybench.results.results import rows

GTB = waybench.load("tilemap/gtb")


def test_the_error_of_the_length_is_a_detail() -> None:
    measured = rows(
        logged(play_to_end(GTB, item, policy("oracle")).record(), task="gtb") for item in GTB.source().head(2)
    )
    assert "Length RMSE" not in summary_table(measured)  # a random player has less of it than the oracle
    assert "length_rmse" in by_level(measured)[0].aggregates


def test_means_of_single_attempts_are_called_so_beside_a_best_of_score() -> None:
    first, second = (item_scores(rows(played(player, model=f"v/{player}"))) for player in ("heuristic", "random"))
    text = comparisons_text(*compare_sides(first, second), 0.05, ("", ""))
    assert "(mean of single attempts, not the best of several)" in text
    assert summary_table(rows(played("random"))).count("best of 1 to 3 attempts") == 1
