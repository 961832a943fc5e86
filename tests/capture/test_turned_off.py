"""Code that Dynamo does not compile in a user's program: an exhibit of a fresh compile says so."""

import contextlib
import threading

import pytest

from helpers import watch_breaks, watch_compile, watch_fixes, watching_breaks, watching_recompiles
from helpers.internals import code_extras, dynamo_codes, dynamo_settings, torch_private
from helpers.mini.frame_hook import put_back

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")

X = torch.ones(2, 4)
OFF = "torch._dynamo.reset()"


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def fresh():
    torch_private.reset()
    yield
    put_back()


def compiled_in_a_mode():
    def moded(x):
        return x.sin()

    compiled = torch.compile(moded, backend="eager")
    with Mode():
        compiled(X)
    return moded, compiled


def test_a_call_in_a_dispatch_mode_turns_a_function_off():
    moded, compiled = compiled_in_a_mode()
    for fn in (moded, compiled):
        told = watch_breaks(fn, X).model
        assert told.graphs == 1
        assert "fresh compile. In your program Dynamo skips moded (test_turned_off.py:" in told.note
        assert OFF in watch_compile(fn, X).model.note
    assert code_extras.list_barred_codes([moded.__code__]) == [(moded.__code__, "SKIP")]


def test_a_block_says_that_nothing_was_compiled_in_it():
    with watching_breaks() as seen:
        pass
    assert "No compiled function was called in the block." in seen.model.note
    moded, compiled = compiled_in_a_mode()
    with watching_breaks() as seen:
        compiled(X)
    assert seen.model.graphs == 0
    assert "Dynamo skips moded (test_turned_off.py:" in seen.model.note
    whole = torch.compile(lambda x: x.cos(), backend="eager")
    whole(X)
    with watching_breaks() as seen:
        whole(X)
    assert "Dynamo translated nothing in it" in seen.model.note


def test_settings_that_turn_compiling_off_are_named():
    def settled(x):
        return x.sin()

    with torch._dynamo.config.patch(disable=True):
        assert "while torch._dynamo.config.disable is set" in watch_breaks(settled, X).model.note
        assert "config.disable" in watch_fixes({"it": (settled, settled)}, X).model.note
    for stance in ("force_eager", "eager_on_recompile"):
        with torch.compiler.set_stance(stance):
            told = watch_breaks(settled, X).model
        assert told.graphs == 0 and f'set_stance("{stance}")' in told.note
    told = watch_breaks(settled, X).model
    assert told.graphs == 1 and "set" not in told.note


def test_a_module_after_a_compiled_lstm():
    assert "they share the frame inner" in watch_breaks(torch.nn.LSTM(4, 3), X).model.note
    torch.compile(torch.nn.LSTM(4, 3), backend="eager")(X)
    told = watch_breaks(torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU()), X).model
    assert told.graphs == 1
    assert "In your program Dynamo skips inner (external_utils.py:" in told.note


def test_a_function_at_its_limit():
    def limited(x):
        return x.cos()

    compiled = torch.compile(limited, backend="eager", dynamic=False)
    with dynamo_settings.collect_torch_logs():
        for size in range(2, 12):
            compiled(torch.ones(size))
    assert "compiles limited (test_turned_off.py:" in watch_breaks(limited, X).model.note


def test_a_disabled_function_and_module():
    @torch.compiler.disable
    def kept_out(x):
        return x.sin()

    told = watch_breaks(kept_out, X).model
    assert told.graphs == 1
    assert "torch.compiler.disable keeps Dynamo out of this function" in told.note
    module = torch.compiler.disable(torch.nn.Linear(4, 2))
    assert "torch.compile is unwrapped" not in watch_breaks(module, X).model.note


def test_what_was_never_compiled_has_a_reason():
    def rows(x):
        yield from x

    assert "Generators cannot be compiled directly" in watch_breaks(rows, X).model.note


def test_dynamo_skips_its_own_code_without_a_word():
    def mine(x):
        return x / x.abs().max().item()

    torch.compile(mine, backend="eager")(X)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(lambda x: print(x), backend="eager", fullgraph=True)(X)
    told = watch_breaks(mine, X).model  # torch's evaluator is still in the slot
    assert told.graphs == 2
    assert "Dynamo skipped" not in told.note
    assert "put_back() takes it out" in told.note
    put_back()
    assert "put_back" not in watch_breaks(mine, X).model.note


def test_another_thread_goes_on_with_what_it_compiled():
    def chatty(x):
        print("halfway")
        return x.sin()

    beside = torch.compile(lambda x: x.sin() + 1, backend="eager")
    done, errors = threading.Event(), []

    def work():
        try:
            while not done.is_set():
                beside(X)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        found = [watch_breaks(chatty, X).model for _ in range(4)]
    finally:
        done.set()
        thread.join()
    assert not errors
    assert {told.breaks for told in found} == {1}


def test_a_reset_in_the_call_is_a_reset():
    def resetting(x):
        y = x.sin()
        torch._dynamo.reset()
        return y.cos()

    torch.compile(resetting, backend="eager")(X)
    watch_breaks(resetting, X)
    assert dynamo_codes.read_cache_entries(resetting.__code__) == []


def test_a_stance_that_raises_is_no_limit_and_no_plain_run():
    compiled = torch.compile(lambda x: x * 2, backend="eager")
    compiled(torch.ones(3))
    with watching_recompiles() as seen:
        for _ in range(2):
            with (
                torch.compiler.set_stance("fail_on_recompile"),
                pytest.raises(RuntimeError, match="Detected recompile"),
            ):
                compiled(torch.ones(7, 7))
    assert "Dynamo raised an error in 2" in seen.model.note
    assert "plain Python" not in seen.model.note
    assert "limit" not in seen.model.note


def test_no_break_is_allowed_in_a_full_graph_and_so_python_runs_nothing():
    def branches(x):
        return x if x.sum() > 0 else -x

    with watching_breaks() as seen:
        for options in {"fullgraph": True}, {}:
            with contextlib.suppress(torch._dynamo.exc.Unsupported):
                torch.compile(branches, backend="eager", **options)(torch.ones(3))
    first, second = (one.effect for one in seen.model.rows)
    assert first.startswith("Dynamo raises an error")
    assert "Python runs" in second or "a graph ends" in second
