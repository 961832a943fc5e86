"""The verbs of the reference page, by seam: `SECTIONS`, number of the seam -> verb -> a cell.

All cells look at one example, `scale`, which accepts numbers and tensors. `LISTED` contains the
verbs that show the course's own systems. The page names them but does not run them.
"""

SETUP = """\
from helpers import *
import torch._dynamo  # before TensorFlow: the other order kills a kernel whose torch has Triton
import tensorflow as tf"""
EXAMPLE = """\
RATE = 2


def scale(x):
    grown = x * RATE
    return grown + 1


def twice(x):
    return scale(scale(x))"""

SECTIONS = {
    1: {
        "show_names": 'alias = scale\nshow_names("scale", "alias", "twice")',
        "watch_names": "watch_names(twice, 3)",
        "show_bindings": "show_bindings(scale)",
        "show_binding_map": "show_binding_map(scale)",
        "rebind_everywhere": """\
with rebind_everywhere(scale, lambda x: "mine") as block:
    seen = twice(3), alias(3)
assert seen == ("mine", "mine")
block""",
        "code_swapped": """\
with code_swapped(scale, lambda x: "mine"):
    seen = twice(3), alias(3)
assert seen == ("mine", "mine") and alias(3) == 7""",
        "watch_callers": """\
routes = {"the name": lambda: scale(3), "the alias": lambda: alias(3)}
watch_callers(
    routes,
    lambda route: "old" if route() == 7 else "new",
    {"every holder": lambda: rebind_everywhere(scale, lambda x: "mine")},
)""",
        "watch_routes": """\
def mine(x):
    return "mine"


holders = {"the name": lambda: scale, "the alias": lambda: alias}
patches = {"every holder": lambda: rebind_everywhere(scale, mine)}
watch_routes(scale, mine, routes, holders, patches)""",
        "op_routes": "sorted(op_routes(tf.nn.relu, [1.0]))",
    },
    2: {
        "watch_traces": """\
traced = watch_traces(scale)
for given in (tf.constant(1.0), tf.constant(2.0), 3, 4):
    traced(given)
traced""",
        "watching_traces": """\
@tf.function
def shifted(x):
    return x + 1


with watching_traces() as seen:
    shifted(1), shifted(2)
assert (seen.model.traces, seen.model.retraces) == (2, 1)
print(seen)""",
        "would_trace": "would_trace(traced, 5).verdict",
        "show_graph": "show_graph(scale, tf.constant(1.0))",
        "show_graph_steps": "show_graph_steps(scale, tf.constant(1.0))",
        "show_graph_diff": """\
one, two = (tf.function(fn).get_concrete_function(tf.constant(1.0)) for fn in (scale, twice))
show_graph_diff(one, two)""",
        "watch_optimisation": "watch_optimisation(scale, tf.constant(1.0))",
        "show_autograph": "show_autograph(twice)",
        "watch_mutations": """\
def append(items):
    items.append(items[0])


watch_mutations({"append": (append, [tf.constant(1.0)])})""",
    },
    3: {
        "show_code": "show_code(lambda: 0)",
        "show_bytecode": "show_bytecode(scale)",
        "watch_stack": "watch_stack(scale, 3)",
        "watch_frames": "watch_frames(scale, 3)",
        "show_frame": "import sys\n\nshow_frame((lambda inside: sys._getframe())(3))",
        "show_frames": """\
def deeper(x):
    return show_frames(most=2)


deeper(3)""",
        "show_traceback": """\
try:
    twice(None)
except TypeError as error:
    kept = error
show_traceback(kept)""",
        "watch_specialising": 'watch_specialising(scale, {"ints": (3,), "floats": (3.0,)})',
        "watch_tracers": """\
tracers = watch_tracers(scale, 3)
tracers""",
    },
    4: {
        "show_evaluator": "show_evaluator(scale)",
        "watch_hooked": "watch_hooked(twice, 3, only=[scale, twice])",
        "watch_compile": "watch_compile(scale, torch.ones(2))",
        "watch_rewriting": "watch_rewriting(scale, torch.ones(2))",
        "watch_breaks": """\
def noisy(x):
    print("I am here")
    return scale(x)


watch_breaks(noisy, torch.ones(2))""",
        "watch_fixes": """\
quiet = scale
watch_fixes({"no print": (noisy, quiet)}, torch.ones(2))""",
        "watch_recompiles": """\
compiled = watch_recompiles(scale)
for given in (torch.ones(2), torch.ones(2), torch.ones(2, dtype=torch.int32)):
    compiled(given)
compiled""",
        "watching_recompiles": """\
def half(x):
    return x / 2


with watching_recompiles() as seen:
    for dtype in (torch.float32, torch.int32):
        torch.compile(half, backend="eager")(torch.ones(2, dtype=dtype))
assert (seen.model.compiles, seen.model.recompiles) == (2, 1)
print(seen)""",
        "watching_breaks": """\
def loud(x):
    print("I am here")
    return x + 1


with watching_breaks() as seen:
    torch.compile(loud, backend="eager")(torch.ones(2))
assert seen.model.breaks == 1
seen.model.rows[0].cause""",
        "show_compiled": "show_compiled(compiled)",
        "show_guards": 'show_guards(compiled, find="RATE", as_table=True)',
        "guard_function": "guard_function(compiled)(torch.ones(2))",
        "watch_guard_sets": """\
always = {"always": lambda x: True}
watch_guard_sets(scale, torch.ones(2), guard_sets=always)""",
        "show_fx": "show_fx(torch.fx.symbolic_trace(scale))",
        "show_grad_fn": "show_grad_fn(scale(torch.ones(2, requires_grad=True)))",
        "watch_inductor": "watch_inductor(scale, torch.ones(2))",
    },
    5: {},
    6: {
        "watch_call": "watch_call(tf.negative, tf.constant(1.0))",
        "watch_calls": """\
x = tf.constant(1.0)
watch_calls({"eager": (twice, x), "graph": (tf.function(twice), x)})""",
        "show_call_diff": """\
in_tensorflow = watch_call(tf.negative, tf.constant(1.0))
show_call_diff(in_tensorflow, watch_call(torch.nn.functional.relu, torch.ones(2)))""",
        "watch_ops": "log = watch_ops(scale, torch.ones(2))\nlog",
        "watching_ops": "with watching_ops() as seen:\n    scale(torch.ones(2))\nprint(seen)",
        "show_op_graph": 'show_op_graph("scale", scale=log)',
        "watch_variables": """\
def add_then_read(v, one):
    with tf.control_dependencies([v.assign_add(one)]):
        return v.read_value()


watch_variables({"add_then_read": add_then_read})""",
        "watch_race": "race = watch_race(add_then_read, runs=20)\nrace",
    },
    0: {
        "show_journey": "show_journey(scale, tf.constant(1.0))",
        "show_interceptions": "show_interceptions()",
        "show_environment": "environment = show_environment()\nenvironment",
        "watch_in_child": 'watch_in_child("print(sum(range(5)))", imports="")',
        "call_in_child": """\
def version():
    import sys

    return list(sys.version_info[:1])


call_in_child(version)""",
        "show_table": """\
rows = [{"x": x, "scale(x)": scale(x)} for x in (3, 4)]
show_table("Two calls", *rows)""",
        "watch_costs": """\
costs = watch_costs(lambda: scale(3), {"twice": lambda: twice(3)}, unit_name="calls of scale")
costs""",
        "plot_ratios": 'plot_ratios("Calls of scale inside", {"scale": 1.0, "twice": 2.0})',
        "plot_curve": 'plot_curve("scale, again and again", [3.0, 7.0, 15.0], step="call")',
    },
}
LISTED = (
    *("show_rosetta", "show_job", "show_registry"),
    *("show_c_api", "show_imports_then_and_now", "startup_switches"),
)
