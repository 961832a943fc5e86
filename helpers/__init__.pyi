"""The public names. `lazy_loader` reads them here, as editors and mypy do.

Nothing is imported before it is asked for. The stub of the wheel has no names of `study`.
"""

__version__: str

from .study import (
    check as check,
)
from .study import (
    expect as expect,
)
from .study import (
    predict as predict,
)
from .study import (
    show_predictions as show_predictions,
)
from .study.chapter_2.signature_sandbox import (
    signature_sandbox as signature_sandbox,
)
from .study.chapter_3 import (
    show_opcode_coverage as show_opcode_coverage,
)
from .study.chapter_5 import (
    broken_ops as broken_ops,
)
from .study.chapter_5 import (
    compare_kernel_checks as compare_kernel_checks,
)
from .study.chapter_5 import (
    failing_stage as failing_stage,
)
from .study.chapter_5 import (
    fit_around as fit_around,
)
from .study.chapter_5 import (
    gradient as gradient,
)
from .study.chapter_5 import (
    relu_files as relu_files,
)
from .study.chapter_5 import (
    relu_so_far as relu_so_far,
)
from .study.chapter_5 import (
    run_op as run_op,
)
from .study.chapter_5 import (
    run_with_gradient as run_with_gradient,
)
from .study.chapter_5 import (
    train_through as train_through,
)
from .study.chapter_5 import (
    without_each_piece as without_each_piece,
)
from .study.chapter_6.op_cases import (
    Case as Case,
)
from .study.chapter_6.op_cases import (
    agrees as agrees,
)
from .study.chapter_6.op_cases import (
    cases as cases,
)
from .study.chapter_6.op_cases import (
    py_execute as py_execute,
)
from .study.chapter_6.op_cases import (
    raised as raised,
)
from .study.learner_progress import (
    share_progress as share_progress,
)
from .study.learner_progress import (
    show_class as show_class,
)
from .study.learner_progress import (
    show_progress as show_progress,
)
from .study.learner_progress import (
    stop_sharing as stop_sharing,
)
from .study.op_folder import (
    op_folder as op_folder,
)
from .study.words import (
    show_word as show_word,
)
from .verbs.frameworks import (
    op_routes as op_routes,
)
from .verbs.frameworks import (
    show_call_diff as show_call_diff,
)
from .verbs.frameworks import (
    show_interceptions as show_interceptions,
)
from .verbs.frameworks import (
    show_journey as show_journey,
)
from .verbs.frameworks import (
    show_op_graph as show_op_graph,
)
from .verbs.frameworks import (
    watch_call as watch_call,
)
from .verbs.frameworks import (
    watch_calls as watch_calls,
)
from .verbs.frameworks import (
    watch_ops as watch_ops,
)
from .verbs.frameworks import (
    watching_ops as watching_ops,
)
from .verbs.oneflow import (
    show_job as show_job,
)
from .verbs.oneflow import (
    show_registry as show_registry,
)
from .verbs.python import (
    call_in_child as call_in_child,
)
from .verbs.python import (
    plot_curve as plot_curve,
)
from .verbs.python import (
    plot_ratios as plot_ratios,
)
from .verbs.python import (
    show_bytecode as show_bytecode,
)
from .verbs.python import (
    show_code as show_code,
)
from .verbs.python import (
    show_environment as show_environment,
)
from .verbs.python import (
    show_frame as show_frame,
)
from .verbs.python import (
    show_frames as show_frames,
)
from .verbs.python import (
    show_rosetta as show_rosetta,
)
from .verbs.python import (
    show_table as show_table,
)
from .verbs.python import (
    show_traceback as show_traceback,
)
from .verbs.python import (
    watch_costs as watch_costs,
)
from .verbs.python import (
    watch_frames as watch_frames,
)
from .verbs.python import (
    watch_in_child as watch_in_child,
)
from .verbs.python import (
    watch_specialising as watch_specialising,
)
from .verbs.python import (
    watch_stack as watch_stack,
)
from .verbs.python import (
    watch_tracers as watch_tracers,
)
from .verbs.references import (
    code_swapped as code_swapped,
)
from .verbs.references import (
    rebind_everywhere as rebind_everywhere,
)
from .verbs.references import (
    show_binding_map as show_binding_map,
)
from .verbs.references import (
    show_bindings as show_bindings,
)
from .verbs.references import (
    show_names as show_names,
)
from .verbs.references import (
    watch_callers as watch_callers,
)
from .verbs.references import (
    watch_names as watch_names,
)
from .verbs.references import (
    watch_routes as watch_routes,
)
from .verbs.tensorflow import (
    show_autograph as show_autograph,
)
from .verbs.tensorflow import (
    show_c_api as show_c_api,
)
from .verbs.tensorflow import (
    show_graph as show_graph,
)
from .verbs.tensorflow import (
    show_graph_diff as show_graph_diff,
)
from .verbs.tensorflow import (
    show_graph_steps as show_graph_steps,
)
from .verbs.tensorflow import (
    show_imports_then_and_now as show_imports_then_and_now,
)
from .verbs.tensorflow import (
    startup_switches as startup_switches,
)
from .verbs.tensorflow import (
    watch_mutations as watch_mutations,
)
from .verbs.tensorflow import (
    watch_optimisation as watch_optimisation,
)
from .verbs.tensorflow import (
    watch_race as watch_race,
)
from .verbs.tensorflow import (
    watch_traces as watch_traces,
)
from .verbs.tensorflow import (
    watch_variables as watch_variables,
)
from .verbs.tensorflow import (
    watching_traces as watching_traces,
)
from .verbs.tensorflow import (
    would_trace as would_trace,
)
from .verbs.torch import (
    guard_function as guard_function,
)
from .verbs.torch import (
    show_compiled as show_compiled,
)
from .verbs.torch import (
    show_evaluator as show_evaluator,
)
from .verbs.torch import (
    show_fx as show_fx,
)
from .verbs.torch import (
    show_grad_fn as show_grad_fn,
)
from .verbs.torch import (
    show_guards as show_guards,
)
from .verbs.torch import (
    watch_breaks as watch_breaks,
)
from .verbs.torch import (
    watch_compile as watch_compile,
)
from .verbs.torch import (
    watch_fixes as watch_fixes,
)
from .verbs.torch import (
    watch_guard_sets as watch_guard_sets,
)
from .verbs.torch import (
    watch_hooked as watch_hooked,
)
from .verbs.torch import (
    watch_inductor as watch_inductor,
)
from .verbs.torch import (
    watch_recompiles as watch_recompiles,
)
from .verbs.torch import (
    watch_rewriting as watch_rewriting,
)
from .verbs.torch import (
    watching_breaks as watching_breaks,
)
from .verbs.torch import (
    watching_recompiles as watching_recompiles,
)
