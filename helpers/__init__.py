"""The front door: what a notebook calls. `show_…` looks at a thing at rest, `watch_…` runs it.

The wheel has the same code under the name `whoruns`, less the rooms `study` and `course`.
Nothing behind the door is imported before it is asked for (PEP 562), and nothing is changed. Only
in a kernel of the course is more switched on: course/kernel.py says what.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from os.path import isdir, join

__version__ = "0.1.0"
# What is asked for most at work. Every other verb is an attribute, too: `dir` lists them.
__all__ = """
    rebind_everywhere show_autograph show_bindings show_bytecode show_fx show_grad_fn show_graph
    show_guards show_interceptions show_journey show_names show_traceback watch_breaks watch_call
    watch_compile watch_fixes watch_in_child watch_inductor watch_mutations watch_names watch_ops
    watch_recompiles watch_stack watch_traces watching_breaks watching_ops watching_recompiles
    watching_traces would_trace
""".split()  # noqa: SIM905

_NAMES = {
    "study": "check expect predict show_predictions",
    "study.learner_progress": "share_progress show_class show_progress stop_sharing",
    "study.words": "show_word",
    "study.op_folder": "op_folder",
    "study.chapter_2.signature_sandbox": "signature_sandbox",
    "study.chapter_3": "show_opcode_coverage",
    "study.chapter_5": """
        broken_ops compare_kernel_checks failing_stage fit_around gradient relu_files relu_so_far
        run_op run_with_gradient train_through without_each_piece
    """,
    "study.chapter_6.op_cases": "Case agrees cases py_execute raised",
    "capture.references.rebind": "code_swapped rebind_everywhere",
    "capture.processes.child": "call_in_child",
    "capture.frameworks.call_interceptions": "op_routes",
    "capture.tensorflow.trace_ledger": "would_trace",
    "capture.torch.guard_sets": "guard_function",
    "verbs.composed": """
        plot_curve plot_ratios show_evaluator show_frames show_graph show_guards show_names
        startup_switches
    """,
}
VERBS = {  # verb -> the capture's function, the view, the station of the spine at which it looks
    "show_binding_map": ("references.holder_search.binding_graph", "diagram.graph_view.graph", 1),
    "show_bindings": ("references.holder_search.bindings", "table_view.table", 1),
    "watch_callers": ("references.routes.watch_callers", "table_view.dots", 1),
    "watch_names": ("references.name_timeline.names_timeline", "widgets.stage.timeline", 1),
    "watch_routes": ("references.routes.watch_routes", "widgets.routes_view.routes", 0),
    "show_graph_steps": ("tensorflow.tf_graph.tf_steps", "table_view.lanes", 2),
    "show_graph_diff": ("tensorflow.rewriting.tf_diff", "diagram.graph_view.graph_diff", 2),
    "show_autograph": (
        "tensorflow.rewriting.autograph_side_by_side",
        "source_views.side_by_side",
        2,
    ),
    "watch_mutations": ("tensorflow.mutations.mutations_ledger", "table_view.ledger", 2),
    "watch_optimisation": (
        "tensorflow.rewriting.watch_grappler",
        "diagram.graph_view.graph_diff",
        2,
    ),
    "watch_traces": ("tensorflow.trace_ledger.watch", "table_view.ledger", 2),
    "watching_traces": ("tensorflow.traces_in_block.TracesSeen", "table_view.ledger", 2),
    "show_bytecode": ("cpython.bytecode.bytecode", "instruction_tables.bytecode", 3),
    "show_code": ("cpython.bytecode.code_tree", "instruction_tables.code", 3),
    "show_frame": ("cpython.frame.frame_listing", "table_view.table", 3),
    "show_rosetta": ("cpython.rosetta.rosetta", "instruction_tables.bytecode", 3),
    "show_traceback": ("cpython.frame.traceback_listing", "table_view.table", 3),
    "watch_frames": ("cpython.frame.frames_timeline", "widgets.stage.timeline", 3),
    "watch_specialising": ("cpython.bytecode.specialising", "table_view.table", 3),
    "watch_stack": ("cpython.stack_run.stack_run", "instruction_tables.stack", 3),
    "watch_tracers": ("cpython.costs.tracer_costs", "table_view.table", 3),
    "show_compiled": ("torch.recompiles.compiled_graph", "diagram.graph_view.graph", 4),
    "show_fx": ("torch.fx_graph.fx_graph", "diagram.graph_view.graph", 4),
    "show_grad_fn": ("torch.fx_graph.grad_fn_graph", "diagram.graph_view.graph", 4),
    "watch_breaks": ("torch.dynamo_run.breaks_listing", "table_view.table", 4),
    "watch_compile": ("torch.dynamo_run.dynamo_run", "instruction_tables.dynamo", 4),
    "watch_fixes": ("torch.dynamo_run.cures_ledger", "table_view.ledger", 4),
    "watch_guard_sets": ("torch.guard_sets.agreement", "table_view.ledger", 4),
    "watch_hooked": ("cpython.hooked_frames.hooked_listing", "table_view.table", 4),
    "watch_inductor": ("torch.recompiles.inductor_side_by_side", "source_views.side_by_side", 4),
    "watch_recompiles": ("torch.recompiles.watch", "table_view.ledger", 4),
    "watching_breaks": ("torch.dynamo_run.BreaksSeen", "table_view.table", 4),
    "watching_recompiles": ("torch.recompiles.CompilesSeen", "table_view.ledger", 4),
    "watch_rewriting": ("torch.dynamo_run.rewritten", "instruction_tables.bytecode", 4),
    "show_job": ("oneflow.oneflow_records.job_graph", "diagram.job_view.job", 5),
    "show_registry": ("oneflow.oneflow_records.registry_graph", "diagram.graph_view.graph", 5),
    "show_c_api": ("tensorflow.c_libraries.c_libraries", "table_view.table", 6),
    "show_imports_then_and_now": ("tensorflow.c_libraries.then_and_now", "table_view.table", 6),
    "show_call_diff": ("frameworks.call_recorder.calls_diff", "source_views.side_by_side", 6),
    "show_op_graph": ("frameworks.executed_ops.ops_graph", "diagram.graph_view.figures", 6),
    "watch_call": ("frameworks.call_recorder.call_tree", "call_view.call_tree", 6),
    "watch_calls": ("frameworks.call_recorder.calls_ledger", "table_view.ledger", 6),
    "watch_ops": ("frameworks.executed_ops.op_log", "table_view.table", 6),
    "watching_ops": ("frameworks.executed_ops.OpsSeen", "table_view.table", 6),
    "watch_race": ("tensorflow.variable_outcomes.race_histogram", "table_view.table", 6),
    "watch_variables": ("tensorflow.variable_outcomes.variables_ledger", "table_view.ledger", 6),
    "show_environment": ("environment.environment_listing", "table_view.table", 0),
    "show_interceptions": (
        "frameworks.call_interceptions.interceptions",
        "spine_view.interceptions",
        0,
    ),
    "show_journey": ("frameworks.journey_recorder.journey", "spine_view.journey", 0),
    "show_table": ("rows.records_listing", "table_view.table", 0),
    "watch_costs": ("cpython.costs.costs_listing", "table_view.table", 0),
    "watch_in_child": ("processes.child.watch_in_child", "source_views.transcript", 0),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
_HOMES |= dict.fromkeys(VERBS, "verbs")

INSTRUMENTS = sorted(name for name, home in _HOMES.items() if not home.startswith("study"))
_HAS_COURSE = isdir(join(__path__[0], "course"))
_ABSENT = set() if _HAS_COURSE else _HOMES.keys() - INSTRUMENTS

_MODULES = sys.modules

if _HAS_COURSE and "IPython" in sys.modules:
    import_module(".course.kernel", __name__).switch_on()


def __getattr__(name: str):
    """Return what the front door offers under this name; its module is imported now."""
    if name not in _HOMES or name in _ABSENT:
        try:
            raise _not_offered(name, sys._getframe(1))
        except (AttributeError, ImportError) as error:
            error.__traceback__ = None
            raise  # this form adds no line of the frame, so the reader sees none but their own
    held, sys.modules = sys.modules, _MODULES  # a cell may have put another in its place
    try:
        home = import_module(f".{_HOMES[name]}", __name__)
    finally:
        sys.modules = held
    found = globals()[name] = getattr(home, name)
    return found


def _not_offered(name: str, asker) -> Exception:
    """Return the error for a name that is not here: what is asked for has it now, or what is near.

    `from helpers import …` takes an AttributeError for "look for a module of that name", and has no
    words for it afterwards. So where it asks, and there is no such module, the error is another.
    """
    if name.startswith("_"):
        return AttributeError(f"module {__name__!r} has no attribute {name!r}")
    former_names = import_module(".safety.former_names", __name__)
    if name in _ABSENT:
        words = f"{name} is in the notebooks' course; {__name__} has only instruments"
    else:
        words = former_names.sentence_of_name(name, _HOMES.keys() - _ABSENT, __name__)
    if not words:
        return AttributeError(f"module {__name__!r} has no attribute {name!r}")
    by_import = asker.f_globals.get("__name__") == "importlib._bootstrap"
    if by_import and not find_spec(f"{__name__}.{name}"):
        return former_names.NotImportable(words)
    return former_names.NotOffered(words)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES} - _ABSENT)
