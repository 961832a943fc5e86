"""The adapter finds every private name on this torch, and says in one sentence what is gone."""

import subprocess
import sys

import pytest

from helpers.internals import torch_private

pytestmark = pytest.mark.own_process(sharing="torch")


def test_this_torch_has_every_name():
    assert torch_private.describe_missing() == ""


@pytest.mark.parametrize("group", torch_private.PLACES)
def test_missing_name_is_one_sentence(monkeypatch, group, refused):
    name = next(iter(torch_private.PLACES[group]))
    place = torch_private.PLACES[group][name]
    monkeypatch.setitem(torch_private.PLACES[group], name, f"{place}_gone")
    told = torch_private.describe_missing(group)
    assert f"{place.replace(':', '.')}_gone" in told
    assert "\n" not in told
    refused(RuntimeError, "_gone", getattr, torch_private, name)
    refused(RuntimeError, "_gone", torch_private.require_names, group)


def test_absent_torch_is_one_sentence():
    line = (
        "import sys; sys.modules['torch'] = None; "
        "from helpers.internals import torch_private; print(torch_private.describe_missing())"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert "PyTorch" in done.stdout and done.stdout.count("\n") == 1
