"""An item of Crafter: the seed of a world."""

from dataclasses import dataclass

from waybench.core import DataError, Instance, Json, check_fields

SEEDS = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Wilds(Instance):
    """A world, by what it is made of. Everything that happens in it by chance follows from the seed, too.

    Attributes:
        seed: The seed of the random generator, from 0 to 2**31 - 2.
    """

    seed: int

    def canonical(self) -> str:
        """Return the seed."""
        return f"crafter {self.seed}"

    def to_json(self) -> Json:
        """Return {"seed": 1}."""
        return {"seed": self.seed}


def decode(data: Json) -> Wilds:
    """Read what `Wilds.to_json` wrote.

    Raises:
        DataError: If it is something else.
    """
    check_fields(data, ("seed",))
    match data:
        case {"seed": int(seed), **rest} if not rest and type(seed) is int and 0 <= seed < SEEDS:
            return Wilds(seed)
        case _:
            raise DataError(f'instance: give {{"seed": 1}}, a whole number from 0 to {SEEDS - 1}')
