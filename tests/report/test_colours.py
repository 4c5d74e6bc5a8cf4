"""A model has the same colour in all charts of a report."""

from waybench.reporting.charts import colour_numbers
from waybench.reporting.charts._svg import model_colours

MODELS = [f"vendor/{number}" for number in range(9)]


def test_a_model_keeps_its_colour_whatever_its_rank_and_whoever_else_is_in_the_chart() -> None:
    with model_colours(MODELS):
        assert colour_numbers(MODELS[:3]) == [0, 1, 2]
        assert colour_numbers([MODELS[2], MODELS[0], MODELS[1]]) == [2, 0, 1]
        assert colour_numbers([MODELS[2], MODELS[1]]) == [2, 1]
        assert colour_numbers([MODELS[2]]) == [0]  # alone, so that its pages do not depend on other models


def test_lines_of_one_model_and_more_models_than_colours_take_free_ones() -> None:
    with model_colours(MODELS):
        # The eighth model would have the colour of the first one.
        assert colour_numbers([MODELS[7], MODELS[0], MODELS[1]]) == [2, 0, 1]
        assert colour_numbers([MODELS[0], MODELS[0], MODELS[1]]) == [0, 2, 1]
        assert len(set(colour_numbers([MODELS[0]] * 7))) == 7
        assert sorted(colour_numbers(MODELS)) == [0, 0, 1, 1, 2, 3, 4, 5, 6]


def test_a_reference_player_takes_no_colour_from_a_model() -> None:
    with model_colours([*MODELS[:2], "waybench/oracle"]):
        assert colour_numbers(["waybench/oracle", *[MODELS[0]] * 3, *[MODELS[1]] * 3])[1:] == [0, 2, 4, 1, 3, 5]


def test_outside_a_report_colours_are_in_the_order_of_the_lines() -> None:
    assert colour_numbers([MODELS[5], MODELS[2]]) == [0, 1]
