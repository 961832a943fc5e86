"""The front door: what a notebook calls. `show_…` looks at a thing at rest, `watch_…` runs it.

Nothing behind it is imported before it is asked for (PEP 562): a kernel pays for what it uses.
A kernel is told at once how to say what is missing, and that a cell takes long; a program is not.
"""

import os
import sys
from importlib import import_module

# TensorFlow reads both when it is imported: no log lines, and the same kernels on every CPU.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

_NAMES = {
    "study": "check expect predict show_predictions",
    "study.learner_progress": "share_progress show_class show_progress stop_sharing",
    "study.words": "show_word",
    "study.op_folder": "op_folder",
    "study.chapter_2.signature_sandbox": "signature_sandbox",
    "study.chapter_6.variable_sandbox": "variable_sandbox",
    "study.chapter_3": "show_opcode_coverage",
    "study.chapter_5": """
        broken_ops compare_kernel_checks failing_stage gradient relu_files relu_so_far run_op
        run_with_gradient sigmoid_in_cpp train_through without_each_piece
    """,
    "study.chapter_6.op_cases": "Case agrees cases py_execute raised",
    "capture.references.rebind": "code_swapped rebind_everywhere",
    "capture.processes.child": "call_in_child",
    "capture.frameworks.call_interceptions": "op_routes",
    "capture.tensorflow.trace_ledger": "would_trace",
    "capture.torch.guard_program": "guard_function",
    "verbs.references": "show_binding_map show_bindings show_names watch_names watch_callers",
    "verbs.routes": "watch_routes",
    "verbs.cpython": """
        show_bytecode show_code show_frame show_frames show_rosetta show_traceback
        watch_frames watch_specialising watch_stack watch_tracers
    """,
    "verbs.pep523": "show_evaluator watch_hooked",
    "verbs.tensorflow": """
        show_autograph show_c_api show_graph show_graph_diff show_graph_steps
        show_imports_then_and_now startup_switches watch_mutations watch_optimisation watch_race
        watch_traces watch_variables
    """,
    "verbs.torch": """
        show_compiled show_fx show_grad_fn show_guards watch_breaks watch_compile watch_fixes
        watch_guard_sets watch_inductor watch_recompiles watch_rewriting
    """,
    "verbs.calls": "show_call_diff watch_call watch_calls",
    "verbs.journey": "show_journey",
    "verbs.ops": "show_op_graph watch_ops",
    "verbs.recorders": "show_recording watch_recorders",
    "verbs.oneflow": "show_job show_op_files show_registry",
    "verbs.costs": "plot_curve plot_ratios watch_costs",
    "verbs.processes": "watch_in_child",
    "verbs.interceptions": "show_interceptions",
    "verbs.tables": "show_environment show_nested show_table",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

_MODULES = sys.modules

__all__ = sorted(_HOMES)

if "IPython" in sys.modules:
    for home in ("safety.missing_parts", "view.widgets.progress_line"):
        import_module(f"helpers.{home}").switch_on()


def __getattr__(name: str):
    """Return what the front door offers under this name; its module is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module 'helpers' has no attribute {name!r}")
    held, sys.modules = sys.modules, _MODULES  # a cell may have put another in its place
    try:
        home = import_module(f"helpers.{_HOMES[name]}")
    finally:
        sys.modules = held
    found = globals()[name] = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
