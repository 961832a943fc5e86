"""The front door: what a notebook calls. `show_…` looks at a thing at rest, `watch_…` runs it."""

import os
import sys

# TensorFlow reads both when it is imported: no log lines, and the same kernels on every CPU.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

from helpers.capture import environment
from helpers.capture import rows as records
from helpers.capture.cpython import (
    bytecode,
    code_object,
    costs,
    frame_evaluator,
    frame_timeline,
    hooked_frames,
    rosetta,
    specialization,
    tracer_costs,
    value_stack,
)
from helpers.capture.cpython import frame as frames
from helpers.capture.frameworks import call_diff, op_log, recorders
from helpers.capture.frameworks import call_tree as calls
from helpers.capture.oneflow import jobs as oneflow_jobs
from helpers.capture.oneflow import registry
from helpers.capture.processes import child
from helpers.capture.processes.call import run_apart
from helpers.capture.references import name_graph, name_timeline, rebind, search
from helpers.capture.references.rebind import code_swapped, rebind_everywhere
from helpers.capture.tensorflow import autograph, c_api, grappler, variables
from helpers.capture.tensorflow import graph as tf_graphs
from helpers.capture.tensorflow import startup_switches as startup
from helpers.capture.tensorflow.tracing import ledger as traces
from helpers.capture.tensorflow.tracing import mutations
from helpers.capture.tensorflow.tracing.ledger import would_trace
from helpers.capture.torch import fx_graph, grad_fn, inductor, recompiles
from helpers.capture.torch.dynamo import bytecode as dynamo_code
from helpers.capture.torch.dynamo import graph_breaks, timeline
from helpers.capture.torch.guards import graph as guards
from helpers.capture.torch.guards.compare import agreement as guard_sets_search
from helpers.exhibit import Exhibit, LiveExhibit, model_of
from helpers.safety.arguments import switch, word
from helpers.safety.state import whole
from helpers.study import check, expect, predict
from helpers.study.chapter_2.signature_sandbox import signature_sandbox
from helpers.study.chapter_3 import coverage as show_coverage
from helpers.study.chapter_6.variable_sandbox import variable_sandbox
from helpers.study.op_folder import op_folder
from helpers.study.rerun import Switches
from helpers.view import bars, ledger, side_by_side, table, transcript
from helpers.view import bytecode as bytecode_view
from helpers.view import call_tree as call_tree_view
from helpers.view import dynamo as dynamo_view
from helpers.view import stack as stack_view
from helpers.view.diagram import figures, graph_diff
from helpers.view.diagram import graph as diagram
from helpers.view.diagram import job as job_view
from helpers.view.widgets import code as code_view
from helpers.view.widgets import stepper

__all__ = [
    "check",
    "code_swapped",
    "expect",
    "op_folder",
    "plot_ratios",
    "predict",
    "rebind_everywhere",
    "run_apart",
    "show_autograph",
    "show_binding_map",
    "show_bindings",
    "show_bytecode",
    "show_c_api",
    "show_call_diff",
    "show_code",
    "show_coverage",
    "show_environment",
    "show_evaluator",
    "show_frame",
    "show_frames",
    "show_fx",
    "show_grad_fn",
    "show_graph",
    "show_graph_diff",
    "show_graph_steps",
    "show_guards",
    "show_job",
    "show_names",
    "show_recording",
    "show_registry",
    "show_rosetta",
    "show_table",
    "show_tape",
    "show_then_and_now",
    "show_traceback",
    "signature_sandbox",
    "startup_switches",
    "variable_sandbox",
    "watch_breaks",
    "watch_call",
    "watch_calls",
    "watch_child",
    "watch_compile",
    "watch_costs",
    "watch_cures",
    "watch_frames",
    "watch_guard_sets",
    "watch_hooked",
    "watch_inductor",
    "watch_mutations",
    "watch_names",
    "watch_ops",
    "watch_optimisation",
    "watch_race",
    "watch_recompiles",
    "watch_recorders",
    "watch_rewriting",
    "watch_routes",
    "watch_specialising",
    "watch_stack",
    "watch_tracers",
    "watch_traces",
    "watch_variables",
    "would_trace",
]


