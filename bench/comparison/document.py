"""Writes tables between two lines of a document and leaves all else as it is."""
import os

BEGIN = "<!-- tables: written by bench/compare, do not edit -->"
END = "<!-- end of tables -->"


class NoPlace(Exception):
    """The document has no place for tables."""


def between(text, tables):
    """The text with its tables replaced."""
    lines = text.split("\n")
    for marker in (BEGIN, END):
        if lines.count(marker) != 1:
            raise NoPlace(f"needs this line exactly once: {marker}")
    first, last = lines.index(BEGIN), lines.index(END)
    if last < first:
        raise NoPlace("has the end of the tables before their beginning")
    return "\n".join(lines[:first + 1] + ["", tables.strip("\n"), ""] + lines[last:])


def check(path):
    """Before an hour of measuring: is there a place to write to?"""
    try:
        between(path.read_text(), "")
    except OSError as error:
        raise NoPlace(f"cannot be read: {error}") from None


def write(path, tables):
    """Whole or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(between(path.read_text(), tables))
    os.replace(draft, path)
