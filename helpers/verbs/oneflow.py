"""The OneFlow-style kernel: jobs and registries."""

from helpers.capture.oneflow import jobs as oneflow_jobs
from helpers.capture.oneflow import registry
from helpers.exhibit import at
from helpers.safety.interpreter_state import whole
from helpers.view.diagram import graph as diagram
from helpers.view.diagram import job as job_view

Exhibit = at(5)


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
