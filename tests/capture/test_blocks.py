"""`with watching_…()`: what a block compiles, traces, breaks or runs, in code that nobody wraps."""

import functools
import gc
import logging
import os
import re
import sys
import threading
import types

import pytest

import helpers
from helpers.capture.tensorflow.trace_causes import AFTER_VARIABLES, FIRST
from helpers.capture.torch.compiles_in_block import ROW_IS_FRAME
from helpers.internals import frame_callback, tensorflow_private, torch_modes, torch_private
from helpers.study.expected_errors import expect
from tests.pythons import finished
from tools.instrument_examples import EXAMPLE, SECTIONS, SETUP

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")  # before TensorFlow
tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")
CELLS = {name: source for examples in SECTIONS.values() for name, source in examples.items()}
BLOCKS = ("watching_recompiles", "watching_breaks", "watching_traces", "watching_ops")


def scale(x, n=1):
    return x * n


def noisy(x):
    print("hi")
    return x + 1 if x.sum() > 0 else x


def compiled(fn):
    torch._dynamo.reset()
    return torch.compile(fn, backend="eager", dynamic=False)


def installed():
    """Return all that a block may change, so that two moments can be compared."""
    home, parts = logging.root.manager.loggerDict, [tensorflow_private.tracing_compilation]
    parts += [torch_private.dynamo_utils, torch_private.OutputGraph]
    parts += [torch_private.InstructionTranslatorBase, tensorflow_private.transform]
    logs = {n: (*one.handlers, *one.filters) for n, one in home.items() if hasattr(one, "handlers")}
    logs = {name: kept for name, kept in logs.items() if kept}  # an import makes empty ones
    config = torch_private.config.get_config_copy()
    callbacks = [*tensorflow_private.context.context().op_callbacks]
    callbacks += [*tensorflow_private.transform.CONCRETE_FUNCTION_CALLBACKS]
    state = (
        threading.enumerate(),
        torch_modes.read_mode_stacks(),
        frame_callback.read_frame_callback(),
    )
    hooks = [{n: v for n, v in vars(one).items() if callable(v)} for one in parts]
    return hooks, logs, config, callbacks, state, (sys.gettrace(), sys.getprofile())


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", [None, ValueError, pytest.skip.Exception, KeyboardInterrupt])
def test_a_block_keeps_what_it_saw_raises_what_was_raised_and_leaves_nothing(block, kind):
    one, two = compiled(noisy), tf.function(scale)
    one(torch.ones(2)), two(tf.ones(2))
    taken = helpers.show_interceptions().model.taken
    environment, before = dict(os.environ), installed()
    with pytest.raises(kind or ZeroDivisionError), getattr(helpers, block)() as seen:
        assert installed() != before
        compiled(noisy)(torch.ones(3)), two(tf.ones(3))
        raise (kind or ZeroDivisionError)("over")
    assert installed() == before and dict(os.environ) == environment
    assert helpers.show_interceptions().model.taken == taken
    model = seen.model
    assert getattr(model, "rows", None) or model.entries
    one(torch.ones(4)), two(tf.ones(4))
    assert seen.model == model


@pytest.mark.long
def test_no_verb_leaves_anything_that_slows_later_code(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cells", cells := types.ModuleType("cells"))
    compiled(scale)(torch.ones(2))  # torch's own lazy handler of logs goes at the first
    left, taken = [], helpers.show_interceptions().model.taken
    for name, source in {"set-up": SETUP, "example": EXAMPLE, **CELLS}.items():
        file, before = tmp_path / f"{name}.py", installed()
        file.write_text(source, encoding="utf-8")
        exec(compile(source, str(file), "exec"), vars(cells))
        left += [name] if installed() != before else []
    assert not left and helpers.show_interceptions().model.taken == taken


def test_recompiles_are_those_of_the_function_form_with_the_argument_and_what_changed():
    calls = [(torch.ones(2),), (torch.ones(3),), (torch.ones(3), 2), (torch.ones(3), 2)]
    run = compiled(scale)
    run(*calls[0])
    with helpers.watching_recompiles() as seen:
        [run(*call) for call in calls]
    form = helpers.watch_recompiles(compiled(scale))
    assert form.each(*calls) == "compile recompile recompile hit"
    assert seen.model.verdicts == ("recompile", "recompile")
    assert (seen.model.compiles, seen.model.recompiles) == (2, 2)
    assert (form.model.compiles, form.model.recompiles) == (3, 2)
    shown = repr(seen)
    assert "x: size mismatch at index 0. expected 2, actual 3" in shown
    assert "scale (test_blocks.py:" in shown


def test_an_entry_that_accepts_other_sizes_says_so_and_mismatches_are_worded_alike():
    torch._dynamo.reset()
    run = torch.compile(lambda x, y: x * y, backend="eager")
    form = helpers.watch_recompiles(functools.wraps(scale)(lambda x, y: x - y))
    with helpers.watching_recompiles() as seen:
        [fn(torch.ones(n, 2), torch.ones(n, 2)) for fn in (run, form) for n in (3, 4, 5)]
    for entries in (seen.model.entries[:2], seen.model.entries[2:], form.model.entries[:2]):
        assert "dynamic" not in entries[0].note
        assert "dynamic" in entries[1].note and "dimension 0" in entries[1].note
        assert entries[1].note.count(": size mismatch at index 0. expected 3, actual 4") == 2
    assert "scale" in form.model.title and "<lambda> (test_blocks.py:" in form.model.title


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x, n):
        self.steps += 1
        return x * n


