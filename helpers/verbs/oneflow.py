"""The OneFlow-style kernel: jobs, registries and the files of an op."""

from helpers.capture.oneflow import oneflow_records
from helpers.exhibit import at
from helpers.safety.restoring import whole
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.diagram.job_view import job as job_view
from helpers.view.source_views import files as files_view

Exhibit = at(5)


@whole
def show_job(job, part: str = "") -> Exhibit:
    """Draw the op list of a `flow.global_function`: forward, backward and update, as they run.

    `part`: forward, backward or update, for one pass alone. The job is written down if it was not
    yet; OpError if that fails, TypeError for what is no job.
    """
    return Exhibit(oneflow_records.job_graph(job, part), job_view)


@whole
def show_registry(*jobs) -> Exhibit:
    """Draw the op types that files have registered, with kernels, gradient rules, and gaps.

    The ops of the given jobs stand before their types.
    """
    return Exhibit(oneflow_records.registry_graph(*jobs), diagram)


@whole
def show_op_files(files: dict[str, str], before: dict[str, str] | None = None) -> Exhibit:
    """Show an op's files (name -> text), each under its name; what `before` lacks is marked.

    TypeError for what is no dict of texts, ValueError for a name that is not plain.
    """
    return Exhibit(oneflow_records.op_files(files, before), files_view)
