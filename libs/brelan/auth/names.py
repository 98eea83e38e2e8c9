"""Player names. Two that look alike are one name: nobody sits down as somebody else."""

import unicodedata

SHORTEST, LONGEST = 2, 24
PUNCTUATION = "-_.' "
RESERVED = frozenset(
    ("admin", "administrator", "brelan", "cashier", "dealer", "house", "moderator", "operator", "support", "system")
)


def key_of(name: str) -> str:
    """What makes a name unique: case, accents, spaces and punctuation do not."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    return "".join(letter for letter in plain.casefold() if letter.isalnum())


def problem_of(name: str, reserved_allowed: bool = False) -> str:
    """Why a name cannot be had, in a sentence; "" when it can."""
    if not SHORTEST <= len(name) <= LONGEST:
        return f"A name has {SHORTEST} to {LONGEST} characters; this one has {len(name)}."
    for letter in name:
        if not _allowed(letter):
            return f"A name is made of Latin letters, digits, spaces and {PUNCTUATION.strip()}, not of {letter!r}."
    if name != " ".join(name.split()):
        return "A name neither begins nor ends with a space, and has no two in a row."
    if unicodedata.normalize("NFC", name) != name:
        return "A name is written with composed letters: é as one character."
    if not any(letter.isalpha() for letter in name):
        return "A name has at least one letter."
    if key_of(name) in RESERVED and not reserved_allowed:
        return f"The name {name} is the room's own. Choose another one."
    return ""


def _allowed(letter: str) -> bool:
    """Only one script: letters of others look like Latin ones."""
    if letter.isascii():
        return letter.isalnum() or letter in PUNCTUATION
    return letter.isalpha() and unicodedata.name(letter, "").startswith("LATIN ")


def suggested(text: str) -> str:
    """What of a text from elsewhere may be a name; "" when nothing may."""
    composed = unicodedata.normalize("NFC", text[: 8 * LONGEST])
    kept = "".join(letter if _allowed(letter) else " " for letter in composed)
    name = " ".join(kept.split())[:LONGEST].strip()
    return "" if problem_of(name) else name
