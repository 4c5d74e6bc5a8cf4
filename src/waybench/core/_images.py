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
        legend: How to read the picture, for the rules. An environment that has texts by language has the text
            "picture.legend" in place of it.
        replaces: Names of the fields of the base wording (`Wording.rule_fields`, `Wording.fields`) whose texts the
            picture replaces.
        legend_field: Name of the field of the rules that the legend replaces: the field that says how to read the text
            which the picture replaces, or that text itself. In "image+text" the legend follows the field's text. "" for
            a legend at the end of the rules.
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
        """The options of play that pictures add to the environment's; records without pictures lack them."""
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
        grid = Option(
            name=IMAGE_GRID,
            default=False,
            doc=f"Whether the pictures of {wordings} have lines between cells and numbers of rows and columns.",
        )
        return (base, size, grid) if self.grid else (base, size)


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
        base: The environment's own wording, which parses, remembers and renders, and has all other texts.
        options: Resolved options of play.
    """

    def __init__(self, images: Images, base: Wording[I, S, A], options: Mapping[str, Json]) -> None:
        super().__init__(base, str(options[WORDING]))
        self._images, self._size = images, int(options[IMAGE_SIZE])
        self._placeholder = self.texts["picture.place"]  # in place of a text that the picture shows
        # Environments without texts by language have the legend of `images` only.
        self._picture_legend = self.texts.table.get("picture.legend", images.legend)
        self._grid = bool(options.get(IMAGE_GRID, False))
        self._replaced_fields = {field.name: field for field in base.fields if field.name in images.replaces}
        rule_names = {*images.replaces} - {images.legend_field}
        self._replaced_rule_fields = {field.name: field for field in base.rule_fields if field.name in rule_names}
        self._legend_field = next((field for field in base.rule_fields if field.name == images.legend_field), None)
        self.rule_fields = tuple(map(self._rule_field_with_picture, base.rule_fields))
        self.fields = tuple(
            Field[View[S]](field.name, field.doc, lambda view: self._placeholder)
            if self.name == IMAGE and field.name in self._replaced_fields
            else field
            for field in base.fields
        )

    def _rule_field_with_picture(self, field: Field[I]) -> Field[I]:
        """Return a field of the rules with its text replaced where the picture shows it."""
        if self._legend_field is not None and field.name == self._legend_field.name:
            return Field[I](field.name, field.doc, self._legend_text)
        if self.name == IMAGE and field.name in self._replaced_rule_fields:
            return Field[I](field.name, field.doc, lambda instance: self._placeholder)
        return field

    def _base_legend(self, instance: I) -> str:
        """Return the text of the base wording that the picture's legend replaces; "" without one."""
        return "" if self._legend_field is None else self._legend_field.of(instance)

    def _legend_text(self, instance: I) -> str:
        """Return the legend of the picture, in "image+text" after the legend of the base wording."""
        legend = self._base_legend(instance)
        return self._picture_legend if self.name == IMAGE or not legend else f"{legend}\n{self._picture_legend}"

    def rules(self, instance: I) -> str:
        """Return the base wording's rules with the legend of the picture; in "image" without replaced texts."""
        text = self._base.rules(instance)
        if self.name == IMAGE:
            text = self._replace_last(text, (field.of(instance) for field in self._replaced_rule_fields.values()))
        legend = self._base_legend(instance)
        if legend and legend in text:
            return text.replace(legend, self._legend_text(instance), 1)
        return "\n\n".join(part for part in (text, self._picture_legend) if part)

    def observe(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> str:
        """Return the base wording's message; in "image" without the texts that the picture shows."""
        text = self._base.observe(state, last, turn)
        if self.name != IMAGE:
            return text
        return self._replace_last(text, self._replaced_texts(state, last, turn).values())

    def picture(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> Picture | None:
        """Return a picture of the state at the start and where the base wording describes it; None otherwise."""
        message, texts = self._base.observe(state, last, turn), self._replaced_texts(state, last, turn)
        if last is None or any(text and text in message for text in texts.values()):
            return Picture(state, self._size, self._grid, self._images.draw, tuple(texts.items()))
        return None

    def _replaced_texts(self, state: S, last: Transition[S] | Invalid | None, turn: int) -> dict[str, str]:
        """Return the texts of the fields that the picture replaces, by name."""
        view = View(state, last, turn)
        return {name: field.of(view) for name, field in self._replaced_fields.items()}

    def _replace_last(self, message: str, texts: Iterable[str]) -> str:
        """Return a message with the last occurrence of each text replaced by a reference to the picture."""
        for text in texts:
            if text:  # the last occurrence, since an example above it can have the same text
                before, found, after = message.rpartition(text)
                message = f"{before}{self._placeholder}{after}" if found else message
        return message
