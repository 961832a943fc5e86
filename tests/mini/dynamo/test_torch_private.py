"""The adapter finds every private name on this torch, and says in one sentence what is gone."""

import subprocess
import sys

import pytest

from helpers.internals import torch_private

pytestmark = pytest.mark.own_process(sharing="torch")


def double(x):
    return x + x


def test_this_torch_has_every_name():
    assert torch_private.missing() == ""


@pytest.mark.parametrize("group", torch_private.PLACES)
def test_missing_name_is_one_sentence(monkeypatch, group):
    name = next(iter(torch_private.PLACES[group]))
    place = torch_private.PLACES[group][name]
    monkeypatch.setitem(torch_private.PLACES[group], name, f"{place}_gone")
    told = torch_private.missing(group)
    assert f"{place.replace(':', '.')}_gone" in told
    assert "\n" not in told
    with pytest.raises(RuntimeError, match="_gone"):
        getattr(torch_private, name)
    with pytest.raises(RuntimeError, match="_gone"):
        torch_private.needed(group)


def test_adapter_imports_no_torch_until_asked():
    line = "import sys; from helpers.internals import torch_private; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_absent_torch_is_one_sentence():
    line = (
        "import sys; sys.modules['torch'] = None; "
        "from helpers.internals import torch_private; print(torch_private.missing())"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert "PyTorch is missing" in done.stdout
    assert done.stdout.count("\n") == 1


def test_callback_is_asked_and_taken_off():
    import torch

    asked = []

    def callback(frame, cache_entry, frame_state):
        asked.append(frame.f_code)
        return torch_private.skipped(again=True)

    with pytest.raises(ZeroDivisionError), torch_private.hooked(callback):
        double(torch.ones(1))
        1 / 0
    assert double.__code__ in asked
    count = len(asked)
    double(torch.ones(1))
    assert len(asked) == count


def test_replaced_code_runs_behind_its_guard():
    def triple(x):
        return x * 3

    def callback(frame, cache_entry, frame_state):
        if frame.f_code is not double.__code__:
            return torch_private.skipped(again=True)
        root = torch_private.RootGuardManager()
        kind = torch_private.GuardManagerType.GUARD_MANAGER
        leaf = root.framelocals_manager(("x", 0), "L['x']", 2, kind)
        leaf.add_equals_match_guard(2, ["x == 2"], None)
        return torch_private.replaced(triple.__code__, root)

    torch_private.reset_code(double.__code__)
    with torch_private.hooked(callback):
        assert double(2) == 6
        assert len(torch_private.cache_entries(double.__code__)) == 1
    torch_private.reset_code(double.__code__)
    assert double(2) == 4
