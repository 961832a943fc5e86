"""`help` of a record teaches: its docstring has each of its fields, with a type and a sentence."""

import dataclasses
import importlib
import inspect
import pkgutil
import re

import pytest

from helpers import model

UNDERLINE = "Attributes\n----------\n"
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.+)\n((?: {4}\S.*\n?)+)", re.MULTILINE)


def records():
    """Yield the dataclasses that the modules of helpers/model define."""
    for found in pkgutil.iter_modules(model.__path__):
        module = importlib.import_module(f"{model.__name__}.{found.name}")
        for value in vars(module).values():
            is_own = isinstance(value, type) and value.__module__ == module.__name__
            if is_own and dataclasses.is_dataclass(value):
                yield value


RECORDS = sorted(records(), key=lambda record: (record.__module__, record.__name__))


def own_fields(record):
    """Return the fields that a record adds to those of the records from which it inherits."""
    own = inspect.get_annotations(record)
    return [field.name for field in dataclasses.fields(record) if field.name in own]


def described(record):
    """Return what the docstring says of each field, by name."""
    _, _, attributes = inspect.cleandoc(vars(record)["__doc__"]).partition(UNDERLINE)
    return {
        name: text for names, _, text in ENTRY.findall(attributes) for name in names.split(", ")
    }


def test_most_records_are_found():
    assert len(RECORDS) > 60


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_record_is_frozen_and_its_docstring_describes_each_field(record):
    assert record.__dataclass_params__.frozen
    assert list(described(record)) == own_fields(record)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_each_description_of_a_field_is_a_sentence(record):
    assert all(text.rstrip().endswith(".") for text in described(record).values())
