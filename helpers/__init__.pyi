"""The public names. `lazy_loader` reads them here, as editors and mypy do.

Nothing is imported before it is asked for. The stub of the wheel has no names of `study`.
"""

__version__: str

from .study import (
    check as check,
    expect as expect,
    predict as predict,
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
    compare_kernel_checks as compare_kernel_checks,
    failing_stage as failing_stage,
    fit_around as fit_around,
    gradient as gradient,
    relu_files as relu_files,
    relu_so_far as relu_so_far,
    run_op as run_op,
    run_with_gradient as run_with_gradient,
    train_through as train_through,
    without_each_piece as without_each_piece,
)
from .study.chapter_6.op_cases import (
    Case as Case,
    agrees as agrees,
    cases as cases,
    py_execute as py_execute,
    raised as raised,
)
from .study.learner_progress import (
    share_progress as share_progress,
    show_class as show_class,
    show_progress as show_progress,
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
    show_call_diff as show_call_diff,
    show_interceptions as show_interceptions,
    show_journey as show_journey,
    show_op_graph as show_op_graph,
    watch_call as watch_call,
    watch_calls as watch_calls,
    watch_ops as watch_ops,
    watching_ops as watching_ops,
)
from .verbs.oneflow import (
    show_job as show_job,
    show_registry as show_registry,
)
from .verbs.python import (
    call_in_child as call_in_child,
    plot_curve as plot_curve,
    plot_ratios as plot_ratios,
    show_bytecode as show_bytecode,
    show_code as show_code,
    show_environment as show_environment,
    show_frame as show_frame,
    show_frames as show_frames,
    show_rosetta as show_rosetta,
    show_table as show_table,
    show_traceback as show_traceback,
    watch_costs as watch_costs,
    watch_frames as watch_frames,
    watch_in_child as watch_in_child,
    watch_specialising as watch_specialising,
    watch_stack as watch_stack,
    watch_tracers as watch_tracers,
)
from .verbs.references import (
    code_swapped as code_swapped,
    rebind_everywhere as rebind_everywhere,
    show_binding_map as show_binding_map,
    show_bindings as show_bindings,
    show_names as show_names,
    watch_callers as watch_callers,
    watch_names as watch_names,
    watch_routes as watch_routes,
)
from .verbs.tensorflow import (
    show_autograph as show_autograph,
    show_c_api as show_c_api,
    show_graph as show_graph,
    show_graph_diff as show_graph_diff,
    show_graph_steps as show_graph_steps,
    show_imports_then_and_now as show_imports_then_and_now,
    startup_switches as startup_switches,
    watch_mutations as watch_mutations,
    watch_optimisation as watch_optimisation,
    watch_race as watch_race,
    watch_traces as watch_traces,
    watch_variables as watch_variables,
    watching_traces as watching_traces,
    would_trace as would_trace,
)
from .verbs.torch import (
    guard_function as guard_function,
    show_compiled as show_compiled,
    show_evaluator as show_evaluator,
    show_fx as show_fx,
    show_grad_fn as show_grad_fn,
    show_guards as show_guards,
    watch_breaks as watch_breaks,
    watch_compile as watch_compile,
    watch_fixes as watch_fixes,
    watch_guard_sets as watch_guard_sets,
    watch_hooked as watch_hooked,
    watch_inductor as watch_inductor,
    watch_recompiles as watch_recompiles,
    watch_rewriting as watch_rewriting,
    watching_breaks as watching_breaks,
    watching_recompiles as watching_recompiles,
)
