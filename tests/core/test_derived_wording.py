"""A wording that is made from another one does as that one does, but for what it changes."""

import inspect

from waybench.core import Wording
from waybench.core._wording import DerivedWording
from waybench.envs import registry


def test_everything_a_wording_does_is_passed_on() -> None:
    """A method added to `Wording` and forgotten here would silently fall back to its default."""
    methods = {name for name, _ in inspect.getmembers(Wording, inspect.isfunction) if not name.startswith("_")}
    assert {"rules", "action_name", "parse_call", "picture"} <= methods <= vars(DerivedWording).keys()


def test_all_attributes_are_the_other_wording_s() -> None:
    for entry in registry.built_in:
        environment = registry.load(entry.id)
        base = environment.play_with(environment.resolve_options({})).wording
        derived = DerivedWording(base, "other")
        assert derived.name == "other"
        assert all(getattr(derived, name) == getattr(base, name) for name in Wording.__annotations__ if name != "name")