@whole
def show_names(*asked: str) -> Exhibit:
    """Draw what the caller's names refer to: one box per name, one per object.

    NameError if the caller has no such name.
    """
    caller = sys._getframe(2)  # past `whole`
    space = {**caller.f_globals, **caller.f_locals}
    return Exhibit(name_graph.names_graph(space, asked, "Names and what they refer to"), diagram)


@whole
def watch_names(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its lines: its names and objects after each.

    TypeError if `fn` is no Python function.
    """
    return Exhibit(name_timeline.names_timeline(fn, *args, **kwargs), stepper)


@whole
def show_bindings(obj) -> Exhibit:
    """List every place in this process that holds `obj`, and which of them a module scan finds."""
    return Exhibit(search.bindings(obj), table)


@whole
def show_binding_map(obj) -> Exhibit:
    """Draw every place that holds `obj` as an arrow to it."""
    return Exhibit(search.binding_graph(obj), diagram)


@whole
def watch_routes(routes, judge, interventions) -> Exhibit:
    """Run every route under every intervention and set the judge's words side by side.

    `routes`: name -> callable without arguments. `judge(route)`: a word, such as old or new.
    `interventions`: heading -> a callable that returns a context manager.
    """
    return Exhibit(rebind.watch_routes(routes, judge, interventions), ledger)


@whole
def watch_traces(fn, **options) -> LiveExhibit:
    """Return `fn`, to be called as before, with a ledger of its calls: hit or trace, and why.

    A plain function becomes `tf.function(fn, **options)` first. The counts of a tf.function are
    the same with and without.
    """
    return LiveExhibit(traces.watch(fn, **options), ledger)


@whole
def watch_mutations(cases, ways=None) -> Exhibit:
    """Run functions that change their arguments: who raises, and what the caller's objects are.

    `cases`: name -> a function, or (function, *arguments), of which each run gets fresh copies.
    `ways`: heading -> what makes a callable of a function; by default as it is, and `tf.function`.
    """
    return Exhibit(mutations.mutations_ledger(cases, ways), ledger)


@whole
def watch_costs(unit, actions, unit_name: str = "runs of the unit") -> Exhibit:
    """Time actions (name -> callable) against `unit` in one run; `.model.ratio(name)` tells.

    What one of them raises is raised. TypeError for what cannot be called.
    """
    return Exhibit(costs.costs_listing(unit, actions, unit_name), table)


@whole
def plot_ratios(title: str, ratios: dict[str, float]) -> bars.Plot:
    """Plot ratios by name as bars on a logarithmic scale.

    TypeError for what is no dict of str -> number, ValueError for a number that is not positive.
    """
    return bars.plot(title, ratios)


@whole
def show_graph(thing, *args, find: str = "", **kwargs) -> Exhibit:
    """Draw a TensorFlow graph: of a tf.function, a concrete function, a tf.Graph or a GraphDef.

    With arguments, a function is traced for them. `find` points out the nodes that have these
    words in their name or op, and keeps them out of the fold of a large graph.
    """
    asked = word(find, "find=")
    graph = tf_graphs.tf_graph(thing, *args, **kwargs)
    return Exhibit(graph.find(asked) if asked else graph, diagram)


@whole
def show_graph_steps(thing, *args, **kwargs) -> Exhibit:
    """List the nodes of a TensorFlow graph by step: what could run side by side."""
    return Exhibit(tf_graphs.tf_steps(thing, *args, **kwargs), table)


@whole
def show_graph_diff(before, after, title: str = "") -> Exhibit:
    """Say what became of every node of the graph `before`, told from it and `after` alone.

    Each is what `show_graph` takes without arguments, or an exhibit that it gave.
    """
    both = model_of(before), model_of(after)
    return Exhibit(tf_graphs.tf_diff(*both, title), graph_diff)


@whole
def watch_optimisation(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` as a graph, and say what Grappler made of each node."""
    return Exhibit(grappler.watch_grappler(fn, *args, **kwargs), graph_diff)


@whole
def show_autograph(fn) -> Exhibit:
    """Set a function's source beside what AutoGraph generates from it, line by line."""
    return Exhibit(autograph.autograph_side_by_side(fn), side_by_side)


@whole
def show_fx(graph, title: str = "", find: str = "") -> Exhibit:
    """Draw an FX graph: of a `torch.fx.GraphModule` or a `torch.fx.Graph`. TypeError for others.

    `find` points out the nodes that have these words in their name or call, and keeps them out of
    the fold of a large graph; LookupError if there is none.
    """
    return Exhibit(fx_graph.fx_graph(graph, title, find), diagram)


@whole
def show_table(title: str, *rows: dict) -> Exhibit:
    """Show rows of the same keys as a table; the keys of the first are the headings.

    Text, numbers and small containers of them are shown as they are, the rest in a few safe words.
    TypeError for a row that is no dict, ValueError for rows of other keys, or none.
    """
    return Exhibit(records.records_listing(title, rows), table)


@whole
def show_environment() -> Exhibit:
    """List what this course needs, what is installed, and what to do where something is missing."""
    return Exhibit(environment.environment_listing(), table)


@whole
def show_code(fn) -> Exhibit:
    """Show a code object's fields, its bytes beside its source, and the code objects inside it.

    TypeError for what has no code object, such as a function written in C.
    """
    return Exhibit(code_object.code_tree(fn), code_view)


@whole
def show_bytecode(
    fn, caches: bool = False, specialization: bool = False, start: int = 0
) -> Exhibit:
    """List a function's instructions with jumps as arrows, places in the source, stack depths.

    `caches` adds the inline cache entries, `adaptive` the names that run now; `start`: the first
    offset to list. TypeError as above, ValueError for bytes that cannot be decoded.
    """
    return Exhibit(bytecode.bytecode(fn, caches, specialization, start), bytecode_view)


@whole
def show_rosetta(name: str = "current") -> Exhibit:
    """Set one function's bytecode on Python 3.8, 3.11, 3.12, 3.13 beside the running one's.

    `name`: add, current, shout, total, ordered or guarded; ValueError for another.
    """
    return Exhibit(rosetta.rosetta(name), bytecode_view)


@whole
def watch_stack(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its instructions with the real value stack.

    TypeError if it has no bytecode to run, RuntimeError on a Python whose stack is not read.
    """
    return Exhibit(value_stack.stack_run(fn, *args, **kwargs), stack_view)


@whole
def watch_frames(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its calls and returns: all frames at each.

    TypeError if it is no Python function.
    """
    return Exhibit(frame_timeline.frames_timeline(fn, *args, **kwargs), stepper)


@whole
def show_frame(frame) -> Exhibit:
    """List every attribute of a frame. TypeError if it is none."""
    return Exhibit(frames.frame_listing(frame), table)


@whole
def show_frames(most: int = frames.MOST_FRAMES) -> Exhibit:
    """List the caller's frame and those below it, and which have a frame object yet.

    `most`: how many. ValueError for what is no such number.
    """
    return Exhibit(frames.frame_objects(sys._getframe(2), most), table)


@whole
def show_traceback(error: BaseException, start: int = 1) -> Exhibit:
    """List the frames that an exception's traceback keeps alive. TypeError if it is none.

    `start`: the place of the first to list, from 1.
    """
    return Exhibit(frames.traceback_listing(error, start), table)


@whole
def watch_specialising(
    fn, stages, times: int = specialization.TIMES, inside=None, changed: bool = False
) -> Exhibit:
    """Run a fresh copy of `fn`, and list what its instructions have become after each stage.

    `stages`: heading -> the arguments of its `times` calls, as a tuple. `inside`: heading -> what
    makes a context manager for the calls of that stage. `changed` leaves out what never changes.
    What `fn` raises is raised.
    """
    return Exhibit(specialization.specialising(fn, stages, times, inside, changed), table)


@whole
def watch_tracers(fn, *args) -> Exhibit:
    """Time `fn(*args)` under each kind of tracer, in calls without one; `.model.ratio(name)`.

    `fn` is called many times, so an iterator among `args` is refused: TypeError. What it raises is
    raised.
    """
    return Exhibit(tracer_costs.tracer_costs(fn, *args), table)


@whole
def show_guards(fn, find: str = "", as_table: bool = False) -> Exhibit:
    """Draw the guard tree of each cache entry that Dynamo keeps for `fn`.

    `find` points out what has these words; `as_table` lists the guards instead (those alone).
    LookupError if nothing was compiled, or nothing is found.
    """
    if switch(as_table, "as_table"):
        return Exhibit(guards.guard_table(fn, find), table)
    return Exhibit(guards.guard_graph(fn, find), diagram)


@whole
def watch_recompiles(fn, **options) -> LiveExhibit:
    """Return `fn`, to be called as before, with a ledger of its calls: hit or recompile, and why.

    A plain function becomes `torch.compile(fn, backend="eager", **options)` first.
    """
    return LiveExhibit(recompiles.watch(fn, **options), ledger)


@whole
def watch_guard_sets(fn, args, **guard_sets) -> Exhibit:
    """Search the calls next to `fn(*args)` for one that a guard set accepts and another refuses.

    `guard_sets`: name -> a function of the arguments that says whether it accepts them; without
    any, the mini-Dynamo's guards. Dynamo's own are always asked.
    """
    return Exhibit(guard_sets_search(fn, args, **guard_sets), ledger)


@whole
def watch_inductor(fn, *args, run: bool = False) -> Exhibit:
    """Set the C++ that Inductor writes for `fn(*args)` beside the source, if told to `run`.

    It prints a line as each stage begins. Without `run`, or a C++ compiler, it only says so.
    """
    return Exhibit(inductor.inductor_side_by_side(fn, *args, run=run), side_by_side)


@whole
def watch_recorders() -> Exhibit:
    """Run programs twice through Python, tf.function, Dynamo and fx; judge the second call.

    TensorFlow runs in a child interpreter; RuntimeError if that dies.
    """
    return Exhibit(recorders.recordings(), ledger)


@whole
def show_recording(program: str) -> Exhibit:
    """List what each recorder of `watch_recorders` wrote down of one of its programs.

    KeyError lists the programs.
    """
    return Exhibit(recorders.recorded_listing(program), table)


@whole
def watch_compile(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under torch.compile and step through Dynamo's translation of it.

    `fn`: a Python function, a method or an nn.Module; TypeError for others, RuntimeError, in one
    sentence, where torch cannot be watched. What Dynamo had compiled before is dropped.
    """
    return Exhibit(timeline.dynamo_run(fn, *args, **kwargs), dynamo_view)


@whole
def watch_breaks(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under torch.compile and list its graph breaks: where, and why.

    `.model.graphs` says how many graphs there were. Errors as `watch_compile`.
    """
    return Exhibit(graph_breaks.breaks_listing(fn, *args, **kwargs), table)


@whole
def watch_cures(cases, *args) -> Exhibit:
    """Compile each case and its cure for the same arguments: graphs before, graphs after, why.

    `cases`: name -> (function, cured function). A result that is not the same is told, too.
    """
    return Exhibit(graph_breaks.cures_ledger(cases, *args), ledger)


@whole
def watch_rewriting(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under torch.compile and list the bytecode Dynamo made for it.

    Errors as `watch_compile`; ValueError if Dynamo made none.
    """
    return Exhibit(dynamo_code.rewritten(fn, *args, **kwargs), bytecode_view)


@whole
def show_c_api() -> Exhibit:
    """List TensorFlow's shared libraries and the C functions that each file exports."""
    return Exhibit(c_api.c_libraries(), table)


@whole
def show_then_and_now() -> Exhibit:
    """Set what Python imported to reach C in 2019 beside what is there now, looked up live."""
    return Exhibit(c_api.then_and_now(), table)


@whole
def startup_switches() -> Switches:
    """Return start-up switches, each tried in a fresh interpreter, to be tried again there."""
    return Switches(startup.startup_switches(), startup.startup)


@whole
def watch_call(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` twice, and show the second run's calls into a framework as a tree.

    What it raises is told, not raised. TypeError if `fn` cannot be called.
    """
    return Exhibit(calls.call_tree(fn, *args, **kwargs), call_tree_view)


@whole
def watch_calls(cases) -> Exhibit:
    """Run every case (name -> function, or (function, *arguments)) and compare their landmarks."""
    return Exhibit(call_diff.calls_ledger(cases), ledger)


@whole
def show_call_diff(left, right) -> Exhibit:
    """Set two trees of `watch_call` side by side, line against line."""
    both = model_of(left), model_of(right)
    return Exhibit(call_diff.calls_diff(*both), side_by_side)


@whole
def watch_ops(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and list every op that TensorFlow, or PyTorch, runs for it.

    Both frameworks report the ops of the calling thread alone: what `fn` has other threads run
    is not listed.
    What it raises is told, not raised. TypeError if `fn` cannot be called.
    """
    return Exhibit(op_log.op_log(fn, *args, **kwargs), table)


@whole
def show_tape(title: str, **logs) -> Exhibit:
    """Draw the ops of a log of `watch_ops` as a graph; several logs stand in one picture by name.

    TypeError if there is none, or one is no log.
    """
    found = {name: op_log.log_of(log) for name, log in logs.items()}
    return Exhibit(op_log.ops_graph(found, title), figures)


@whole
def show_grad_fn(tensor, find: str = "") -> Exhibit:
    """Draw what a tensor of torch knows of its past. ValueError if it has no `grad_fn`.

    `find` points out the nodes with these words, and keeps them out of the fold of a long past.
    """
    return Exhibit(grad_fn.grad_fn_graph(tensor, find), diagram)


@whole
def watch_variables(programs, runs: int = 100) -> Exhibit:
    """Run programs with a RefVariable and with a ResourceVariable, and compare what they saw.

    `programs`: name -> a function of a variable (0 at first) and the number 1, both tensors of a
    graph, that returns what is to be fetched.
    """
    return Exhibit(variables.variables_ledger(programs, runs), ledger)


@whole
def watch_race(program, runs: int = 500) -> Exhibit:
    """Run one such program often, and count what it saw with each kind of variable."""
    return Exhibit(variables.race_histogram(program, runs), table)


@whole
def watch_child(*what, title: str = "", imports: str | None = None) -> Exhibit:
    """Run functions without arguments, or source, each in a child interpreter of its own.

    There `tf` is TensorFlow, and no op has run yet, unless `imports` is other source. TypeError
    for what is neither; ValueError for a function whose source is not at hand.
    """
    return Exhibit(child.watch_child(*what, title=title, imports=imports), transcript)


@whole
def show_evaluator(fn) -> Exhibit:
    """Draw the way from a call of `fn` to the function that evaluates its frames at this moment.

    TypeError if it is no Python function.
    """
    return Exhibit(frame_evaluator.evaluator_graph(fn), diagram)


@whole
def watch_hooked(fn, *args, only=None, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` under the frame hook and list the frames that it was told of.

    Watched are the functions of its module, or those of `only`; `.model.count(name)` counts.
    TypeError if `fn` is no Python function, RuntimeError where there is no hook.
    """
    return Exhibit(hooked_frames.hooked_listing(fn, args, kwargs, only), table)


@whole
def show_job(job, part: str = "") -> Exhibit:
    """Draw the op list of a `flow.global_function`: forward, backward and update, as they run.

    `part`: forward, backward or update, for one pass alone. The job is written down if it was not
    yet; OpError if that fails, TypeError for what is no job.
    """
    return Exhibit(oneflow_jobs.job_graph(job, part), job_view)


@whole
def show_registry(*jobs) -> Exhibit:
    """Draw the op types that files have registered, with kernels, gradient rules, and gaps.

    The ops of the given jobs stand before their types.
    """
    return Exhibit(registry.registry_graph(*jobs), diagram)
