"""Recorded models as JSON -> the same models, and their forms as a golden output holds them.

`python -m tools.record_models` writes the files, with `Exhibit.to_dict`.
"""

import base64
import functools
import importlib
import json
import pkgutil
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

import helpers.model
from helpers.exhibit import Exhibit
from helpers.model.tables import make_row
from helpers.view import View

FOLDER = Path(__file__).parent / "recorded"
IMAGE = re.compile(r'data:image/svg\+xml(;base64)?,([^"\']+)')
STYLE = re.compile(r"<style.*?</style>", re.DOTALL)


@dataclass(frozen=True)
class Recorded:
    """One example: what a verb showed, without the framework that ran it."""

    #: The verb.
    name: str
    #: The module of the view below helpers.view, and its name there.
    view: str
    #: The model as `Exhibit.to_dict` gave it.
    record: dict

    def exhibit(self) -> Exhibit:
        """Return the exhibit of the model with its view."""
        return Exhibit(build_record(self.record), find_view(self.view))


def read_recorded() -> list[Recorded]:
    """Return all recorded examples, by the name of their verb."""
    examples = []
    for path in sorted(FOLDER.glob("*.json")):
        stored = json.loads(path.read_text("utf-8"))
        examples.append(Recorded(path.stem, stored["view"], stored["model"]))
    return examples


def find_view(name: str) -> View:
    """Return the view that is called `module.name` below helpers.view."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"helpers.view.{module}"), attribute)


@functools.cache
def record_classes() -> dict[tuple[str, frozenset], type]:
    """Return the name and the fields of each record of helpers.model -> its class."""
    classes = {}
    for found in pkgutil.iter_modules(helpers.model.__path__, "helpers.model."):
        for value in vars(importlib.import_module(found.name)).values():
            fields = getattr(value, "__dataclass_fields__", getattr(value, "_fields", None))
            if isinstance(value, type) and fields is not None:
                classes[value.__name__, frozenset(fields)] = value
    return classes


def build_record(stored: object) -> object:
    """Return the model, or the part of one, that `Exhibit.to_dict` stored as this."""
    if isinstance(stored, list):
        return tuple(build_record(item) for item in stored)
    if not isinstance(stored, dict):
        return stored
    fields = {name: build_record(part) for name, part in stored.items() if name != "record"}
    record_class = record_classes().get((stored["record"], frozenset(fields)))
    if record_class is None:  # a row of a table that a learner made
        return make_row(tuple(fields), tuple(fields.values()))
    return record_class(**fields)


def text_form(exhibit: Exhibit) -> str:
    """Return the whole text form."""
    return exhibit.text()


def html_form(exhibit: Exhibit) -> str:
    """Return the HTML form: a tag a line, images as their SVG, without the shared style sheet."""
    html = STYLE.sub("<style/>", exhibit._page())
    return re.sub(r">\s*<", ">\n<", IMAGE.sub(lambda image: f"\n{_decode(image)}\n", html))


def _decode(image: re.Match) -> str:
    data = base64.b64decode(image[2]) if image[1] else unquote_to_bytes(image[2])
    return STYLE.sub("<style/>", data.decode("utf-8"))
