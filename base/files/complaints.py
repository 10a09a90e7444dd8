"""What is wrong with a document, in the words of the person
who wrote it instead of the validator's.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection

from pydantic import AfterValidator, ValidationError, WrapValidator

from .errors import near_miss

Place = tuple[str | int, ...]
"""The keys, and the indices in lists, that lead from a document's top to a value."""

# A key that needs no quotation marks to be told from the sentence around it.
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}")

_TABLE = "a table of keys and values"
_LIST = "a list"

# More than these are no help in a sentence.
_MOST_LISTED = 12

# What must stand there, by the validator's kind of error; the braces are filled from its context.
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": _TABLE,
    "finite_number": "a finite number",
    "frozen_set_type": _LIST,
    "float_type": "a number",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "int_type": "a whole number",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "list_type": _LIST,
    "literal_error": "{expected}",
    "model_attributes_type": _TABLE,
    "model_type": _TABLE,
    "none_required": "null",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "string_too_long": "a text of at most {max_length} characters",
    "string_too_short": "a text of at least {min_length} characters",
    "string_type": "a text in quotation marks",
    "too_long": "at most {max_length} entries long",
    "too_short": "at least {min_length} entries long",
    "tuple_type": _LIST,
}


class WrongValueError(ValueError):
    """Raised by a model's validator: what is wrong with the value at hand, said as a predicate.

    `WrongValueError("is none of the boards", "default")` becomes "default
    is none of the boards; mend it.". `place` leads from the value at hand
    to the wrong one; `remedy` is said instead of "mend it".
    """

    def __init__(self, predicate: str, *place: str | int, remedy: str | None = None) -> None:
        super().__init__(predicate)
        self.predicate = predicate
        self.place = place
        self.remedy = remedy

    def under(self, place: Place) -> WrongValueError:
        """The same, seen from further out: `place` leads to the value at hand."""
        return WrongValueError(self.predicate, *place, *self.place, remedy=self.remedy)


def quoted(value: object) -> str:
    """`value` as it was given, cut short in the middle
    where it is long; of a table or list the kind only.
    """
    if isinstance(value, dict | list):
        return _TABLE if isinstance(value, dict) else _LIST
    try:
        return reprlib.repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits; TOML may give one in hex
        return "one of thousands of digits"


def unknown_key(given: str, names: Collection[str]) -> WrongValueError:
    """The refusal of a key that is not among `names`."""
    choices = sorted(names)
    listed = f"the keys here are {', '.join(choices)}" if choices else "no keys belong here"
    if len(choices) > _MOST_LISTED:
        listed = "drop it"
    return WrongValueError("is unknown", given, remedy=f"{listed}.{near_miss(given, choices)}")


def not_among(given: str, names: Collection[str], *place: str | int) -> WrongValueError:
    """The refusal of a value that is not one of `names`."""
    choices = list(names)
    listed = f"choose from {', '.join(choices)}" if choices else "there is nothing to choose from"
    remedy = f"{listed}.{near_miss(given, choices)}"
    return WrongValueError(f"cannot be {quoted(given)}", *place, remedy=remedy)


def among(names: Collection[str]) -> AfterValidator:
    """An annotation: the text must be one of `names`."""

    def check(given: str) -> str:
        if given not in names:
            raise not_among(given, names)
        return given

    return AfterValidator(check)


def expecting(what: str) -> WrapValidator:
    """An annotation: whatever is wrong with this value, the sentence says that it must be `what`.

    Meant for single values; of a table it would hide which key is wrong.
    """

    def check(value: object, handler: object) -> object:
        try:
            return handler(value)  # type: ignore[operator]
        except ValidationError:
            raise WrongValueError(f"must be {what}, not {quoted(value)}") from None

    return WrapValidator(check)


def first_complaint(error: ValidationError, values: object) -> WrongValueError:
    """The first thing wrong with `values`; its `place` leads there from the top."""
    details = error.errors(include_url=False)[0]
    place = _place(details["loc"], values)
    context = details.get("ctx", {})
    kind = details["type"]
    if isinstance(raised := context.get("error"), WrongValueError):
        return raised.under(place)
    tag = str(context.get("discriminator")).strip("'")
    if kind in ("missing", "union_tag_not_found"):
        key = details["loc"][-1] if kind == "missing" else tag
        return WrongValueError("is missing", *place, key, remedy="add it")
    if kind == "union_tag_invalid":
        words = f"must be one of {context['expected_tags']}, not {quoted(context['tag'])}"
        return WrongValueError(words, *place, tag)
    if kind in _EXPECTED:
        given = context.get("actual_length", details["input"])
        words = f"must be {_EXPECTED[kind].format(**context)}, not {quoted(given)}"
    else:
        words = details["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return WrongValueError(words, *place)


def sentence(complaint: WrongValueError, remedy: str | None = None) -> str:
    """The whole sentence for a complaint, subject first;
    `remedy` is what to do if the complaint does not say.
    """
    ending = complaint.remedy or remedy
    words = f"{_subject(complaint.place)} {complaint.predicate}" + (f"; {ending}" if ending else "")
    return words if words[-1] in ".?" else words + "."


def _place(location: tuple[int | str, ...], values: object) -> Place:
    """The part of the validator's location that stands in
    the document: it also names variants of a union.
    """
    place: Place = ()
    for part in location:
        try:
            values = values[part]  # type: ignore[index]
        except (LookupError, TypeError):
            continue
        place = (*place, part)
    return place


def _subject(place: Place) -> str:
    """A place as people write it: boards.nucleo.analyzer, reasons[3]."""
    if not place:
        return "the file"
    words = ""
    for part in place:
        if isinstance(part, int):
            words += f"[{part}]"
        else:
            words += "." * bool(words) + (part if _PLAIN_KEY.fullmatch(part) else quoted(part))
    return words
