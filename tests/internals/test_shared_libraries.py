"""helpers/internals/shared_libraries.py: names are read from files as the loader finds them."""

import ctypes
import sys
from pathlib import Path

import pytest

from helpers.internals.shared_libraries import find_import_slots, list_exported_names

LIBRARY = Path(getattr(sys.modules["_ctypes"], "__file__", None) or ctypes.__file__)
has_library = pytest.mark.skipif(LIBRARY.suffix not in (".so", ".dylib"), reason="no such file")


@has_library
def test_the_exported_names_are_those_that_the_loader_finds():
    names = list_exported_names(LIBRARY, "Py")  # not the names that it imports
    assert names == ["PyInit__ctypes"]
    assert getattr(ctypes.CDLL(str(LIBRARY)), names[0])
    assert list_exported_names(LIBRARY, "no_such_name") == []


@has_library
def test_a_file_that_is_not_loaded_has_no_slots(tmp_path):
    copy = tmp_path / "never_loaded.so"
    copy.write_bytes(LIBRARY.read_bytes())
    assert find_import_slots(copy) == {}


@pytest.mark.parametrize("content", [b"text, and no library", b"\x7fELF\x01\x01"])
def test_a_file_of_another_kind_is_named(tmp_path, content, refused):
    path = tmp_path / "other.so"
    path.write_bytes(content)
    refused(ValueError, r"other\.so", list_exported_names, path, "a")
