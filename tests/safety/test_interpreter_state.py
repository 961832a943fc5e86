"""What a verb has changed is put back, however it ends, and an interrupt is never lost."""

import builtins
import contextlib
import gc
import importlib
import os
import random
import signal
import sys
import threading
import traceback
import types
import warnings
from _signal import SIGINT, getsignal

import pytest

from helpers.safety import interpreter_state as state
from helpers.safety import interrupts
from helpers.safety.arguments import is_a, kind_of
from helpers.safety.interpreter_state import theirs, whole
from helpers.safety.interrupts import finishing, uninterrupted
from helpers.safety.kept_state import KEPT
from helpers.safety.patches import PATCHES, patched

# Builtins are replaced here, and Ctrl-C comes at random: neither may meet a worker of pytest-xdist.
pytestmark = pytest.mark.own_process


def disturb():
    """Change much of what has to stay."""
    sys.settrace(lambda *event: None)
    sys.setprofile(lambda *event: None)
    threading.settrace(lambda *event: None)
    sys.stdout = sys.stderr = None
    sys.displayhook = print
    warnings.simplefilter("error")
    gc.disable()
    sys.setrecursionlimit(12_345)
    builtins.invented = 1
    for name in ("len", "any", "all", "vars", "zip", "tuple", "getattr", "callable", "int"):
        setattr(builtins, name, lambda *given: 1 / 0)


@pytest.mark.parametrize(
    "ending", [None, ValueError, KeyboardInterrupt, SystemExit, RecursionError]
)
def test_everything_is_as_before_however_it_ends(ending):
    before = [kept.read() for kept in KEPT]

    @whole
    def verb():
        disturb()
        if ending:
            raise ending
        return 3

    if ending is None:
        assert verb() == 3
    else:
        with pytest.raises(ending):
            verb()
    for kept, was in zip(KEPT, before, strict=True):
        assert kept.same(kept.read(), was), kept.name
    assert len([1]) == 1 and not hasattr(builtins, "invented")


def test_without_the_guard_the_disturbance_stays():
    before = sys.getrecursionlimit()
    whole(lambda: sys.setrecursionlimit(before + 1))()
    assert sys.getrecursionlimit() == before
    sys.setrecursionlimit(before + 1)
    assert not all(k.same(k.read(), b) for k, b in [(KEPT[0], None), (_limit(), before)])
    sys.setrecursionlimit(before)


def _limit():
    return next(kept for kept in KEPT if kept.name == "the recursion limit")


def _lower_the_limit(room: int) -> None:
    """Leave room for so many more calls: Python refuses a limit below what is under way."""
    for limit in range(2, 1000):
        try:
            sys.setrecursionlimit(limit + room)
            return
        except RecursionError:
            pass


@pytest.mark.parametrize("room", [0, 1, 3, 9])
def test_recursion_limit_that_leaves_no_room_is_put_back(room):
    before = sys.getrecursionlimit()

    def lowers():
        _lower_the_limit(room)

    try:
        whole(lowers)()
        assert sys.getrecursionlimit() == before
    finally:
        sys.setrecursionlimit(before)


def test_call_on_a_full_stack_is_refused_and_leaves_nothing():
    said = set()

    def deep(n):
        return deep(n - 1) if n else whole(lambda: 5)()

    before = [kept.read() for kept in KEPT]
    limit = sys.getrecursionlimit()
    _lower_the_limit(60)
    try:
        for n in range(60):
            try:
                deep(n)
            except RecursionError as error:
                said.add(str(error))
    finally:
        sys.setrecursionlimit(limit)
    assert any("call this from less deep" in words for words in said)
    assert all(k.same(k.read(), was) for k, was in zip(KEPT, before, strict=True))


def test_a_builtin_that_was_deleted_is_back():
    whole(lambda: delattr(builtins, "any"))()
    assert any([1])


def test_patches_of_a_block_that_was_cut_in_two_are_undone():
    owner, kept = types.SimpleNamespace(a=1), []

    @whole
    def verb():
        kept.append(patched(owner, a=2, b=3))
        kept[0].__enter__()
        assert (owner.a, owner.b) == (2, 3)

    verb()
    assert vars(owner) == {"a": 1}


def test_patches_of_one_block_inside_another_come_off_in_order():
    owner = types.SimpleNamespace(a=1)
    with patched(owner, a=2):
        with patched(owner, a=3):
            assert owner.a == 3
        assert owner.a == 2
    assert owner.a == 1 and not PATCHES


