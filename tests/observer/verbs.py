"""Which verbs there are, how each is called on a program, and which programs it fits."""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

from tests.observer.cases import Case, Program

SHOWN, CALLED, TWICE, MANY = (
    (0,),
    (1,),
    (2,),
    (0, 1),
)  # how often the program is called in the plain run
PLAIN, TORCH, TENSORFLOW = "plain", "torch", "tensorflow"
EVERY = (PLAIN, TORCH, TENSORFLOW)
VERBS: dict[str, "Verb"] = {}


@dataclass(frozen=True)
class Verb:
    """How a verb is called on a program, and what its plain run is."""

    name: str
    act: Callable[[Case], object]
    calls: tuple[int, ...]
    frameworks: tuple[str, ...]
    only: frozenset[str]  # kinds of which a program must have one
    value: bool  # it returns what the call returns
    own_compile: bool  # what it compiles is not kept, so a plain run may differ there
    costs: bool  # it takes seconds
    alone: bool  # it does not look at the program, so a few programs are enough

    def fits(self, program: Program) -> bool:
        """Return whether this verb is for such a program."""
        if program.framework not in self.frameworks:
            return False
        if self.calls == MANY and "once" in program.kinds:
            return False
        if self.name == "watch_traces" and program.kinds & {"eager", "raises"}:
            return False
        if self.name == "watch_optimisation" and "raises" in program.kinds:
            return False
        return not self.only or bool(self.only & program.kinds)


def verb(
    calls=SHOWN,
    on=EVERY,
    only="",
    value=False,
    own_compile=False,
    costs=False,
    alone=False,
    name="",
):
    """Add a function that calls a verb on a case to the table; its own name is the verb's."""

    def add(act):
        key = name or act.__name__
        kinds = frozenset(only.split())
        VERBS[key] = Verb(key, act, calls, on, kinds, value, own_compile, costs, alone)
        return act

    return add


def front_door():
    """Return the package, imported when the first verb is asked for."""
    import helpers

    return helpers


def positional(case: Case) -> tuple:
    """Return the call of a case as a function and positional arguments."""
    fn = functools.partial(case.fn, **case.kwargs) if case.kwargs else case.fn
    return (fn, *case.args)


def stand_in(*args, **kwargs):
    """Stand in for a function that is replaced."""
    return "stand-in"


