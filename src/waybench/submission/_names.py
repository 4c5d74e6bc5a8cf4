"""Names of models that people cannot mistake for other names."""

import unicodedata

from waybench.results.logs import is_embedded

# Scripts whose letters do not look like Latin ones, as letters of other scripts do, such as Cyrillic.
_CLEAR_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "DEVANAGARI", "THAI", "BENGALI", "TAMIL"}
_LOOKALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "_": "-"})


def model_name_problem(model: str) -> str:
    """Return why a model may not have this name, which could be mistaken for another; "" if it may."""
    if is_embedded(model):
        return f"{model[:60]!a} is the name of one of waybench's own players: name the model"
    if not model.strip():
        return "a model has no name"
    for character in unicodedata.normalize("NFC", model):
        if not (character == " " or _is_unmistakable(character)):
            sign = f"U+{ord(character):04X}, {unicodedata.name(character, 'a control character')}"
            return f"{model[:60]!a} has a sign that is invisible or looks like another one ({sign})"
    return ""


def _is_unmistakable(character: str) -> bool:
    """Return whether a character is visible and looks like no other one: ASCII, an accented or a distinct letter."""
    if character.isascii():
        return character.isprintable() and character != " "
    if unicodedata.category(character)[0] != "L":  # no letter
        return False
    base = unicodedata.normalize("NFD", character)[0]
    script = unicodedata.name(character, "").partition(" ")[0]
    return script in _CLEAR_SCRIPTS or (base.isascii() and base.isalpha())


def lookalike_key(model: str) -> str:
    """Return a key that is the same for all names that look alike, in case, accents, blanks, 0/O or 1/l."""
    letters = unicodedata.normalize("NFKD", model).casefold().translate(_LOOKALIKES).replace("rn", "m")
    return "".join(letter for letter in letters if letter.isalnum() or letter in "/-.:")