def test_class_attribute_that_was_inherited_is_inherited_again():
    base = type("Base", (), {"x": 1})
    derived = type("Derived", (base,), {})
    with patched(derived, x=2):
        assert derived.x == 2
    assert "x" not in vars(derived) and derived.x == 1


def test_interrupt_waits_for_the_end_of_the_block():
    seen = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        seen.append("whole")
    assert seen == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_waits_for_the_outermost_block():
    seen = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
        seen.append("whole")
    assert seen == ["whole"]


def test_interrupt_in_another_thread_is_nobodys_business():
    done = []

    def work():
        with uninterrupted():
            done.append(whole(lambda: 5)())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [5]


def test_handler_of_the_learner_is_called_and_stays():
    came = []

    def own(number, frame):
        came.append(number)

    before = signal.signal(signal.SIGINT, own)
    try:
        whole(lambda: signal.raise_signal(signal.SIGINT))()
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
        assert came == [signal.SIGINT, signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_interrupts_at_random_moments_leave_nothing():
    rng, came = random.Random(11), 0

    @whole
    def verb():
        disturb()
        sum(i for i in range(300))

    def press(number, frame):
        getsignal(SIGINT)(SIGINT, frame)  # in C: Lib/signal.py calls builtins that are patched

    usual, own = signal.signal(signal.SIGALRM, press), dict(vars(builtins))
    before = [kept.read() for kept in KEPT]
    try:
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 4e-4))
                verb()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                came += 1
            assert all(k.same(k.read(), was) for k, was in zip(KEPT, before, strict=True))
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(None), sys.setprofile(None)
        vars(builtins).update(own)  # pytest needs them to say what failed
        signal.signal(signal.SIGALRM, usual)
    assert came > 0


@pytest.mark.parametrize("set_tracer", [sys.setprofile, sys.settrace])
@pytest.mark.parametrize("ending", [None, ValueError])
def test_interrupt_in_a_tracer_of_the_putting_back_waits_for_it(set_tracer, ending):
    before, came = [kept.read() for kept in KEPT], []

    def tracer(frame, event, given):
        if frame.f_code is state.Guard.close.__code__ and not came:
            came.append(event)
            signal.raise_signal(signal.SIGINT)

    @whole
    def verb():
        builtins.invented = 1
        set_tracer(tracer)
        if ending:
            raise ending

    try:
        with pytest.raises(KeyboardInterrupt):
            verb()
        assert came == ["call"]
        assert all(k.same(k.read(), was) for k, was in zip(KEPT, before, strict=True))
    finally:
        set_tracer(None)
        vars(builtins).pop("invented", None)


def test_handler_hashes_no_learners_code():
    function = types.FunctionType(
        (lambda: None).__code__.replace(co_consts=(None, [])), {}, "unhashable"
    )
    with pytest.raises(TypeError):
        hash(function.__code__)
    guard = state.Guard(None)
    guard._handler = lambda number, frame: None
    frame = types.SimpleNamespace(f_code=function.__code__, f_back=None, f_globals={})
    guard._interrupt(signal.SIGINT, frame)


def test_output_that_a_learner_closes_is_open_again(capsys):
    def closes():
        print("before")
        sys.stdout.close()
        with pytest.raises(ValueError, match="closed file"):
            print("lost")
        assert sys.stdout.closed

    whole(closes)()
    print("after")
    assert capsys.readouterr().out == "before\nafter\n"


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("name", "module"), interrupts.FRAGILE.items())
def test_interrupt_that_a_framework_cannot_bear_comes_a_moment_later(traced, name, module):
    press = "pass" if traced else "signal.raise_signal(signal.SIGINT)"
    space = {"__name__": module, "signal": signal, "seen": []}
    exec(f"def called():\n    {press}\n    seen.append(1)\n", space)
    space[name] = space["called"]
    space[name].__code__ = space[name].__code__.replace(co_name=name)

    def tracer(frame, event, given):
        if frame.f_code is space[name].__code__ and event == "call":
            signal.raise_signal(signal.SIGINT)

    @whole
    def verb():
        sys.setprofile(tracer if traced else None)
        space[name]()
        sys.setprofile(None)
        assert space["seen"], "it came at once"
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        verb()


