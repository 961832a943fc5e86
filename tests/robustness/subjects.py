"""Every verb of the front door -> how it is attacked: `SUBJECTS[verb]`.

A subject says how a thing gets in to be looked at, where it can stand as a wrong argument, which
uses are wrong, what a cheap run is (to be interrupted), and how a run of size n is made.
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from types import CodeType, FunctionType, SimpleNamespace

import helpers
from helpers.safety.arguments import own


@dataclass(frozen=True)
class Subject:
    """How one verb is attacked; what does not apply says why in `because`, by kind of attack."""

    looks: tuple[Callable, ...] = ()  # thing -> the verb with it to look at
    wrong: tuple[Callable, ...] = ()  # thing -> the verb with it in place of an argument
    misuse: tuple[Callable, ...] = ()  # () -> the verb used wrongly: one sentence is due
    quick: Callable | None = None  # () -> a run that may be interrupted anywhere
    scale: Callable | None = None  # n -> the verb on something of size n
    largest: int = 0  # the largest sensible n; ten times that is tried
    imports: str = ""  # the framework that it needs
    moments: int = 300  # interrupts tried
    runs: bool = False  # its docs say that it runs the object's own code
    all_shown: bool = False  # at ten times the size nothing is left out
    because: tuple[tuple[str, str], ...] = ()  # kind of attack -> why it does not apply


# -- what is run and looked at ---------------------------------------------------------------------


def holds(thing):
    """Hold a thing in a local, a list and a cell."""
    kept = [thing]

    def inner():
        return kept

    return inner


def uncalled(verb):
    """Give a verb what it cannot call; an object with a `__call__` is watched while that runs."""
    return lambda thing: verb(3 if type(own(thing, "__call__")) is FunctionType else thing)


def small(n=3):
    """Add a few numbers."""
    total = 0
    for i in range(n):
        total += i
    return total


def deep(n):
    """Call itself n times."""
    return 0 if n <= 0 else 1 + deep(n - 1)


def interceptions_with(*things):
    """Show who gets hold of calls while things stand in a library and at two hooks."""
    names = {f"put_there_{at}": thing for at, thing in enumerate(things)}
    hooks = sys.displayhook, sys.breakpointhook
    vars(json).update(names)
    sys.displayhook = sys.breakpointhook = things[0]
    try:
        return helpers.show_interceptions()
    finally:
        sys.displayhook, sys.breakpointhook = hooks
        for name in names:
            vars(json).pop(name, None)


def code_of_size(n: int, name="long"):
    """Return a function of n lines."""
    space = {}
    lines = "\n".join(f"    x{i % 50} = {i} + 1" for i in range(n))
    exec(compile(f"def {name}():\n{lines}\n    return x0\n", "<made>", "exec"), space)
    return space[name]


def with_constant(thing):
    """Return a function whose code has this thing among its constants."""

    def function():
        return None

    code = function.__code__
    function.__code__ = code.replace(co_consts=(*code.co_consts, thing))
    return function


def module_of(thing):
    """Return a fresh object that is held in a few places beside this thing."""

    def wanted():
        return 1

    return wanted, SimpleNamespace(a=wanted, b=thing, c=[wanted, thing])


def names_of(thing):
    """Look at the names of a frame that holds the thing."""
    value = other = thing  # noqa: F841
    return helpers.show_names("value", "other")


def raised_by(thing):
    """Return an error whose traceback holds the thing."""
    try:
        held = thing  # noqa: F841
        raise ValueError("held")
    except ValueError as error:
        return error


def deep_error(n: int):
    """Return an error from n calls down."""
    import sys

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(n + 500)

    def fall(m):
        if m == 0:
            raise ValueError("bottom")
        fall(m - 1)

    try:
        fall(n)
    except ValueError as error:
        return error
    finally:
        sys.setrecursionlimit(before)


def rebound(old=small, new=None, **options):
    """Enter and leave a rebinding; return it."""
    block = helpers.rebind_everywhere(old, new or (lambda n=3: 0), **options)
    with block:
        pass
    return block


def swapped(fn, source):
    """Enter and leave a swap of code."""
    with helpers.code_swapped(fn, source):
        return None


def _coverage(thing):
    return helpers.show_opcode_coverage(thing)


def _step(n: int):
    return type("Step", (), {f"OP_{i}": (lambda self: None) for i in range(n)})


# -- verbs that need no framework ------------------------------------------------------------------

rb, pr, rt = helpers.rebind_everywhere, helpers.predict, helpers.call_in_child
ws = helpers.watch_specialising


def _is(n):
    return lambda: n


def _of_rows(show) -> Subject:
    """Return the subject of a verb that takes a title and rows, all of the same columns."""
    return Subject(
        looks=(
            lambda thing: show("T", {"a": thing, "b": 1}),
            lambda thing: show("T", {"a": [thing]}),
        ),
        wrong=(
            lambda thing: show(thing, {"a": 1}),
            lambda thing: show("T", thing),
            lambda thing: show("T", {"a": 1}, thing),
        ),
        misuse=(
            lambda: show("T"),
            lambda: show("T", {"a": 1}, {"b": 1}),
            lambda: show("T", [1]),
        ),
        quick=lambda: show("T", *({"a": i, "b": "x"} for i in range(50))),
        scale=lambda n: show("T", *({"a": i, "b": "x" * 20} for i in range(n))),
        largest=2000,
    )


SUBJECTS = {
    "show_names": Subject(
        looks=(names_of,),
        wrong=(lambda thing: helpers.show_names(thing),),
        misuse=(lambda: helpers.show_names("no_such_name"), lambda: helpers.show_names("a b")),
        quick=lambda: names_of([1, {"a": 2}]),
        scale=lambda n: names_of([{i: [i]} for i in range(n)]),
        largest=200,
    ),
    "watch_names": Subject(
        looks=(lambda thing: helpers.watch_names(holds, thing),),
        wrong=(uncalled(helpers.watch_names),),
        misuse=(lambda: helpers.watch_names(len), lambda: helpers.watch_names(None)),
        quick=lambda: helpers.watch_names(small),
        scale=lambda n: helpers.watch_names(small, n),
        largest=200,
    ),
    "show_bindings": Subject(
        looks=(
            helpers.show_bindings,
            lambda thing: (kept := module_of(thing), helpers.show_bindings(kept[0]))[1],
        ),
        misuse=(lambda: helpers.show_bindings(), lambda: helpers.show_bindings(1, 2)),
        quick=lambda: helpers.show_bindings(small),
        scale=lambda n: (
            kept := [SimpleNamespace(f=small) for _ in range(n)],
            helpers.show_bindings(small),
        )[1],
        largest=300,
    ),
    "show_binding_map": Subject(
        looks=(
            helpers.show_binding_map,
            lambda thing: (kept := module_of(thing), helpers.show_binding_map(kept[0]))[1],
        ),
        misuse=(lambda: helpers.show_binding_map(), lambda: helpers.show_binding_map(1, 2)),
        quick=lambda: helpers.show_binding_map(small),
        scale=lambda n: (
            kept := [SimpleNamespace(f=small) for _ in range(n)],
            helpers.show_binding_map(small),
        )[1],
        largest=300,
    ),
    "watch_callers": Subject(
        looks=(
            lambda thing: helpers.watch_callers(
                {"r": lambda: thing},
                lambda route: str(type(route())),
                {"i": contextlib.nullcontext},
            ),
        ),
        wrong=(
            lambda thing: helpers.watch_callers(thing, repr, {"i": contextlib.nullcontext}),
            lambda thing: helpers.watch_callers({"r": small}, thing, {"i": contextlib.nullcontext}),
            lambda thing: helpers.watch_callers({"r": small}, lambda r: "x", thing),
            lambda thing: helpers.watch_callers({"r": thing}, lambda r: "x", {"i": thing}),
        ),
        misuse=(
            lambda: helpers.watch_callers({}, lambda r: "x", {"i": contextlib.nullcontext}),
            lambda: helpers.watch_callers({"r": small}, lambda r: "x", {}),
            lambda: helpers.watch_callers([small], lambda r: "x", {"i": contextlib.nullcontext}),
        ),
        quick=lambda: helpers.watch_callers(
            {"r": small}, lambda r: str(r()), {"i": contextlib.nullcontext}
        ),
        scale=lambda n: helpers.watch_callers(
            {f"r{i}": small for i in range(n)}, lambda r: "x" * 20, {"i": contextlib.nullcontext}
        ),
        largest=100,
        runs=True,
    ),
    "watch_routes": Subject(
        looks=(
            lambda thing: helpers.watch_routes(
                thing,
                small,
                {"r": lambda: str(type(thing))},
                {"r": lambda: thing},
                {"i": contextlib.nullcontext},
            ),
        ),
        wrong=(
            lambda thing: helpers.watch_routes(small, str, thing, thing, {}),
            lambda thing: helpers.watch_routes(
                small, str, {"r": small}, thing, {"i": contextlib.nullcontext}
            ),
            lambda thing: helpers.watch_routes(small, str, {"r": small}, {"r": small}, thing),
            lambda thing: helpers.watch_routes(
                small, str, {"r": thing}, {"r": thing}, {"i": contextlib.nullcontext}
            ),
        ),
        misuse=(
            lambda: helpers.watch_routes(small, str, {}, {}, {"i": contextlib.nullcontext}),
            lambda: helpers.watch_routes(small, str, {"r": small}, {"s": small}, {}),
        ),
        quick=lambda: helpers.watch_routes(
            small,
            str,
            {"r": lambda: "x"},
            {"r": lambda: small},
            {"i": contextlib.nullcontext},
        ),
        scale=lambda n: helpers.watch_routes(
            small,
            str,
            {f"r{i}": lambda: "x" * 20 for i in range(n)},
            {f"r{i}": lambda: small for i in range(n)},
            {"i": contextlib.nullcontext},
        ),
        largest=100,
        runs=True,
    ),
    "rebind_everywhere": Subject(
        looks=(lambda thing: rebound(module_of(thing)[0]),),
        wrong=(
            lambda thing: rebound(thing),
            lambda thing: rb(small, thing),
            lambda thing: rebound(small, keep=thing),
            lambda thing: rebound(small, only=thing),
            lambda thing: rebound(small, search=thing),
        ),
        misuse=(
            lambda: rebound(None),
            lambda: rebound(3),
            lambda: rebound(small, small),
            lambda: rebound(small, search="deep"),
            lambda: rebound(small, only="nowhere.at_all"),
            lambda: rebound(dict),
        ),
        quick=rebound,
        scale=lambda n: (
            kept := [SimpleNamespace(f=deep) for _ in range(n)],
            rebound(deep, lambda n: 0),
        )[1],
        largest=1000,
        all_shown=True,  # it tells two numbers; `changed` has every place
    ),
    "code_swapped": Subject(
        wrong=(lambda thing: swapped(thing, small), lambda thing: swapped(small, thing)),
        misuse=(
            lambda: swapped(len, small),
            lambda: swapped(small, len),
            lambda: swapped(holds(1), small),
        ),
        quick=lambda: swapped(small, code_of_size(3)),
        because=(("scale", "it gives nothing to show"),),
    ),
    "show_nested": _of_rows(helpers.show_nested),
    "show_table": _of_rows(helpers.show_table),
    "plot_curve": Subject(
        wrong=(
            lambda thing: helpers.plot_curve(thing, [1.0]),
            lambda thing: helpers.plot_curve("T", thing),
            lambda thing: helpers.plot_curve("T", [thing]),
            lambda thing: helpers.plot_curve("T", [1.0], thing),
        ),
        misuse=(
            lambda: helpers.plot_curve("T", []),
            lambda: helpers.plot_curve("T", [-1.0]),
            lambda: helpers.plot_curve("T", [float("nan")]),
            lambda: helpers.plot_curve("T", ["1"]),
            lambda: helpers.plot_curve("T", 3),
        ),
        quick=lambda: helpers.plot_curve("T", [3.0, 2.0, 1.0]),
        scale=lambda n: helpers.plot_curve("T", [float(i) for i in range(n)]),
        largest=10_000,
    ),
    "plot_ratios": Subject(
        wrong=(
            lambda thing: helpers.plot_ratios(thing, {"a": 1.0}),
            lambda thing: helpers.plot_ratios("T", thing),
            lambda thing: helpers.plot_ratios("T", {"a": thing}),
        ),
        misuse=(
            lambda: helpers.plot_ratios("T", {}),
            lambda: helpers.plot_ratios("T", {"a": 0.0}),
            lambda: helpers.plot_ratios("T", {"a": -1.0}),
            lambda: helpers.plot_ratios("T", {"a": float("nan")}),
            lambda: helpers.plot_ratios("T", {"a": float("inf")}),
            lambda: helpers.plot_ratios("T", {"a": "1"}),
        ),
        quick=lambda: helpers.plot_ratios("T", {"a": 1.0, "b": 2.0}),
        scale=lambda n: helpers.plot_ratios("T", {f"name {i}": i + 1.0 for i in range(n)}),
        largest=50,
    ),
    "watch_costs": Subject(
        wrong=(
            lambda thing: helpers.watch_costs(thing, {}),
            lambda thing: helpers.watch_costs(small, thing),
            lambda thing: helpers.watch_costs(small, {"a": small}, thing),
        ),
        misuse=(
            lambda: helpers.watch_costs(small, {}),
            lambda: helpers.watch_costs(small, {"a": 1}),
            lambda: helpers.watch_costs(1, {"a": small}),
        ),
        quick=lambda: helpers.watch_costs(small, {"a": small}),
        scale=lambda n: helpers.watch_costs(small, {f"a{i}": small for i in range(n)}),
        largest=5,
        all_shown=True,
        runs=True,
    ),
    "show_environment": Subject(
        wrong=(lambda thing: helpers.show_environment(thing),),
        misuse=(lambda: helpers.show_environment(1),),
        quick=helpers.show_environment,
        because=(("scale", "what it lists is given: the course's own requirements"),),
    ),
    "show_predictions": Subject(
        wrong=(lambda thing: helpers.show_predictions(thing),),
        misuse=(lambda: helpers.show_predictions(1),),
        quick=helpers.show_predictions,
        because=(("scale", "what it lists was asked in this kernel"),),
    ),
    "show_progress": Subject(
        wrong=(lambda thing: helpers.show_progress(thing),),
        misuse=(lambda: helpers.show_progress(1),),
        quick=helpers.show_progress,
        because=(("scale", "the course has a given number of exercises"),),
    ),
    "show_class": Subject(
        wrong=(lambda thing: helpers.show_class(thing),),
        misuse=(lambda: helpers.show_class(5), lambda: helpers.show_class("/no/such/folder")),
        quick=lambda: helpers.show_class("."),
        because=(("scale", "the course has a given number of exercises"),),
    ),
    "share_progress": Subject(
        wrong=(
            lambda thing: helpers.share_progress(thing),
            lambda thing: helpers.share_progress(".", name=thing),
        ),
        misuse=(lambda: helpers.share_progress(5), lambda: helpers.share_progress(".", "x" * 99)),
        because=(
            ("interrupt", "outside of a kernel in work/ nothing is written"),
            ("scale", "the course has a given number of exercises"),
        ),
    ),
    "stop_sharing": Subject(
        misuse=(lambda: helpers.stop_sharing(1),),
        quick=helpers.stop_sharing,
        because=(("hostile", "it takes nothing"), ("scale", "it shows nothing")),
    ),
    "show_word": Subject(
        wrong=(lambda thing: helpers.show_word(thing),),
        misuse=(lambda: helpers.show_word(5), lambda: helpers.show_word("no such term")),
        quick=lambda: helpers.show_word("guard"),
        because=(("scale", "the course has a given number of terms"),),
    ),
    "show_interceptions": Subject(
        looks=(interceptions_with,),
        wrong=(lambda thing: helpers.show_interceptions(thing),),
        misuse=(lambda: helpers.show_interceptions(1),),
        quick=helpers.show_interceptions,
        scale=lambda n: interceptions_with(*[small] * n),
        largest=1000,
    ),
    "show_code": Subject(
        looks=(helpers.show_code, lambda thing: helpers.show_code(with_constant(thing))),
        misuse=(lambda: helpers.show_code(len), lambda: helpers.show_code(3)),
        quick=lambda: helpers.show_code(holds),
        scale=lambda n: helpers.show_code(code_of_size(n)),
        largest=1000,
    ),
    "show_bytecode": Subject(
        looks=(helpers.show_bytecode, lambda thing: helpers.show_bytecode(with_constant(thing))),
        wrong=(
            lambda thing: helpers.show_bytecode(small, caches=thing),
            lambda thing: helpers.show_bytecode(small, adaptive=thing),
        ),
        misuse=(lambda: helpers.show_bytecode(len), lambda: helpers.show_bytecode("x = 1")),
        quick=lambda: helpers.show_bytecode(holds),
        scale=lambda n: helpers.show_bytecode(code_of_size(n)),
        largest=1000,
    ),
    "show_rosetta": Subject(
        wrong=(helpers.show_rosetta,),
        misuse=(lambda: helpers.show_rosetta("nope"), lambda: helpers.show_rosetta(3)),
        quick=helpers.show_rosetta,
        because=(("scale", "its six functions are given"),),
    ),
    "watch_stack": Subject(
        looks=(
            lambda thing: helpers.watch_stack(holds, thing),
            lambda thing: helpers.watch_stack(with_constant(thing)),
        ),
        wrong=(uncalled(helpers.watch_stack),),
        misuse=(lambda: helpers.watch_stack(len), lambda: helpers.watch_stack(1)),
        quick=lambda: helpers.watch_stack(small),
        scale=lambda n: helpers.watch_stack(small, n),
        largest=100,
    ),
    "watch_frames": Subject(
        looks=(lambda thing: helpers.watch_frames(holds, thing),),
        wrong=(uncalled(helpers.watch_frames),),
        misuse=(lambda: helpers.watch_frames(len), lambda: helpers.watch_frames(1)),
        quick=lambda: helpers.watch_frames(deep, 5),
        scale=lambda n: helpers.watch_frames(deep, n),
        largest=80,
    ),
    "show_frame": Subject(
        looks=(lambda thing: helpers.show_frame(raised_by(thing).__traceback__.tb_frame),),
        wrong=(helpers.show_frame,),
        misuse=(lambda: helpers.show_frame(small), lambda: helpers.show_frame(None)),
        quick=lambda: helpers.show_frame(raised_by(1).__traceback__.tb_frame),
        because=(("scale", "a frame has a given number of attributes"),),
    ),
    "show_frames": Subject(
        wrong=(helpers.show_frames,),
        misuse=(lambda: helpers.show_frames(0), lambda: helpers.show_frames("all")),
        quick=helpers.show_frames,
        scale=lambda n: (lambda go: go(go, n))(
            lambda go, m: helpers.show_frames(10_000) if m == 0 else go(go, m - 1)
        ),
        largest=70,
    ),
    "show_traceback": Subject(
        looks=(lambda thing: helpers.show_traceback(raised_by(thing)),),
        wrong=(helpers.show_traceback,),
        misuse=(lambda: helpers.show_traceback(ValueError), lambda: helpers.show_traceback("e")),
        quick=lambda: helpers.show_traceback(raised_by(1)),
        scale=lambda n: helpers.show_traceback(deep_error(n)),
        largest=500,
    ),
    "watch_specialising": Subject(
        looks=(lambda thing: ws(holds, {"a": (thing,)}, times=3),),
        wrong=(
            lambda thing: ws(thing, {"a": ()}),
            lambda thing: ws(small, thing),
            lambda thing: ws(small, {"a": thing}),
            lambda thing: ws(small, {"a": ()}, times=thing),
            lambda thing: ws(small, {"a": ()}, inside=thing),
            lambda thing: ws(small, {"a": ()}, inside={"a": thing}),
        ),
        misuse=(
            lambda: ws(len, {"a": ()}),
            lambda: ws(small, {}),
            lambda: ws(small, {"a": 3}),
            lambda: ws(small, {"a": ()}, times=0),
            lambda: ws(small, {"a": ()}, inside={"b": contextlib.nullcontext}),
        ),
        quick=lambda: ws(small, {"a": (3,)}),
        scale=lambda n: ws(code_of_size(n), {"a": ()}, times=2),
        largest=1000,
        runs=True,
    ),
    "watch_tracers": Subject(
        looks=(lambda thing: helpers.watch_tracers(holds, thing),),
        wrong=(helpers.watch_tracers,),
        misuse=(lambda: helpers.watch_tracers(len), lambda: helpers.watch_tracers(1)),
        quick=lambda: helpers.watch_tracers(small),
        because=(("scale", "its rows are given: the kinds of tracers"),),
    ),
    "show_opcode_coverage": Subject(
        looks=(_coverage,),
        misuse=(
            lambda: helpers.show_opcode_coverage(3),
            lambda: helpers.show_opcode_coverage("Step"),
        ),
        quick=lambda: helpers.show_opcode_coverage(_step(2)),
        scale=lambda n: helpers.show_opcode_coverage(*(_step(3) for _ in range(n))),
        largest=20,
    ),
    "show_evaluator": Subject(
        looks=(helpers.show_evaluator,),
        wrong=(lambda thing: helpers.show_evaluator(small, thing),),
        misuse=(lambda: helpers.show_evaluator(len), lambda: helpers.show_evaluator(None)),
        quick=lambda: helpers.show_evaluator(small),
        because=(("scale", "the way of one call has a given length"),),
    ),
    "watch_hooked": Subject(
        looks=(lambda thing: helpers.watch_hooked(holds, thing),),
        wrong=(
            helpers.watch_hooked,
            lambda thing: helpers.watch_hooked(small, only=thing),
            lambda thing: helpers.watch_hooked(small, only=[thing]),
        ),
        misuse=(
            lambda: helpers.watch_hooked(len),
            lambda: helpers.watch_hooked(small, only=[]),
            lambda: helpers.watch_hooked(small, only=[None]),
        ),
        quick=lambda: helpers.watch_hooked(deep, 5),
        scale=lambda n: helpers.watch_hooked(deep, n),
        largest=80,
    ),
    "predict": Subject(
        looks=(lambda thing: pr("q?", ["a", "b"], run=lambda: thing),),
        wrong=(
            lambda thing: pr(thing, ["a", "b"], run=lambda: "a"),
            lambda thing: pr("q?", thing, run=lambda: "a"),
            lambda thing: pr("q?", ["a", thing], run=lambda: "a"),
            lambda thing: pr("q?", ["a", "b"], run=thing),
            lambda thing: pr("q?", ["a", "b"], run=lambda: "a", why=thing),
        ),
        misuse=(
            lambda: pr("", ["a", "b"], run=lambda: "a"),
            lambda: pr("q?", ["a"], run=lambda: "a"),
            lambda: pr("q?", ["a", "a"], run=lambda: "a"),
            lambda: pr("q?", "ab", run=lambda: "a"),
            lambda: pr("q?", ["a", "b"], run=lambda: "c"),
            lambda: pr("q?", ["a", "b"], run="a"),
        ),
        quick=lambda: pr("q?", ["3", "b"], run=small),
        scale=lambda n: pr("q?", [str(i) for i in range(n)], run=lambda: "0"),
        largest=10,
        all_shown=True,
        runs=True,
    ),
    "check": Subject(
        looks=(lambda thing: [one(thing) for one in helpers.check][-1],),
        misuse=(lambda: helpers.check.no_such_exercise,),
        quick=lambda: (
            helpers.check.start({"answer": 1})
            if "start" in dir(helpers.check)
            else next(iter(helpers.check))(3)
        ),
        runs=True,
        because=(("scale", "an answer is one thing"),),
    ),
    "expect": Subject(
        wrong=(lambda thing: helpers.expect(thing).__enter__(),),
        misuse=(lambda: helpers.expect().__enter__(), lambda: helpers.expect(3).__enter__()),
        quick=lambda: contextlib.ExitStack().enter_context(helpers.expect(ValueError)),
        because=(("scale", "it prints one line"), ("interrupt", "it changes nothing")),
    ),
    "op_folder": Subject(
        wrong=(
            lambda thing: helpers.op_folder(thing, {}),
            lambda thing: helpers.op_folder("op", thing),
            lambda thing: helpers.op_folder("op", {"f.py": thing}),
        ),
        misuse=tuple(
            partial(helpers.op_folder, name, {})
            for name in ("..", ".", "", "a/b", "/", "a\\b", "C:", "C:x", "\0", "../x")
        )
        + tuple(
            partial(helpers.op_folder, "op", {name: ""})
            for name in ("..", ".", "", "a/b", "/x", "a\\b", "C:x", "\0")
        ),
        quick=lambda: helpers.op_folder("op", {"op.py": "x = 1\n"}),
        scale=lambda n: helpers.op_folder("op", {f"f{i}.py": "" for i in range(n)}),
        largest=20,
    ),
    "call_in_child": Subject(
        wrong=(lambda thing: rt(thing), lambda thing: rt(small, thing)),
        misuse=(lambda: rt(lambda: 1), lambda: rt(len), lambda: rt(holds, 1)),
        quick=lambda: rt(small, 3),
        scale=lambda n: rt(small, n),
        largest=1000,
        all_shown=True,
    ),
    "watch_in_child": Subject(
        wrong=(
            helpers.watch_in_child,
            lambda thing: helpers.watch_in_child("pass", title=thing, imports=""),
            lambda thing: helpers.watch_in_child("pass", imports=thing),
        ),
        misuse=(
            lambda: helpers.watch_in_child(1),
            lambda: helpers.watch_in_child(len),
            lambda: helpers.watch_in_child(lambda: 1),
        ),
        quick=lambda: helpers.watch_in_child("print(1)", imports=""),
        scale=lambda n: helpers.watch_in_child(f"print('x' * 80 * {n})", imports=""),
        largest=100,
    ),
}


# -- TensorFlow ------------------------------------------------------------------------------------


def _tf():
    import tensorflow as tf

    return tf


def tf_chain(n: int):
    """Return a tf.function of n ops in a row."""
    tf = _tf()

    @tf.function(autograph=False)
    def chain(x):
        for _ in range(n):
            x = x + 1.0
        return x

    return chain


def eager_chain(n: int):
    """Run n ops."""
    x = _tf().constant(1.0)
    for _ in range(n):
        x = x + 1.0
    return x


def watched(n: int = 3):
    """Call a watched tf.function n times."""
    ledger = helpers.watch_traces(lambda x: x + 1, autograph=False)
    for _ in range(n):
        ledger(_one())
    return ledger


@cache
def _one():
    return _tf().constant(1.0)


def _grow(x):
    x.append(1)


def _counter(v, one):
    return v.assign_add(one) if hasattr(v, "assign_add") else one


_X = {"imports": "tensorflow"}

SUBJECTS |= {
    "watch_traces": Subject(
        looks=(
            lambda thing: (w := helpers.watch_traces(lambda x: 1), _quietly(w, thing), w)[-1],
            helpers.watch_traces,
        ),
        wrong=(lambda thing: helpers.watch_traces(small, autograph=thing),),
        misuse=(
            lambda: helpers.watch_traces(3),
            lambda: helpers.watch_traces(None),
            lambda: helpers.watch_traces(small, nonsense=1),
        ),
        quick=watched,
        scale=watched,
        largest=200,
        runs=True,
        **_X,
    ),
    "would_trace": Subject(
        looks=(lambda thing: helpers.would_trace(_tf().function(lambda x: 1), thing),),
        wrong=(helpers.would_trace,),
        misuse=(lambda: helpers.would_trace(3), lambda: helpers.would_trace(None)),
        quick=lambda: helpers.would_trace(lambda x: 1, 3),
        runs=True,
        because=(("scale", "it gives one row"),),
        **_X,
    ),
    "watch_mutations": Subject(
        looks=(lambda thing: helpers.watch_mutations({"a": (lambda x: None, thing)}),),
        wrong=(
            helpers.watch_mutations,
            lambda thing: helpers.watch_mutations({"a": thing}),
            lambda thing: helpers.watch_mutations({"a": (_grow, [])}, thing),
            lambda thing: helpers.watch_mutations({"a": (_grow, [])}, {"way": thing}),
        ),
        misuse=(
            lambda: helpers.watch_mutations({}),
            lambda: helpers.watch_mutations({"a": ()}),
            lambda: helpers.watch_mutations([_grow]),
            lambda: helpers.watch_mutations({"a": (_grow, [])}, {}),
        ),
        quick=lambda: helpers.watch_mutations({"a": (_grow, [])}),
        scale=lambda n: helpers.watch_mutations({f"a{i}": (_grow, []) for i in range(n)}),
        largest=20,
        runs=True,
        **_X,
    ),
    "show_graph": Subject(
        looks=(
            helpers.show_graph,
            lambda thing: helpers.show_graph(_tf().function(lambda x: 1), thing),
        ),
        wrong=(lambda thing: helpers.show_graph(tf_chain(1), 1.0, find=thing),),
        misuse=(lambda: helpers.show_graph(3), lambda: helpers.show_graph(None)),
        quick=lambda: helpers.show_graph(torch_chain, _one()),
        scale=lambda n: helpers.show_graph(tf_chain(n), _tf().constant(1.0)),
        largest=1000,
        runs=True,
        **_X,
    ),
    "show_graph_steps": Subject(
        looks=(
            helpers.show_graph_steps,
            lambda thing: helpers.show_graph_steps(_tf().function(lambda x: 1), thing),
        ),
        misuse=(lambda: helpers.show_graph_steps(3), lambda: helpers.show_graph_steps(None)),
        quick=lambda: helpers.show_graph_steps(torch_chain, _one()),
        scale=lambda n: helpers.show_graph_steps(tf_chain(n), _tf().constant(1.0)),
        largest=1000,
        runs=True,
        **_X,
    ),
    "show_graph_diff": Subject(
        wrong=(
            lambda thing: helpers.show_graph_diff(thing, _tf().Graph()),
            lambda thing: helpers.show_graph_diff(_tf().Graph(), thing),
            lambda thing: helpers.show_graph_diff(_tf().Graph(), _tf().Graph(), thing),
        ),
        misuse=(
            lambda: helpers.show_graph_diff(1, 2),
            lambda: helpers.show_graph_diff(helpers.show_table("T", {"a": 1}), _tf().Graph()),
        ),
        quick=lambda: helpers.show_graph_diff(*2 * [graph_of_three()]),  # its tracing is no verb
        scale=lambda n: helpers.show_graph_diff(_graph(n), _graph(n + 5)),
        largest=500,
        **_X,
    ),
    "watch_optimisation": Subject(
        looks=(lambda thing: helpers.watch_optimisation(_tf().function(lambda x: 1), thing),),
        wrong=(helpers.watch_optimisation,),
        misuse=(lambda: helpers.watch_optimisation(3), lambda: helpers.watch_optimisation(None)),
        quick=lambda: helpers.watch_optimisation(torch_chain, _one()),
        scale=lambda n: helpers.watch_optimisation(tf_chain(n), _tf().constant(1.0)),
        largest=300,
        runs=True,
        **_X,
    ),
    "show_autograph": Subject(
        looks=(helpers.show_autograph,),
        misuse=(lambda: helpers.show_autograph(len), lambda: helpers.show_autograph(3)),
        quick=lambda: helpers.show_autograph(small),
        because=(("scale", "a function of 25 lines is the largest that a cell may have"),),
        **_X,
    ),
    "show_c_api": Subject(
        wrong=(lambda thing: helpers.show_c_api(thing),),
        misuse=(lambda: helpers.show_c_api(1),),
        quick=helpers.show_c_api,
        because=(("scale", "TensorFlow's libraries are given"),),
        **_X,
    ),
    "show_imports_then_and_now": Subject(
        wrong=(lambda thing: helpers.show_imports_then_and_now(thing),),
        misuse=(lambda: helpers.show_imports_then_and_now(1),),
        quick=helpers.show_imports_then_and_now,
        because=(("scale", "its claims are given"),),
        **_X,
    ),
    "startup_switches": Subject(
        wrong=(
            lambda thing: helpers.startup_switches(thing),
            lambda thing: helpers.startup_switches().run(thing),
            lambda thing: helpers.startup_switches().run("x", thing),
        ),
        misuse=(
            lambda: helpers.startup_switches(1),
            lambda: helpers.startup_switches().run("no such label"),
        ),
        quick=helpers.startup_switches,
        because=(("scale", "its switches are given"),),
        **_X,
    ),
    "watch_call": Subject(
        looks=(lambda thing: helpers.watch_call(lambda x: None, thing), helpers.watch_call),
        misuse=(lambda: helpers.watch_call(3), lambda: helpers.watch_call()),
        quick=lambda: helpers.watch_call(eager_chain, 2),
        scale=lambda n: helpers.watch_call(eager_chain, n),
        largest=100,
        runs=True,
        **_X,
    ),
    "watch_calls": Subject(
        looks=(lambda thing: helpers.watch_calls({"a": (lambda x: None, thing)}),),
        wrong=(helpers.watch_calls, lambda thing: helpers.watch_calls({"a": thing})),
        misuse=(
            lambda: helpers.watch_calls({}),
            lambda: helpers.watch_calls({"a": 3}),
            lambda: helpers.watch_calls({"a": ()}),
        ),
        quick=lambda: helpers.watch_calls({"a": (eager_chain, 2)}),
        scale=lambda n: helpers.watch_calls({f"a{i}": (eager_chain, 2) for i in range(n)}),
        largest=20,
        runs=True,
        **_X,
    ),
    "op_routes": Subject(
        wrong=(
            helpers.op_routes,
            lambda thing: helpers.op_routes(lambda x: _tf().nn.relu(1.0), thing),
        ),
        misuse=(lambda: helpers.op_routes(3), lambda: helpers.op_routes(small)),
        quick=lambda: list(helpers.op_routes(_tf().nn.relu, 1.0)),
        runs=True,
        because=(("scale", "a call has a given number of routes"),),
        **_X,
    ),
    "show_call_diff": Subject(
        wrong=(
            lambda thing: helpers.show_call_diff(thing, helpers.watch_call(small)),
            lambda thing: helpers.show_call_diff(helpers.watch_call(small), thing),
        ),
        misuse=(lambda: helpers.show_call_diff(1, 2),),
        quick=lambda: helpers.show_call_diff(*2 * [helpers.watch_call(eager_chain, 2)]),
        scale=lambda n: helpers.show_call_diff(
            helpers.watch_call(eager_chain, n), helpers.watch_call(eager_chain, n + 1)
        ),
        largest=30,
        **_X,
    ),
    "watch_variables": Subject(
        wrong=(
            helpers.watch_variables,
            lambda thing: helpers.watch_variables({"a": thing}, 2),
            lambda thing: helpers.watch_variables({"a": _counter}, thing),
        ),
        misuse=(
            lambda: helpers.watch_variables({}),
            lambda: helpers.watch_variables({"a": 3}),
            lambda: helpers.watch_variables({"a": _counter}, 0),
            lambda: helpers.watch_variables({"a": _counter}, "many"),
        ),
        quick=lambda: helpers.watch_variables({"a": lambda v, one: v + one}, 2),
        scale=lambda n: helpers.watch_variables(
            {f"a{i}": lambda v, one: v + one for i in range(n)}, 1
        ),
        largest=10,
        all_shown=True,
        runs=True,
        **_X,
    ),
    "watch_race": Subject(
        wrong=(
            helpers.watch_race,
            lambda thing: helpers.watch_race(lambda v, one: v + one, thing),
        ),
        misuse=(
            lambda: helpers.watch_race(3),
            lambda: helpers.watch_race(lambda v, one: v + one, 0),
            lambda: helpers.watch_race(lambda v, one: v + one, "many"),
        ),
        quick=lambda: helpers.watch_race(lambda v, one: v + one, 3),
        runs=True,
        because=(("scale", "it counts outcomes, and a race has few"),),
        **_X,
    ),
    "signature_sandbox": Subject(
        wrong=(
            lambda thing: helpers.signature_sandbox(thing),
            lambda thing: helpers.signature_sandbox().run(thing),
            lambda thing: helpers.signature_sandbox().run("hit", dtype=thing),
            lambda thing: helpers.signature_sandbox().ledger(function=thing),
        ),
        misuse=(
            lambda: helpers.signature_sandbox().run("perhaps"),
            lambda: helpers.signature_sandbox().run("hit", nothing="x"),
        ),
        quick=lambda: helpers.signature_sandbox().run("hit"),
        because=(("scale", "its choices are given"),),
        **_X,
    ),
    "variable_sandbox": Subject(
        wrong=(
            lambda thing: helpers.variable_sandbox(thing),
            lambda thing: helpers.variable_sandbox().run(thing),
            lambda thing: helpers.variable_sandbox().graph(order=thing),
        ),
        misuse=(
            lambda: helpers.variable_sandbox().run("perhaps"),
            lambda: helpers.variable_sandbox().graph(nothing="x"),
        ),
        quick=lambda: helpers.variable_sandbox().graph(),
        because=(("scale", "its choices are given"),),
        **_X,
    ),
}


def _quietly(fn, *args):
    with contextlib.suppress(Exception, SystemExit), contextlib.redirect_stdout(io.StringIO()):
        fn(*args)


def _graph(n: int):
    return tf_chain(n).get_concrete_function(_tf().constant(1.0)).graph


graph_of_three = cache(lambda: _graph(3))


# -- torch -----------------------------------------------------------------------------------------


def _torch():
    import torch

    return torch


def torch_chain(x, n=3):
    """Add n times."""
    for _ in range(n):
        x = x + 1
    return x


def fx_chain(n: int):
    """Return an FX graph of n nodes in a row."""
    graph = _torch().fx.Graph()
    node = graph.placeholder("x")
    for _ in range(n):
        node = graph.call_function(_torch().add, (node, 1))
    graph.output(node)
    return graph


def compiled(n: int = 1):
    """Return a compiled module with a few guards, called once."""
    torch = _torch()
    layers = [torch.nn.Linear(2, 2) for _ in range(n)]
    torch._dynamo.reset()

    def through(x):
        for layer in layers:
            x = layer(x)
        return x

    torch.compile(through, backend="eager")(torch.ones(1, 2))
    return through


compiled_once = cache(lambda: compiled())


def recompiled(n: int = 2):
    """Call a watched function of torch n times."""
    torch = _torch()
    torch._dynamo.reset()
    ledger = helpers.watch_recompiles(lambda x: x + 1)
    for _ in range(n):
        ledger(torch.ones(2))
    return ledger


def breaking(n: int):
    """Return a function with n graph breaks."""
    space = {"torch": _torch()}
    body = "\n".join("    x = x + 1\n    torch._dynamo.graph_break()" for _ in range(n))
    exec(compile(f"def broken(x):\n{body}\n    return x\n", "<made>", "exec"), space)
    return space["broken"]


def long_chain(n: int):
    """Return a function of n results to hand back, with three graph breaks before it does."""
    space = {"torch": _torch()}
    results = ", ".join(f"x + {i}" for i in range(n))
    lines = [f"results = [{results}]", *["torch._dynamo.graph_break()"] * 3, "return results"]
    body = "\n    ".join(lines)
    exec(compile(f"def chain(x):\n    {body}\n", "<made>", "exec"), space)
    return space["chain"]


def past(n: int):
    """Return a tensor with a past of n ops."""
    x = _torch().ones(1, requires_grad=True)
    for _ in range(n):
        x = x + 1
    return x


def _ones():
    return _torch().ones(2)


_Y = {"imports": "torch"}

SUBJECTS |= {
    "show_fx": Subject(
        looks=(helpers.show_fx,),
        wrong=(lambda thing: helpers.show_fx(fx_chain(2), thing),),
        misuse=(lambda: helpers.show_fx(3), lambda: helpers.show_fx(small)),
        quick=lambda: helpers.show_fx(fx_chain(5)),
        scale=lambda n: helpers.show_fx(fx_chain(n)),
        largest=500,
        **_Y,
    ),
    "show_compiled": Subject(
        looks=(helpers.show_compiled,),
        misuse=(lambda: helpers.show_compiled(3),),
        quick=lambda: helpers.show_compiled(compiled_once()),
        scale=lambda n: helpers.show_compiled(compiled(n)),
        largest=10,
        **_Y,
    ),
    "show_guards": Subject(
        looks=(helpers.show_guards,),
        wrong=(
            lambda thing: helpers.show_guards(compiled(), find=thing),
            lambda thing: helpers.show_guards(compiled(), as_table=thing),
            lambda thing: helpers.show_guards(compiled_once(), call=thing),
            lambda thing: helpers.show_guards(compiled_once(), call=(thing,)),
        ),
        misuse=(lambda: helpers.show_guards(small), lambda: helpers.show_guards(3)),
        quick=lambda: helpers.show_guards(compiled_once()),  # torch's own compiling is no verb
        scale=lambda n: helpers.show_guards(compiled(n), as_table=True),
        largest=10,
        **_Y,
    ),
    "guard_function": Subject(
        wrong=(
            helpers.guard_function,
            lambda thing: helpers.guard_function(compiled_once(), entry=thing),
        ),
        misuse=(lambda: helpers.guard_function(small), lambda: helpers.guard_function(3)),
        quick=lambda: helpers.guard_function(compiled_once()).__code__.co_names,
        scale=lambda n: helpers.guard_function(compiled(n)),
        largest=10,
        all_shown=True,  # it is a function, no picture
        **_Y,
    ),
    "watch_recompiles": Subject(
        looks=(
            lambda thing: (w := helpers.watch_recompiles(lambda x: 1), _quietly(w, thing), w)[-1],
            helpers.watch_recompiles,
        ),
        wrong=(lambda thing: helpers.watch_recompiles(small, dynamic=thing),),
        misuse=(
            lambda: helpers.watch_recompiles(3),
            lambda: helpers.watch_recompiles(None),
            lambda: helpers.watch_recompiles(small, nonsense=1),
        ),
        quick=recompiled,
        scale=recompiled,
        largest=200,
        all_shown=True,  # the same hits stand in one row
        runs=True,
        **_Y,
    ),
    "watch_guard_sets": Subject(
        wrong=(
            lambda thing: helpers.watch_guard_sets(thing, (1,)),
            lambda thing: helpers.watch_guard_sets(torch_chain, thing),
            lambda thing: helpers.watch_guard_sets(torch_chain, (_ones(),), mine=thing),
        ),
        misuse=(
            lambda: helpers.watch_guard_sets(3, ()),
            lambda: helpers.watch_guard_sets(torch_chain, 3),
            lambda: helpers.watch_guard_sets(torch_chain, (_ones(),), mine=3),
        ),
        quick=lambda: helpers.watch_guard_sets(torch_chain, (_ones(),)),
        runs=True,
        because=(("scale", "the calls next to one call are a given list"),),
        **_Y,
    ),
    "watch_inductor": Subject(
        looks=(lambda thing: helpers.watch_inductor(torch_chain, thing),),
        wrong=(
            helpers.watch_inductor,
            lambda thing: helpers.watch_inductor(torch_chain, _ones(), run=thing),
        ),
        misuse=(lambda: helpers.watch_inductor(3), lambda: helpers.watch_inductor(None)),
        quick=lambda: helpers.watch_inductor(torch_chain, _ones()),
        because=(("scale", "it runs when it is told to, once, and shows two sources"),),
        **_Y,
    ),
    "watch_recorders": Subject(
        wrong=(lambda thing: helpers.watch_recorders(thing),),
        misuse=(lambda: helpers.watch_recorders(1),),
        quick=helpers.watch_recorders,
        because=(("scale", "its programs are given"),),
        **_Y,
    ),
    "show_recording": Subject(
        wrong=(helpers.show_recording,),
        misuse=(lambda: helpers.show_recording("nope"), lambda: helpers.show_recording(3)),
        quick=lambda: helpers.show_recording("loop of n rounds"),
        because=(("scale", "its programs are given"),),
        **_Y,
    ),
    "watch_compile": Subject(
        looks=(lambda thing: helpers.watch_compile(holds, thing),),
        wrong=(helpers.watch_compile,),
        misuse=(lambda: helpers.watch_compile(len), lambda: helpers.watch_compile(3)),
        quick=lambda: helpers.watch_compile(torch_chain, _ones()),
        scale=lambda n: helpers.watch_compile(torch_chain, _ones(), n),
        largest=30,
        runs=True,
        **_Y,
    ),
    "watch_breaks": Subject(
        looks=(lambda thing: helpers.watch_breaks(holds, thing),),
        wrong=(helpers.watch_breaks,),
        misuse=(lambda: helpers.watch_breaks(len), lambda: helpers.watch_breaks(3)),
        quick=lambda: helpers.watch_breaks(breaking(1), _ones()),
        scale=lambda n: helpers.watch_breaks(breaking(n), _ones()),
        largest=5,
        all_shown=True,
        runs=True,
        **_Y,
    ),
    "watch_fixes": Subject(
        looks=(lambda thing: helpers.watch_fixes({"a": (holds, holds)}, thing),),
        wrong=(
            helpers.watch_fixes,
            lambda thing: helpers.watch_fixes({"a": thing}, _ones()),
            lambda thing: helpers.watch_fixes({"a": (thing, small)}),
        ),
        misuse=(
            lambda: helpers.watch_fixes({}),
            lambda: helpers.watch_fixes({"a": (small,)}),
            lambda: helpers.watch_fixes([small]),
        ),
        quick=lambda: helpers.watch_fixes({"a": (breaking(1), torch_chain)}, _ones()),
        scale=lambda n: helpers.watch_fixes(
            {f"a{i}": (torch_chain, torch_chain) for i in range(n)}, _ones()
        ),
        largest=4,
        all_shown=True,
        runs=True,
        **_Y,
    ),
    "watch_rewriting": Subject(
        looks=(lambda thing: helpers.watch_rewriting(holds, thing),),
        wrong=(helpers.watch_rewriting,),
        misuse=(lambda: helpers.watch_rewriting(len), lambda: helpers.watch_rewriting(3)),
        quick=lambda: helpers.watch_rewriting(torch_chain, _ones()),
        scale=lambda n: helpers.watch_rewriting(long_chain(n), _ones()),
        largest=50,
        runs=True,
        **_Y,
    ),
    "watch_ops": Subject(
        looks=(lambda thing: helpers.watch_ops(lambda x: None, thing), helpers.watch_ops),
        misuse=(lambda: helpers.watch_ops(3), lambda: helpers.watch_ops()),
        quick=lambda: helpers.watch_ops(torch_chain, _ones()),
        scale=lambda n: helpers.watch_ops(torch_chain, _ones(), n),
        largest=1000,
        runs=True,
        imports="both",
    ),
    "show_journey": Subject(
        looks=(
            lambda thing: helpers.show_journey(lambda x: x, thing),
            helpers.show_journey,
            lambda thing: helpers.show_journey(lambda: thing + thing),
        ),
        wrong=(lambda thing: helpers.show_journey(small, shares=thing),),
        misuse=(
            lambda: helpers.show_journey(3),
            lambda: helpers.show_journey(),
            lambda: helpers.show_journey(small, shares="yes"),
        ),
        quick=lambda: helpers.show_journey(eager_chain, 2),
        scale=lambda n: helpers.show_journey(torch_chain, _ones(), n),
        largest=1000,
        all_shown=True,  # it counts, and the words are as many for any count
        runs=True,
        imports="both",
    ),
    "show_op_graph": Subject(
        wrong=(
            lambda thing: helpers.show_op_graph(thing, a=_ops(1)),
            lambda thing: helpers.show_op_graph("T", a=thing),
        ),
        misuse=(
            lambda: helpers.show_op_graph("T"),
            lambda: helpers.show_op_graph("T", a=3),
            lambda: helpers.show_op_graph("T", a=helpers.show_table("T", {"a": 1})),
        ),
        quick=lambda: helpers.show_op_graph("T", a=_ops(2)),
        scale=lambda n: helpers.show_op_graph("T", a=_ops(n)),
        largest=100,
        imports="both",
    ),
    "show_grad_fn": Subject(
        looks=(helpers.show_grad_fn,),
        misuse=(
            lambda: helpers.show_grad_fn(3),
            lambda: helpers.show_grad_fn(_ones()),
        ),
        quick=lambda: helpers.show_grad_fn(past(3)),
        scale=lambda n: helpers.show_grad_fn(past(n)),
        largest=500,
        **_Y,
    ),
    "show_job": Subject(
        looks=(helpers.show_job,),
        wrong=(lambda thing: helpers.show_job(job(2), thing),),
        misuse=(lambda: helpers.show_job(3), lambda: helpers.show_job(job(2), "sideways")),
        quick=lambda: helpers.show_job(job(2)),
        scale=lambda n: helpers.show_job(job(n)),
        largest=20,
    ),
    "show_registry": Subject(
        looks=(helpers.show_registry,),
        misuse=(lambda: helpers.show_registry(3), lambda: helpers.show_registry(None)),
        quick=lambda: helpers.show_registry(job(2)),
        scale=lambda n: helpers.show_registry(job(n)),
        largest=20,
    ),
    "show_op_files": Subject(
        looks=(helpers.show_op_files,),
        wrong=(
            lambda thing: helpers.show_op_files({"f.py": thing}),
            lambda thing: helpers.show_op_files({}, thing),
        ),
        misuse=tuple(
            partial(helpers.show_op_files, {name: ""}) for name in ("..", "", "a/b", "C:x", "\0")
        ),
        quick=lambda: helpers.show_op_files({"op.py": "x = 1\n"}),
        scale=lambda n: helpers.show_op_files({"op.py": "x = 1\n" * n}, {"op.py": ""}),
        largest=100_000,
    ),
}


def _ops(n: int):
    return helpers.watch_ops(torch_chain, _ones(), n)


def job(n: int):
    """Return a job of n ops in a row."""
    from helpers.mini import oneflow as flow

    tp = flow.typing
    flow.clear_default_session()

    @flow.global_function()
    def chain(x: tp.Numpy.Placeholder((5,), dtype=flow.float32)) -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            for _ in range(n):
                x = x + x
            return x

    return chain


def every_code(code: CodeType):
    """Yield a code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from every_code(constant)
