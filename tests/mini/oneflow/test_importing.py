"""`import oneflow` means this package while an op's own files are loaded, and nothing after."""

import sys

import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow.custom_op_module import as_oneflow
from tests.mini.oneflow.folders import RELU, edited, load, write


def test_only_an_ops_files_see_the_name(tmp_path):
    op = load(write(tmp_path))
    assert op.api.flow is flow
    assert not [name for name in sys.modules if name.split(".")[0] == "oneflow"]
    with pytest.raises(ModuleNotFoundError):
        import oneflow  # noqa: F401


def test_the_name_is_gone_after_a_file_that_fails(tmp_path):
    write(tmp_path, edited(RELU, "py_api.py", "def relu", "1 / 0\n\n\ndef relu"))
    with pytest.raises(flow.OpError):
        load(tmp_path)
    assert "oneflow" not in sys.modules


def test_typing_can_be_imported():
    with as_oneflow():
        import oneflow.typing as tp
    assert tp is flow.typing


def test_nothing_is_registered_of_a_folder_that_fails(tmp_path):
    write(tmp_path, edited(RELU, "py_kernel.py", "def forward(args):", "def forward(args)"))
    with pytest.raises(flow.OpError):
        load(tmp_path)
    assert flow.op_types() == ()