def test_interrupt_that_comes_later_comes_before_the_verb_has_ended():
    space = {"__name__": "tensorflow.python.eager.context", "signal": signal}
    exec("def _handle():\n    signal.raise_signal(signal.SIGINT)\n", space)
    for _ in range(20):
        ended = False
        with pytest.raises(KeyboardInterrupt):
            whole(space["_handle"])()
            ended = True
        assert not ended


TENSORFLOW = """
import signal
def press():
    signal.raise_signal(signal.SIGINT)
    seen.append(1)
def calls(function):
    function()
def press_and_loop():
    press()
    while True:
        str(seen)
def press_twice_and_loop():
    press()
    press()
    while True:
        pass
def make_another_error_of_it():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise AssertionError("nesting violated") from None
def computes_long():
    for seen[:] in [[n] for n in range(10_000)]:
        str(seen)
def swallow():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raised.append(1)
"""


@pytest.fixture
def tensorflow():
    """Functions that stand in a module of TensorFlow's."""
    space = types.SimpleNamespace(seen=[], raised=[], __name__="tensorflow.python.ops")
    exec(TENSORFLOW, vars(space))
    return space


def _forever():
    while True:
        pass


def test_interrupt_in_a_framework_waits_for_the_learners_code(tensorflow):
    @whole
    def verb():
        tensorflow.press()
        tensorflow.calls(_forever)

    with pytest.raises(KeyboardInterrupt):
        verb()
    assert tensorflow.seen == [1]


def test_interrupt_in_a_library_that_a_framework_called_waits_too(tensorflow):
    source = "def look():\n    signal.raise_signal(2)\n    seen.append(1)\n"
    space = {"signal": signal, "seen": tensorflow.seen, "__name__": "inspect"}
    exec(compile(source, "<string>", "exec"), space)
    with pytest.raises(KeyboardInterrupt):
        whole(tensorflow.calls)(space["look"])
    assert tensorflow.seen == [1]


def test_interrupt_in_the_learners_code_comes_at_once_whoever_called_it(tensorflow):
    seen = []

    def learners():
        signal.raise_signal(signal.SIGINT)
        seen.append(1)

    with pytest.raises(KeyboardInterrupt):
        whole(tensorflow.calls)(learners)
    assert not seen


@pytest.mark.parametrize("traced", [False, True])
def test_interrupt_comes_when_control_is_back_in_the_learners_code(tensorflow, traced):
    rounds = []

    def learners():
        sys.settrace((lambda *event: None) if traced else None)
        while True:
            rounds.append(1)
            tensorflow.press() if len(rounds) == 1 else tensorflow.computes_long()

    with pytest.raises(KeyboardInterrupt) as caught:
        whole(learners)()
    inside = [frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(caught.tb)]
    assert traced or tensorflow.__name__ not in inside and len(rounds) == 1
    assert sys.gettrace() is None


def test_interrupt_that_comes_later_waits_for_what_is_written_down(tensorflow):
    written = []

    @whole
    def verb():
        with finishing(sys._getframe()) as row:
            tensorflow.press()
            row.finish()
            written.append(1)

    with pytest.raises(KeyboardInterrupt):
        verb()
    assert written == [1]


def test_builtins_are_back_when_the_learners_code_has_ended(tensorflow):
    @whole
    def verb():
        with theirs():
            builtins.len = builtins.type = None
        return len([1])

    assert verb() == 1


def test_interrupt_comes_at_the_end_if_control_is_not_back_before(tensorflow):
    with pytest.raises(KeyboardInterrupt):
        whole(tensorflow.press)()
    with pytest.raises(KeyboardInterrupt):
        whole(tensorflow.press, names=("TensorFlow's graphs",))()
    assert tensorflow.seen == [1, 1] and sys.gettrace() is None


@pytest.mark.parametrize("name", ["press_and_loop", "press_twice_and_loop"])
def test_framework_that_does_not_end_can_be_interrupted(tensorflow, name, monkeypatch):
    if name == "press_and_loop":
        monkeypatch.setattr(state, "LONGEST_WAIT", 0.01)
    with pytest.raises(KeyboardInterrupt):
        whole(getattr(tensorflow, name))()
    assert sys.gettrace() is None


def test_interrupt_of_which_a_framework_makes_another_error_comes_out(tensorflow, monkeypatch):
    monkeypatch.setattr(state, "LONGEST_WAIT", 0)

    @whole
    def verb():
        try:
            tensorflow.make_another_error_of_it()
        except AssertionError as error:
            raise ValueError(f"it cannot be traced: {error}") from None

    with pytest.raises(KeyboardInterrupt):
        verb()
    try:
        raise KeyError
    except KeyError:  # an error that was there before is none of this call's
        whole(tensorflow.swallow)()
    assert tensorflow.raised == [1]