def test_each_recompile_is_one_row_with_every_guard_that_failed_and_its_file():
    with helpers.watching_recompiles() as seen:
        run = compiled(Counting())
        run(torch.ones(2), 1), run(torch.ones(3), 2), run(torch.ones(3), 3)
    form = helpers.watch_recompiles(Counting(), dynamic=False)
    form(torch.ones(2), 1), form(torch.ones(3), 2), form(torch.ones(3), 3)
    assert seen.model.compiles == form.model.compiles == 3
    for model in (seen.model, form.model):
        second, third = (entry.note.partition("\nin call ")[0] for entry in model.entries[1:])
        second, third = second.split("\n"), third.split("\n")
        assert {line.partition(" is ")[0].partition(":")[0] for line in second} == {
            "self.steps", "n", "x"
        }  # fmt: skip
        places = re.findall(r"\(test_blocks.py:\d+\)", "\n".join(second))
        assert places and len(places) == len({*places})  # each is said once
        assert any(line.startswith("entries 1, 2: n is 3") for line in third)


def test_the_limit_is_a_row_that_names_its_function_also_when_it_was_compiled_before():
    run = compiled(scale)
    sizes = [torch.ones(n + 1) for n in range(torch._dynamo.config.recompile_limit + 2)]
    run(sizes[0])
    with helpers.watching_recompiles() as seen:
        [run(one) for one in sizes]
    last = seen.model.entries[-1]
    assert last.verdict == "eager" and last.note.startswith("recompile_limit is 8:")
    assert seen.model.recompiles == 7 and last.verdicts[0].word.startswith("scale ")
    assert re.search(r"\nin call 9 \(test_blocks.py:\d+\)$", last.note)
    assert seen.model.compiled_calls == 8
    with helpers.watching_recompiles() as outer, helpers.watching_recompiles() as after:
        run(sizes[-1]), run(sizes[0]), run(sizes[-1])
    run(sizes[-1])
    assert outer.model == after.model and (seen.model.eager, after.model.eager) == (2, 2)
    assert after.model.compiles == 0 and " scale (test_b" in after.model.note


def test_a_row_names_the_class_and_equal_reasons_of_inner_modules_are_one_line():
    net = torch.nn.Sequential(*(torch.nn.Dropout() for _ in range(3)))
    net.forward = types.MethodType(lambda self, x: self[0](self[1](self[2](x))) * 2, net)
    run = compiled(net)
    with helpers.watching_recompiles() as seen:
        run(torch.ones(2)), net.eval(), run(torch.ones(2))
    again = seen.model.entries[1]
    assert again.note.count(".training is") == 1 and "2 more" in again.note
    assert again.verdicts[0].word.startswith("Sequential.<lambda> (test_blocks.py:")


def test_breaks_and_their_resume_functions_are_those_of_the_function_form():
    form = helpers.watch_breaks(noisy, torch.ones(2)).model
    with helpers.watching_breaks() as seen, helpers.watching_recompiles() as made:
        compiled(noisy)(torch.ones(2))
    assert seen.model.rows == tuple(form.rows) and seen.model.graphs == form.graphs
    assert seen.model.breaks == form.breaks == 2
    assert made.model.compiles == 3 and "resumed" in repr(made)
    assert ROW_IS_FRAME in made.model.note


class Output:
    def __init__(self, loss):
        self.loss = loss


def hides(x):
    out = Output(x * 2)
    print("lost")
    return out.loss * 2 if out.loss.sum() > 0 else out.loss


