"""Names of models that people cannot take for others."""

import unicodedata

from waybench.results.logs import is_embedded

# Scripts whose letters look like none of the Latin alphabet. Letters of others, such as Cyrillic, can be taken for it.
_OTHER_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "DEVANAGARI", "THAI", "BENGALI", "TAMIL"}
_LOOKALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "_": "-"})


def name_problem(model: str) -> str:
    """Return why a model cannot have a name among others, in words; "" if it can."""
    if is_embedded(model):
        return f"{model[:60]!a} is the name of one of waybench's own players: name the model"
    if not model.strip():
        return "a model has no name"
    for sign in unicodedata.normalize("NFC", model):
        if not (sign == " " or _is_plain(sign)):
            name = unicodedata.name(sign, "a control character")
            return f"{model[:60]!a} has a sign that is invisible or looks like another one (U+{ord(sign):04X}, {name})"
    return ""


def _is_plain(sign: str) -> bool:
    if sign.isascii():
        return sign.isprintable() and sign != " "
    base = unicodedata.normalize("NFD", sign)[0]
    script = unicodedata.name(sign, "").partition(" ")[0]
    return unicodedata.category(sign)[0] == "L" and (script in _OTHER_SCRIPTS or (base.isascii() and base.isalpha()))


def look(model: str) -> str:
    """Return what names that look alike have in common: case, 0 and O, 1 and l, accents and blanks do not count."""
    letters = unicodedata.normalize("NFKD", model).casefold().translate(_LOOKALIKES).replace("rn", "m")
    return "".join(sign for sign in letters if sign.isalnum() or sign in "/-.:")