def test_error_without_an_interrupt_is_the_calls_own():
    with pytest.raises(ZeroDivisionError):
        whole(lambda: 1 / 0)()


def test_block_whose_end_was_cut_off_undoes_nothing_later(monkeypatch):
    usual, ended = sys.displayhook, []

    @contextlib.contextmanager
    def block():
        sys.displayhook = repr
        try:
            yield
        finally:
            ended.append(1)
            sys.displayhook = print

    def tracer(frame, event, given):
        if (
            event == "call"
            and frame.f_code is contextlib._GeneratorContextManager.__exit__.__code__
        ):
            sys.setprofile(None)
            raise_signal(SIGINT)

    @whole
    def verb():
        with block():
            sys.setprofile(tracer)

    raise_signal = signal.raise_signal
    with pytest.raises(KeyboardInterrupt):
        verb()
    assert ended == [1] and sys.displayhook is usual

    monkeypatch.setattr(state, "LONGEST_WAIT", 0)
    with pytest.raises(KeyboardInterrupt):
        verb()
    gc.collect()
    assert ended == [1, 1] and sys.displayhook is usual


def test_interrupt_that_somebody_else_took_over_is_not_waited_for():
    came = []
    space = {"__name__": "tensorflow.python.eager.context", "signal": signal, "came": came}
    space["trace"] = lambda: sys.settrace(lambda *event: None)
    own = "signal.signal(signal.SIGINT, lambda *given: came.append(given))"
    exec(f"def _handle():\n    trace()\n    signal.raise_signal(signal.SIGINT)\n    {own}\n", space)
    before = signal.getsignal(signal.SIGINT)
    try:
        whole(space["_handle"])()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(came) == 1


def test_an_object_is_what_its_type_is_and_not_what_it_says():
    liar = type("Liar", (), {"__class__": property(lambda self: dict)})()
    assert isinstance(liar, dict) and not is_a(liar, dict)
    assert is_a(True, int) and is_a({}, list, dict) and not is_a("a", bytes)


def test_name_of_a_type_is_short_and_printable():
    name = kind_of(type("\x1b[31m" + "N" * 10_000, (), {})())
    assert len(name) < 70 and name.isprintable()


@pytest.fixture
def half_way(tmp_path, monkeypatch):
    """The name of a module in whose body Ctrl-C comes, before its last line."""
    (tmp_path / "half_way.py").write_text(
        "import signal\nsignal.raise_signal(signal.SIGINT)\nfor i in range(99): pass\nWHOLE = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "half_way"
    sys.modules.pop("half_way", None)


@pytest.mark.parametrize("traced", [False, True])
def test_import_of_a_library_is_not_cut_in_two(half_way, monkeypatch, tmp_path, traced):
    monkeypatch.setattr(interrupts, "LIBRARIES", (str(tmp_path),))

    @whole
    def verb():
        if traced:
            sys.settrace(lambda *event: None)
        importlib.import_module(half_way)
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        verb()
    assert sys.modules[half_way].WHOLE == 1


def test_import_of_the_learners_own_module_can_be_interrupted_at_once(half_way):
    with pytest.raises(KeyboardInterrupt):
        whole(lambda: importlib.import_module(half_way))()
    assert half_way not in sys.modules


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("ending", [None, ValueError, SystemExit])
def test_process_that_the_call_forked_goes_no_further(ending):
    reader, writer = os.pipe()
    here = os.getpid()

    @whole
    def verb():
        child = os.fork()
        if not child and ending:
            raise ending
        return child

    try:
        child = verb()
    finally:
        if os.getpid() != here:
            os.write(writer, b"went on")
            os._exit(1)
    os.close(writer)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 20) == b""
    os.close(reader)


def test_half_a_pair_of_surrogates_reaches_no_stream(monkeypatch):
    """A kernel that is to send one sends nothing any more."""
    got = []
    stream = types.SimpleNamespace(write=got.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stdout", stream)

    @whole
    def verb():
        print("a\ud800b", "naïve")
        sys.stdout.writelines(["\udfff"])

    verb()
    assert "".join(got) == "a\\ud800b naïve\n\\udfff"
