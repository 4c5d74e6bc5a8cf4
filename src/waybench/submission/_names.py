"""Names of models that people cannot take for others."""

import unicodedata

from waybench.results.logs import is_embedded

# Scripts whose letters look like none of the Latin alphabet. Letters of others, such as Cyrillic, can be taken for it.
_OTHER_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "DEVANAGARI", "THAI", "BENGALI", "TAMIL"}
_LOOKALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "_": "-"})


def model_name_problem(model: str) -> str:
    """Return why a model may not have this name, as it could be taken for another; "" if it may."""
    if is_embedded(model):
        return f"{model[:60]!a} is the name of one of waybench's own players: name the model"
    if not model.strip():
        return "a model has no name"
    for sign in unicodedata.normalize("NFC", model):
        if not (sign == " " or _is_unmistakable(sign)):
            name = unicodedata.name(sign, "a control character")
            return f"{model[:60]!a} has a sign that is invisible or looks like another one (U+{ord(sign):04X}, {name})"
    return ""


def _is_unmistakable(character: str) -> bool:
    """Return whether a character is visible and looks like no other one."""
    if character.isascii():
        return character.isprintable() and character != " "
    base = unicodedata.normalize("NFD", character)[0]
    script = unicodedata.name(character, "").partition(" ")[0]
    return unicodedata.category(character)[0] == "L" and (
        script in _OTHER_SCRIPTS or (base.isascii() and base.isalpha())
    )


def lookalike_key(model: str) -> str:
    """Return a key that is the same for all names that look alike, in case, accents, blanks, 0/O or 1/l."""
    letters = unicodedata.normalize("NFKD", model).casefold().translate(_LOOKALIKES).replace("rn", "m")
    return "".join(sign for sign in letters if sign.isalnum() or sign in "/-.:")