def donor_of(fn) -> FunctionType:
    """Return another function with the same code, so that a swap changes no result."""
    if type(fn) is not FunctionType:
        return fn  # code_swapped refuses it
    code = fn.__code__.replace()
    made = FunctionType(code, fn.__globals__, "donor", fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def calls_of_one(name, on=EVERY, calls=CALLED, **options):
    """Add a verb that is called with a function and its arguments, and runs them once."""

    def act(case):
        return getattr(front_door(), name)(case.fn, *case.args, **case.kwargs)

    verb(calls, on, name=name, **options)(act)


def shows(name, on=EVERY, only=""):
    """Add a verb that is called with the function alone."""
    verb(SHOWN, on, only, name=name)(lambda case: getattr(front_door(), name)(case.fn))


def blocks(name, on=EVERY, only=""):
    """Add a verb that watches a `with` block."""

    def act(case):
        with getattr(front_door(), name)() as seen:
            value = case.call()
        case.said.append(seen.text())
        return value

    verb(CALLED, on, only, value=True, name=name)(act)


def lives(name, on, only=""):
    """Add a verb that returns what is to be called."""

    def act(case):
        live = getattr(front_door(), name)(case.fn)
        value = live(*case.args, **case.kwargs)
        case.said.append(live.text())
        return value

    verb(CALLED, on, only, value=True, own_compile=True, name=name)(act)


for each in ("watch_names", "watch_frames", "watch_stack"):
    calls_of_one(each, own_compile=True)  # they run the Python function inside
calls_of_one("watch_ops")
calls_of_one("watch_call")
calls_of_one("show_journey", calls=TWICE)
calls_of_one("watch_hooked", (TORCH,), own_compile=True)  # it runs the Python function inside
for each in ("watch_breaks", "watch_compile", "watch_rewriting"):
    calls_of_one(each, (TORCH,), own_compile=True)
for each in ("show_bindings", "show_binding_map", "show_code", "show_bytecode", "show_evaluator"):
    shows(each)
shows("show_autograph", (TENSORFLOW,))
for each in ("show_compiled", "show_guards"):
    shows(each, (TORCH,), "compiled")
shows("show_fx", (TORCH,))
blocks("watching_ops")
blocks("watching_breaks", (TORCH,))
blocks("watching_recompiles", (TORCH,))
blocks("watching_traces", (TENSORFLOW,))
lives("watch_recompiles", (TORCH,))
lives("watch_traces", (TENSORFLOW,))


@verb()
def show_names(case):
    function = case.fn
    arguments = case.args
    return front_door().show_names("function", "arguments")


@verb(CALLED)
def show_traceback(case):
    try:
        case.call()
        raise LookupError("an error of the observer")
    except Exception as error:
        return front_door().show_traceback(error)


@verb(alone=True)
def show_frame(case):
    frame = (lambda inside: sys._getframe())(case.args)
    return front_door().show_frame(frame)


@verb(alone=True)
def show_frames(case):
    return front_door().show_frames(most=3)


@verb()
def rebind_everywhere(case):
    with front_door().rebind_everywhere(case.fn, stand_in) as block:
        pass
    return block


@verb(CALLED, value=True)
def code_swapped(case):
    with front_door().code_swapped(case.fn, donor_of(case.fn)):
        return case.call()


@verb(MANY)
def watch_callers(case):
    ways = {"every holder": lambda: front_door().rebind_everywhere(case.fn, stand_in)}

    def judge(route):
        return "new" if route() == "stand-in" else "old"

    return front_door().watch_callers({"call": case.call}, judge, ways)


@verb(MANY)
def watch_routes(case):
    ways = {"every holder": lambda: front_door().rebind_everywhere(case.fn, stand_in)}
    holders = {"call": lambda: case.fn}
    return front_door().watch_routes(case.fn, stand_in, {"call": case.call}, holders, ways)


@verb(MANY, costs=True)
def watch_specialising(case):
    fn, *args = positional(case)
    return front_door().watch_specialising(fn, {"call": tuple(args)}, times=5)


@verb(MANY, costs=True)
def watch_tracers(case):
    return front_door().watch_tracers(*positional(case))


@verb(MANY, costs=True)
def watch_costs(case):
    return front_door().watch_costs(case.call, {"again": case.call}, unit_name="calls")


@verb(alone=True)
def show_interceptions(case):
    return front_door().show_interceptions()


@verb(costs=True, alone=True)
def show_environment(case):
    return front_door().show_environment()


@verb()
def show_table(case):
    return front_door().show_table("T", {"fn": case.fn, "args": case.args, "kwargs": case.kwargs})


@verb(costs=True, alone=True)
def watch_in_child(case):
    return front_door().watch_in_child("print(1)", imports="")


@verb(costs=True, alone=True)
def call_in_child(case):
    return front_door().call_in_child(len, "abc")


@verb(alone=True)
def show_rosetta(case):
    return front_door().show_rosetta("current")


@verb(alone=True)
def plot_ratios(case):
    return front_door().plot_ratios("Ratios", {"one": 1.0, "two": 2.0})


@verb(alone=True)
def plot_curve(case):
    return front_door().plot_curve("Curve", [3.0, 2.0, 1.0])


@verb(MANY)
def watch_calls(case):
    return front_door().watch_calls({"call": positional(case)})


@verb(MANY)
def show_call_diff(case):
    trees = [front_door().watch_call(case.fn, *case.args, **case.kwargs) for _ in range(2)]
    return front_door().show_call_diff(*trees)


@verb(MANY, (TORCH, TENSORFLOW))
def show_op_graph(case):
    log = front_door().watch_ops(case.fn, *case.args, **case.kwargs)
    return front_door().show_op_graph("Ops", call=log)


@verb(MANY)
def watch_mutations(case):
    return front_door().watch_mutations(
        {"call": positional(case)}, ways={"as it is": lambda fn: fn}
    )


@verb(MANY, name="watch_mutations by its own ways", own_compile=True)
def watch_mutations_by_default(case):
    return front_door().watch_mutations({"call": positional(case)})


@verb(MANY, (TORCH, TENSORFLOW), name="show_journey with ways", costs=True)
def journey_with_ways(case):
    return front_door().show_journey(case.fn, *case.args, ways=True, **case.kwargs)


@verb(MANY, (TORCH,), own_compile=True)
def watch_fixes(case):
    fn, *args = positional(case)
    return front_door().watch_fixes({"same": (fn, fn)}, *args)


@verb(MANY, (TORCH,), own_compile=True)
def watch_guard_sets(case):
    always = {"always": lambda *args: True}
    return front_door().watch_guard_sets(case.fn, *case.args, guard_sets=always)


@verb(SHOWN, (TORCH,), "compiled")
def guard_function(case):
    return front_door().guard_function(case.fn)(*case.args)


@verb(SHOWN, (TORCH,), "compiled", name="show_guards of a call")
def guards_of_a_call(case):
    return front_door().show_guards(case.fn, call=case.args)


@verb(CALLED, (TORCH,))
def show_grad_fn(case):
    return front_door().show_grad_fn(case.call())


@verb(MANY, (TORCH,), own_compile=True, costs=True)
def watch_inductor(case):
    return front_door().watch_inductor(*positional(case))


@verb(SHOWN, (TENSORFLOW,), "tf.function")
def would_trace(case):
    return front_door().would_trace(case.fn, *case.args, **case.kwargs)


@verb(MANY, (TENSORFLOW,), own_compile=True)
def show_graph(case):
    return front_door().show_graph(case.fn, *case.args, **case.kwargs)


@verb(MANY, (TENSORFLOW,), own_compile=True)
def show_graph_steps(case):
    return front_door().show_graph_steps(case.fn, *case.args, **case.kwargs)


@verb(MANY, (TENSORFLOW,), own_compile=True)
def show_graph_diff(case):
    graphs = [front_door().show_graph(case.fn, *case.args, **case.kwargs) for _ in range(2)]
    return front_door().show_graph_diff(*graphs)


@verb(MANY, (TENSORFLOW,), own_compile=True)
def watch_optimisation(case):
    return front_door().watch_optimisation(case.fn, *case.args, **case.kwargs)


def add_then_read(variable, one):
    """Add to a variable and read it."""
    import tensorflow as tf

    with tf.control_dependencies([variable.assign_add(one)]):
        return variable.read_value()


@verb(SHOWN, (TENSORFLOW,), alone=True)
def watch_variables(case):
    return front_door().watch_variables({"program": add_then_read}, runs=3)


@verb(SHOWN, (TENSORFLOW,), alone=True)
def watch_race(case):
    return front_door().watch_race(add_then_read, runs=3)


@verb(SHOWN, (TENSORFLOW,), alone=True)
def op_routes(case):
    import tensorflow as tf

    return sorted(front_door().op_routes(tf.nn.relu, [1.0]))


@verb(SHOWN, (TENSORFLOW,), costs=True, alone=True)
def show_c_api(case):
    return front_door().show_c_api()


@verb(SHOWN, (TENSORFLOW,), costs=True, alone=True)
def show_imports_then_and_now(case):
    return front_door().show_imports_then_and_now()
