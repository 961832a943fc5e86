"""Symbols are read from files as the loader would find them; then and now is looked up."""

import ctypes
import struct

import pytest

from helpers import show_c_api, show_imports_then_and_now
from helpers.capture.tensorflow import c_libraries as c_api
from helpers.internals.shared_libraries import list_exported_names

pytestmark = pytest.mark.own_process(sharing="tensorflow")

pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def libraries():
    return {row.name: row for row in show_c_api().model.rows}


def test_the_libraries_hold_what_the_loader_finds(libraries):
    import tensorflow  # noqa: F401

    for path in c_api.find_library_files():
        loaded, row = ctypes.CDLL(str(path)), libraries[path.name.partition(".")[0]]
        for name in row.holds.split(", "):
            assert not name or name in c_api.CPP_NAMES or getattr(loaded, name)


def test_each_function_is_in_one_library(libraries):
    held = [name for row in libraries.values() for name in row.holds.split(", ") if name]
    assert sorted(held) == sorted([*c_api.C_NAMES, *c_api.CPP_NAMES])
    assert "TFE_Execute" in libraries["libtensorflow_cc"].holds
    assert libraries["libtensorflow_cc"].tfe > 150 and libraries["_pywrap_tfe"].tfe == 0


def test_then_and_now_is_looked_up():
    rows = {row.then: row for row in show_imports_then_and_now().model.rows}
    assert rows["from tensorflow.python import pywrap_tensorflow"].now.endswith(": 0")
    assert rows["pywrap_tensorflow_internal.py"].now.startswith("ModuleNotFoundError: ")
    every = rows["pywrap_tensorflow_internal contains every C function"].now
    assert "pywrap_library_dependency_symbol" in every
    assert "in the package: 0;" in rows["SWIG writes the wrappers, from *.i files"].now
    assert "pybind11_type" in rows["SWIG's proxy classes"].now
    assert rows["void TFE_Py_Execute(…), 7 parameters in C"].now.startswith("7 parameters")
    assert rows["enable_eager_execution: if the default mode is not eager"].still == "yes"


def test_a_mach_o_file_is_read_too(tmp_path):
    names = b"\0_TFE_NewOp\0_local\0_TFE_Absent\0"
    symbols = b"".join(
        struct.pack("<IBBHQ", names.index(name), kind, 1, 0, 0)
        for name, kind in ((b"_TFE_NewOp", 0x0F), (b"_local", 0x0E), (b"_TFE_Absent", 0x01))
    )
    header = struct.pack("<8I", 0xFEEDFACF, 0, 0, 6, 2, 16 + 24, 0, 0)
    other, start = struct.pack("<IIQ", 0x1B, 16, 0), 32 + 16 + 24
    table = struct.pack("<6I", 2, 24, start, 3, start + len(symbols), len(names))
    path = tmp_path / "lib.dylib"
    path.write_bytes(header + other + table + symbols + names)
    assert list_exported_names(path, "") == ["TFE_NewOp"]


@pytest.mark.parametrize("content", [b"text, and no library", b"\x7fELF\x01\x01" + b"\0" * 64])
def test_another_kind_of_file_is_named(tmp_path, content, refused):
    path = tmp_path / "lib.so"
    path.write_bytes(content)
    words = r"lib\.so is neither a 64-bit ELF nor a 64-bit Mach-O file"
    refused(ValueError, words, list_exported_names, path, "")
