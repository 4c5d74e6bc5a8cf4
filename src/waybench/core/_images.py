"""Images as a wording: a picture in place of the text that describes a state (`wording=image`), or beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from waybench.core._game import A, Json, S, Transition
from waybench.core._play import IMAGE, IMAGE_AND_TEXT, IMAGE_WORDINGS, WORDING, Option
from waybench.core._wording import DerivedWording, DrawPicture, Field, Invalid, Picture, View, Wording

I = TypeVar("I")  # noqa: E741  the instance

IMAGE_BASE, IMAGE_SIZE, IMAGE_GRID = "image_base", "image_size", "image_grid"
IMAGE_OPTIONS = (IMAGE_BASE, IMAGE_SIZE, IMAGE_GRID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """How an environment's messages are drawn, for the wordings "image" and "image+text".

    Attributes:
        draw: Draws a state as the messages describe it (see `DrawPicture`).
        legend: How to read the picture, for the rules; the text "picture.legend" of an environment that has texts by
            language takes its place.
        replaces: Names of the fields of the base wording (`Wording.rule_fields`, `Wording.fields`) whose text the
            picture takes the place of.
        legend_field: Name of the field of the rules that the legend takes the place of: the one that says how to read
            the text which the picture replaces, or that text itself. In "image+text" the legend follows its text. ""
            to have the legend at the end of the rules.
        bases: The wordings that can be the base, the default first.
        grid: Whether the picture can have a grid.
        size: Pixels of the longer side by default.
    """

    draw: DrawPicture
    legend: str
    replaces: tuple[str, ...]
    legend_field: str = ""
    bases: tuple[str, ...]
    grid: bool = False
    size: int = 768

    @property
    def options(self) -> tuple[Option, ...]:
        """The options of play that pictures add to the environment's; other wordings' records lack them."""
        wordings = f"wording={IMAGE} and {IMAGE_AND_TEXT}"
        base = Option(
            name=IMAGE_BASE,
            default=self.bases[0],
            choices=self.bases,
            doc=f"The wording whose texts go with the pictures of {wordings}.",
        )
        size = Option(
            name=IMAGE_SIZE,
            default=self.size,
            low=64,
            high=4096,
            doc=f"Pixels of the longer side of a picture, for {wordings}.",
        )
        ruled = Option(
            name=IMAGE_GRID,
            default=False,
            doc=f"Whether the pictures of {wordings} have lines between cells and numbers of rows and columns.",
        )
        return (base, size, ruled) if self.grid else (base, size)


def has_images(options: Mapping[str, Json]) -> bool:
    """Return whether resolved options of play are those of a wording with pictures, or of a template based on one."""
    return IMAGE_BASE in options


def without_image_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """Return options of play with the base wording in place of one with pictures."""
    values = {name: value for name, value in options.items() if name not in IMAGE_OPTIONS}
    return values | ({WORDING: options[IMAGE_BASE]} if has_images(options) else {})


def with_image_options(images: Images | None, options: Sequence[Option]) -> tuple[Option, ...]:
    """Return an environment's options of play with those that its pictures add."""
    declared = tuple(option for option in options if option.name not in IMAGE_OPTIONS)
    if images is None:
        return declared
    return (
        *(replace(option, image_choices=IMAGE_WORDINGS) if option.name == WORDING else option for option in declared),
        *images.options,
    )


class ImageWording(DerivedWording[I, S, A], Generic[I, S, A]):
    """A wording of an environment with pictures in place of descriptions, or beside them.

    Args:
        images: How states are drawn.
        base: The environment's own wording, which does everything else: it parses, remembers and renders.
        options: Resolved options of play.
    """

    def __init__(self, images: Images, base: Wording[I, S, A], options: Mapping[str, Json]) -> None:
        super().__init__(base, str(options[WORDING]))
        self._images, self._size = images, int(options[IMAGE_SIZE])
        self._in_picture = self.texts["picture.place"]
        # Environments without texts by language have one legend.
        self._picture_legend = self.texts.table.get("picture.legend", images.legend)
        self._grid = bool(options.get(IMAGE_GRID, False))
        self._replaced = {field.name: field for field in base.fields if field.name in images.replaces}
        replaced = {*images.replaces} - {images.legend_field}
        self._replaced_rules = {field.name: field for field in base.rule_fields if field.name in replaced}
        self._legend = next((field for field in base.rule_fields if field.name == images.legend_field), None)
        self.rule_fields = tuple(map(self._rule_field_with_picture, base.rule_fields))
        self.fields = tuple(
            Field[View[S]](field.name, field.doc, lambda view: self._in_picture)
            if self.name == IMAGE and field.name in self._replaced
            else field
            for field in base.fields
        )

    def _rule_field_with_picture(self, field: Field[I]) -> Field[I]:
        """Return a field of the rules with its text replaced where the picture shows it."""
        if self._legend is not None and field.name == self._legend.name:
            return Field[I](field.name, field.doc, self._legend_text)
        if self.name == IMAGE and field.name in self._replaced_rules:
            return Field[I](field.name, field.doc, lambda instance: self._in_picture)
        return field

    def _legend_text(self, instance: I) -> str:
        """Return the legend of the picture, after that of the base wording in "image+text"."""
        legend = "" if self._legend is None else self._legend.of(instance)
        return self._picture_legend if self.name == IMAGE or not legend else f"{legend}\n{self._picture_legend}"

    def rules(self, instance: I) -> str:
        """Return the base wording's rules, with how to read the picture."""
        text = self._base.rules(instance)
        if self.name == IMAGE:
            text = self._replace_last(text, (field.of(instance) for field in self._replaced_rules.values()))
        legend = "" if self._legend is None else self._legend.of(instance)
        if legend and legend in text:
            return text.replace(legend, self._legend_text(instance), 1)
        return "\n\n".join(part for part in (text, self._picture_legend) if part)

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return the base wording's message; in "image" without what the picture shows."""
        text = self._base.observe(state, last, turn)
        return (
            self._replace_last(text, self._replaced_texts(state, last, turn).values()) if self.name == IMAGE else text
        )

    def picture(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> Picture | None:
        """Return a picture of the state wherever the base wording's text describes it, and with the rules."""
        text, pieces = self._base.observe(state, last, turn), self._replaced_texts(state, last, turn)
        if last is None or any(piece and piece in text for piece in pieces.values()):
            return Picture(state, self._size, self._grid, self._images.draw, tuple(pieces.items()))
        return None

    def _replaced_texts(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> dict[str, str]:
        """Return the texts of the fields that the picture replaces, by name."""
        view = View(state, last, turn)
        return {name: field.of(view) for name, field in self._replaced.items()}

    def _replace_last(self, text: str, pieces: Iterable[str]) -> str:
        """Return a text with the last occurrence of each piece replaced by a reference to the picture."""
        for piece in pieces:
            if piece:  # the last one, since an example above it can have the same text
                before, separator, after = text.rpartition(piece)
                text = f"{before}{self._in_picture}{after}" if separator else text
        return text
