import json
import tomllib

from tests.cli.support import Command, one_line_error
from waybench.cli._list import PLAYERS
from waybench.core._policies import EMBEDDED
from waybench.envs import registry
from waybench.evaluation.tasks import TASKS
from waybench.evaluation.tasks._catalogue import all_tasks


def test_overview_has_every_task_environment_and_player(command: Command) -> None:
    shown = command("list").stdout
    assert all(f"  {task.name} " in shown for task in TASKS)
    assert all(f"  {entry.id}@{entry.version} " in shown for entry in registry.entries)
    assert all(f"  waybench/{name} " in shown for name in EMBEDDED)
    assert set(EMBEDDED) <= set(PLAYERS)


def test_an_environments_page(command: Command) -> None:
    page = command("list", "maze/alicia").stdout
    assert command("list", "maze").stdout == page
    for expected in ("maze/alicia@1:", "5, 7, 9", "matrix, ascii", "protocol=paper", "loops=0.05", "exit_hint  "):
        assert expected in page


def test_an_environment_without_options_of_items(command: Command) -> None:
    page = command("list", "crafter/survival").stdout
    assert "Item options" not in page
    assert "crafter_score  " in page.partition("Of a set of episodes:")[2]
    (told,) = json.loads(command("list", "crafter/survival", "--json").stdout)["aggregates"]
    assert (told["name"], len(told["metrics"]), told["high"]) == ("crafter_score", 22, 100)


def test_a_tasks_page(command: Command) -> None:
    page = command("list", "alicia").stdout
    assert "maze/alicia" in page
    assert "attempts=3" in page


def test_json(command: Command) -> None:
    everything = json.loads(command("list", "--json").stdout)
    assert [task["name"] for task in everything["tasks"]] == [task.name for task in all_tasks()]
    assert [env["id"] for env in everything["environments"]] == [entry.id for entry in registry.entries]
    maze = json.loads(command("list", "maze", "--json").stdout)
    assert maze in everything["environments"]
    assert maze["wordings"] == ["matrix", "ascii", "coordinates", "prose", "image", "image+text"]
    requests = next(option for option in maze["options"] if option["name"] == "requests")
    assert (requests["default"], requests["type"], requests["low"]) == (3, "int", 1)
    assert json.loads(command("list", "alicia", "--json").stdout) in everything["tasks"]


def test_unknown_name(command: Command) -> None:
    assert "did you mean 'alicia'?" in one_line_error(command("list", "alica"))
    assert "use maze/alicia@1" in one_line_error(command("list", "maze@7"))


def test_the_fields_of_templates_are_listed(command: Command) -> None:
    text = command("list", "tilemap/gtb").output
    assert "Fields of observations in templates (wording=file:PATH)" in text
    assert "{target}" in text
    fields = json.loads(command("list", "tilemap/gtb", "--json").output)["fields"]
    assert {"name": "map", "doc": "The map as it is now, with the agent."} in fields["observations"]


def test_the_texts_of_a_language(command: Command) -> None:
    texts = tomllib.loads(command("list", "maze/alicia", "--texts", "es").stdout)
    assert (texts["language"], texts["direction.down"]) == ("es", "abajo")
    assert "has no texts in 'fr'; it has tables of texts in: en, es" in one_line_error(
        command("list", "maze/alicia", "--texts", "fr")
    )
    assert "give the id of an environment" in one_line_error(command("list", "alicia", "--texts", "en"))


def test_the_highest_level_is_listed_where_there_is_one(command: Command) -> None:
    page = " ".join(command("list", "sokoban").stdout.split())
    assert "level=2 Level of difficulty; see the environment's documentation. From 2 to 20." in page
    options = json.loads(command("list", "sokoban", "--json").stdout)["options"]
    assert [option["high"] for option in options if option["name"] == "level"] == [20]
    assert "levels 2, 4, 6, ... 20 " in " ".join(command("list", "sokoban/rooms").stdout.split())
    assert json.loads(command("list", "sokoban/rooms", "--json").stdout)["highest_level"] == 20
    assert json.loads(command("list", "maze/alicia", "--json").stdout)["highest_level"] is None


def test_a_task_s_page_begins_with_cost_scores_and_five_parameters(command: Command) -> None:
    for task, cost, scores in (
        ("hanoi_3", "10 episodes at number of disks 3, each of at most 60 requests", "ceiling 3"),
        ("alicia", "30 episodes at dimension 5 and on, while the model solves some", "ceiling 100"),
        ("smartplay", "rps/rounds", "floor 16.7, ceiling 50"),
    ):
        text = " ".join(command("list", task).stdout.split())
        head, first, *_ = text.split("Parameters that matter most (run -T):")
        assert cost in head and scores in head and f"waybench run {task} --model MODEL --quote" in head
        first = first.partition("Other parameters:")[0]
        assert first.index("limit") < first.index("protocol=") < first.index("wording=")
    assert "cost" not in command("list", "horizon_maze").stdout.partition("Parameters")[0]