def test_what_dynamo_skips_is_told_each_time_with_its_place_and_reason():
    for model in (helpers.watch_breaks(hides, torch.ones(2)).model for _ in range(2)):
        assert model.breaks == 1 and model.graphs == 1
        assert model.rows[0].skipped == "no tensor-related objects found in frame"
    nothing = helpers.watch_breaks(lambda: 1).model
    assert "<lambda> (test_blocks.py:" in nothing.note
    other = helpers.watch_breaks(lambda x: (print("hi"), x + 1), torch.ones(2)).model
    assert not other.rows[0].skipped


def test_equal_breaks_are_one_row_and_still_count():
    with helpers.watching_breaks() as seen:
        run = compiled(noisy)
        [run(torch.ones(n)) for n in (2, 3, 4)]
    assert sum(row.count for row in seen.model.rows) == seen.model.breaks > len(seen.model.rows)
    assert len(seen.model.rows) == 2


def test_a_break_in_a_called_function_is_one_row_with_what_it_calls_and_all_that_it_breaks():
    logger = logging.getLogger("a.b")

    def warns(x):
        logger.warning("hi")
        return x + 1

    def calls(x):
        return warns(warns(x) * 2)

    with helpers.watching_breaks() as seen:
        compiled(calls)(torch.ones(2))
    model, (row,) = seen.model, seen.model.rows
    assert row.count == model.breaks > 2 and "a.b.warning" in row.explanation
    assert row.place.startswith("warns, line 2 (test_blocks.py:")
    assert " calls, line 2 (test_blocks.py:" in row.place


def test_nested_blocks_see_the_same_and_other_threads_are_heard_but_may_not_watch():
    refused = []

    def other():
        compiled(scale)(torch.ones(2))
        try:
            helpers.watching_ops().__enter__()
        except RuntimeError as error:
            refused.append(str(error))

    with helpers.watching_recompiles() as outer, helpers.watching_recompiles() as inner:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert outer.model == inner.model and outer.model.compiles == 1
    assert "thread" in refused[0]


def test_watching_dynamo_makes_no_other_function_compile_again():
    one, two = compiled(scale), torch.compile(noisy, backend="eager")
    [one(torch.ones(n)) for n in (2, 3)], two(torch.ones(2))
    for verb in (helpers.watch_breaks, helpers.watch_compile, helpers.watch_rewriting):
        verb(noisy, torch.ones(2)), verb(scale, torch.ones(5))
    with helpers.watching_recompiles() as seen:
        [one(torch.ones(n)) for n in (2, 3)], two(torch.ones(2))
    assert seen.model.compiles == 0


def test_ops_are_those_of_the_function_form_by_the_names_of_the_caller():
    layer, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    with helpers.watching_ops() as seen:
        layer(x).sum().backward()
    assert "layer.weight" in repr(seen) and "x: float32 [1, 2]" in repr(seen)
    backward = {row.op: row.layer for row in seen.model.rows if row.stage == "backward"}
    assert backward["aten.mm"] == backward["aten.detach"] == "Linear" != backward["aten.expand"]
    layer.zero_grad()
    assert helpers.watch_ops(lambda: layer(x).sum().backward()).model.ops == seen.model.ops
    assert "torch.compile" not in seen.model.note
    made = ((compiled(scale), x, "torch.compile made some"),)
    made += ((tf.function(scale), tf.ones(2), "one by one: `show_graph(fn, …)` lists them"),)
    for fn, x, words in made:
        fn(x)
        with helpers.watching_ops() as seen:
            fn(x)
        assert words in seen.model.note


class Half:
    def __call__(self, x):
        return x / 2


def closure_on(by):
    return lambda x: x * by


def power(x, by):
    return x**by


def test_a_new_tf_function_of_code_traced_before_is_a_retrace_unless_of_another_owner():
    one, wrap = Half(), tf.autograph.experimental.do_not_convert
    pairs = {(scale, scale): 1, (one.__call__, one.__call__): 1}
    pairs |= {(one.__call__, Half().__call__): 0, (wrap(scale), wrap(lambda x: x)): 0}
    two, three = (functools.partial(power, by=number) for number in (2, 3))
    pairs |= {(two, functools.partial(power, by=2)): 1, (two, three): 0}
    pairs |= {(closure_on(2), closure_on(3)): 0, (closure_on(2), closure_on(2)): 1}
    tensor = tf.ones(())
    pairs |= {(closure_on(tensor), closure_on(tensor)): 1}
    pairs |= {(closure_on(tensor), closure_on(tf.ones(()))): 0}
    for pair, retraces in pairs.items():
        gc.collect()  # functions of other tests that are garbage still count as traced before
        with helpers.watching_traces() as seen:
            alive = [tf.function(fn) for fn in pair]
            [fn(tf.ones(())) for fn in alive]
        assert (seen.model.traces, seen.model.retraces) == (2, retraces)
        assert ("tf.function once" in seen.model.entries[1].note) == bool(retraces)
        for earlier in (1, 0):  # those of the block before are alive, or are gone
            with helpers.watching_traces() as seen:
                tf.function(pair[0])(tf.ones(()))
            assert seen.model.retraces == earlier
            alive.clear()


