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
    "verbs.composed": """
        plot_curve plot_ratios show_call_diff show_evaluator show_frames show_graph show_graph_diff
        show_guards show_journey show_names show_nested show_op_graph show_table startup_switches
        watch_callers watch_hooked watch_inductor
    """,
    "verbs": """
        show_autograph show_binding_map show_bindings show_bytecode show_c_api show_code
        show_compiled show_environment show_frame show_fx show_grad_fn show_graph_steps
        show_imports_then_and_now show_interceptions show_job show_op_files show_recording
        show_registry show_rosetta show_traceback watch_breaks watch_call watch_calls watch_compile
        watch_costs watch_fixes watch_frames watch_guard_sets watch_in_child watch_mutations
        watch_names watch_ops watch_optimisation watch_race watch_recompiles watch_recorders
        watch_rewriting watch_routes watch_specialising watch_stack watch_traces watch_tracers
        watch_variables
    """,
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
