"""The list of waybench's extensions of play, in their order, and functions that depend on all of them.

Languages, pictures, templates, tools, prefixes, marks of reasoning and contexts are seven values of `PlayExtension`,
which environments and episodes use without knowing them. Only the options of pictures are in `Playing.options`, since
an environment that has pictures chooses their defaults.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from waybench.core._context import CONTEXT_EXTENSION, CONTEXT_LENGTH
from waybench.core._environment import PLAY_EXTENSIONS, AnyEnvironment, AnyPlay, PlayExtension, Resolve
from waybench.core._errors import UsageError
from waybench.core._game import Json
from waybench.core._images import IMAGE_OPTIONS, ImageWording, has_images, without_image_options
from waybench.core._languages import LANGUAGE_EXTENSION
from waybench.core._metrics import Axis
from waybench.core._play import IMAGE_WORDINGS, NO_EFFECT, WORDING, Option
from waybench.core._prefix import HANDOVER_AXES, PREFIX_EXTENSION
from waybench.core._replies import THINK_TAGS, join_think_tags, split_think_tags
from waybench.core._template import TEMPLATE_EXTENSION, without_template
from waybench.core._tools import TOOLS_EXTENSION

THINK_TAGS_OPTION = Option(
    name=THINK_TAGS,
    effect=NO_EFFECT,
    default=None,
    kind=str,
    doc="Marks around the reasoning of a model whose own marks waybench does not know: the opening and the closing "
    'one with a blank between them, such as "<plan> </plan>" (with a line break, if a mark has a blank in it). By '
    "default none.",
)


def _without_unused_image_options(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve options, and leave out those of pictures where the wording has no pictures."""
    options = resolve_others(values)
    if options[WORDING] in IMAGE_WORDINGS:
        return options
    return {name: value for name, value in options.items() if name not in IMAGE_OPTIONS}


def _play_with_images(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with a wording that shows pictures; None if the options ask for none."""
    if environment.playing.images is None or not has_images(options):
        return None
    play, images = environment.play_with(without_image_options(options)), environment.playing.images
    if not any(field.name in images.replaces for field in (*play.wording.rule_fields, *play.wording.fields)):
        raise UsageError(f"{WORDING}={options[WORDING]}: with these options there is nothing to draw")
    return replace(play, wording=ImageWording(images, play.wording, options))


def _resolve_think_tags_option(
    environment: AnyEnvironment, resolve_others: Resolve, values: dict[str, Json]
) -> dict[str, Json]:
    """Resolve the option `think_tags` and those of the environment; see `PlayExtension.resolve`."""
    text = THINK_TAGS_OPTION.check(values.pop(THINK_TAGS, None))
    think_tags = {} if text is None else {THINK_TAGS: join_think_tags(*split_think_tags(text))}
    return resolve_others(values) | think_tags


def _play_with_think_tags(environment: AnyEnvironment, options: Mapping[str, Json]) -> AnyPlay | None:
    """Return the play with the user's marks of reasoning; None if there are none."""
    if THINK_TAGS not in options:
        return None
    other_options = {name: value for name, value in options.items() if name != THINK_TAGS}
    return replace(environment.play_with(other_options), think_tags=options[THINK_TAGS])


PLAY_EXTENSIONS.extend(
    (
        LANGUAGE_EXTENSION,
        PlayExtension(
            name="images", resolve=_without_unused_image_options, wrap=_play_with_images, content=IMAGE_OPTIONS
        ),
        TEMPLATE_EXTENSION,
        TOOLS_EXTENSION,
        PREFIX_EXTENSION,
        PlayExtension(
            name="think_tags",
            options=(THINK_TAGS_OPTION,),
            resolve=_resolve_think_tags_option,
            wrap=_play_with_think_tags,
        ),
        CONTEXT_EXTENSION,
    )
)

OPTION_AXES: Mapping[str, Axis] = MappingProxyType({axis.name: axis for axis in (*HANDOVER_AXES, CONTEXT_LENGTH)})
"""Name -> axis whose values follow from an option of an extension, so that the same items have several values."""


def base_wording_name(options: Mapping[str, Json]) -> str:
    """Return the name of the text wording that the options' wording is based on."""
    return str(without_image_options(without_template(options))[WORDING])


def wording_name_with_options(environment: AnyEnvironment, options: Mapping[str, Json]) -> str:
    """Return a wording's name with the picture options that differ from their defaults: "image (image_size=512)"."""
    defaults = {option.name: option.default for option in environment.playing.options if option.name in IMAGE_OPTIONS}
    changes = [f"{name}={options[name]}" for name in defaults if options.get(name, defaults[name]) != defaults[name]]
    return f"{options[WORDING]} ({', '.join(changes)})" if changes else str(options[WORDING])