def test_fit_of_keras_is_seen_from_outside():
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x, y = np.ones((10, 3), "float32"), np.ones((10, 1), "float32")
    with helpers.watching_traces() as first:
        model.fit(x, y, validation_data=(x, y), batch_size=4, verbose=0)
    told = [(one.subject[3:], one.arguments, one.note) for one in first.model.entries]
    for step in ("one_step_on_data", "multi_step_on_iterator"):
        assert {one[0] for one in told} >= {f"{step} (train_step)", f"{step} (test_step)"}
    assert "IteratorSpec((float32 (None, 3), float32 (None, 1)),)" in str(told)
    assert told[1][2] == AFTER_VARIABLES
    with helpers.watching_traces() as again, helpers.watching_ops() as ops:
        model.fit(x, y, batch_size=4, verbose=0)
    with helpers.watching_traces() as compiled_again:
        for _ in range(2):
            model.compile("sgd", "mse")
            model.fit(x, y, batch_size=4, verbose=0)
    assert compiled_again.model.retraces == compiled_again.model.traces == 4
    assert "compile()" in compiled_again.model.entries[0].note
    assert told[0][2] == FIRST
    assert "multi_step" in helpers.show_graph(model.train_function, find="matmul dense").model.title
    with helpers.watching_traces() as partial:
        [model.train_on_batch(x[:n], y[:n]) for n in (4, 2)]
    assert first.model.traces and not first.model.retraces and not again.model.traces
    assert "__inference_multi_step_on_iterator" in " ".join(ops.model.ops)
    assert partial.model.retraces and "(4, 3) → (2, 3)" in " ".join(partial.model.causes)
    assert "tf.data traced" in first.model.note
    with helpers.watching_traces() as predicted:
        other = keras.Sequential([keras.layers.Dense(1)])
        [one.predict(x, verbose=0) for one in (model, other)]
        other.make_predict_function(force=True)
        other.predict(x, verbose=0)
    notes = [entry.note for entry in predicted.model.entries]
    assert predicted.model.retraces == 1  # each model has functions of its own
    assert [cause.where for cause in predicted.model.entries[-1].causes] == ["predict function"]
    assert not any("compile" in note or "tf.function" in note for note in notes)
    with pytest.raises(TypeError, match=r"watching_traces\(\)"):
        helpers.watch_traces(model.train_function)


TORCH_FIT = """
import keras, numpy as np, torch, torch._dynamo
from helpers import watching_breaks, watching_ops, watching_recompiles
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=False)
x, y = np.ones((10, 3), "float32"), np.ones((10, 1), "float32")
with watching_ops() as ops, watching_recompiles() as seen, watching_breaks() as breaks:
    model.fit(x, y, batch_size=4, verbose=0)
assert {"forward", "backward"} <= {row.stage for row in ops.model.rows}
print(len(ops.model.ops) > 20, seen.model.compiles, breaks.model.breaks)
"""


def test_fit_of_keras_on_torch_is_seen_from_outside():
    environment = {**os.environ, "KERAS_BACKEND": "torch"}
    done = finished([sys.executable, "-c", TORCH_FIT], env=environment)
    assert done.stdout.split() == ["True", "0", "0"], done.stderr


def test_an_error_of_the_one_call_is_raised_unless_the_lesson_expects_it(capsys):
    def fails(*args):
        assert not args, "too many"

    with pytest.raises(AssertionError, match="too many"):
        helpers.watch_ops(fails, 1)
    assert "AssertionError: too many" in " ".join(capsys.readouterr().out.split())
    with expect(AssertionError):
        helpers.watch_frames(fails, 1)
    told = capsys.readouterr().out
    assert told.startswith("Frames of") and "AssertionError: too many" in told.splitlines()[-1]
    assert "AssertionError" in repr(helpers.watch_calls({"a": (fails, 1), "b": fails}))
