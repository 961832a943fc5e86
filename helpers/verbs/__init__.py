"""The verbs: what a capture records, in a view. `helpers` makes one when it is asked for.

A verb's signature and words are those of its capture; what does more stands in `composed`.
"""

import functools
import inspect
from importlib import import_module

from helpers.exhibit import Exhibit, LiveExhibit, at
from helpers.safety.restoring import preserves_interpreter_state

VERBS = {  # verb -> the capture's function, the view, the station of the spine at which it looks
    "show_binding_map": ("references.holder_search.binding_graph", "diagram.graph_view.graph", 1),
    "show_bindings": ("references.holder_search.bindings", "table_view.table", 1),
    "watch_names": ("references.name_timeline.names_timeline", "widgets.stage.timeline", 1),
    "watch_routes": ("references.routes.watch_routes", "widgets.routes_view.routes", 0),
    "show_graph_steps": ("tensorflow.tf_graph.tf_steps", "table_view.lanes", 2),
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
    "watch_fixes": ("torch.graph_breaks.cures_ledger", "table_view.ledger", 4),
    "watch_guard_sets": ("torch.guard_sets.agreement", "table_view.ledger", 4),
    "watch_recompiles": ("torch.recompiles.watch", "table_view.ledger", 4),
    "watch_rewriting": ("torch.dynamo_run.rewritten", "instruction_tables.bytecode", 4),
    "show_job": ("oneflow.oneflow_records.job_graph", "diagram.job_view.job", 5),
    "show_op_files": ("oneflow.oneflow_records.op_files", "source_views.files", 5),
    "show_registry": ("oneflow.oneflow_records.registry_graph", "diagram.graph_view.graph", 5),
    "show_c_api": ("tensorflow.c_libraries.c_libraries", "table_view.table", 6),
    "show_imports_then_and_now": ("tensorflow.c_libraries.then_and_now", "table_view.table", 6),
    "watch_call": ("frameworks.call_recorder.call_tree", "call_view.call_tree", 6),
    "watch_calls": ("frameworks.call_recorder.calls_ledger", "table_view.ledger", 6),
    "watch_ops": ("frameworks.executed_ops.op_log", "table_view.table", 6),
    "watch_race": ("tensorflow.variable_outcomes.race_histogram", "table_view.table", 6),
    "watch_variables": ("tensorflow.variable_outcomes.variables_ledger", "table_view.ledger", 6),
    "show_environment": ("environment.environment_listing", "table_view.table", 0),
    "show_interceptions": ("frameworks.call_interceptions.interceptions", "table_view.table", 0),
    "show_recording": ("frameworks.program_recorders.recorded_listing", "table_view.table", 0),
    "watch_costs": ("cpython.costs.costs_listing", "table_view.table", 0),
    "watch_in_child": ("processes.child.watch_in_child", "source_views.transcript", 0),
    "watch_recorders": ("frameworks.program_recorders.recordings", "table_view.ledger", 0),
}
LIVE = ("watch_recompiles", "watch_traces")  # they return what is to be called


def __getattr__(name: str):
    """Return the verb of this name; its capture and its view are imported now."""
    if name not in VERBS:
        raise AttributeError(f"module 'helpers.verbs' has no attribute {name!r}")
    capture, view, station = VERBS[name]
    record, drawn = _load(f"capture.{capture}"), _load(f"view.{view}")
    kind = at(station, LiveExhibit if name in LIVE else Exhibit)
    signature = inspect.signature(record)

    def verb(*args, **kwargs):
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        return kind(record(*args, **kwargs), drawn)

    functools.update_wrapper(verb, record)
    verb.__name__ = verb.__qualname__ = name
    found = globals()[name] = preserves_interpreter_state(verb)
    return found


def _load(path: str):
    module, _, name = f"helpers.{path}".rpartition(".")
    return getattr(import_module(module), name)
