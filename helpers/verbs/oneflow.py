"""Verbs on the course's own small OneFlow: its jobs, and the op types that it knows.
A verb is a public function. It makes a model, a record of facts, with a function of `capture`, and
returns an exhibit: the model with a view that draws it. Most verbs have a decorator that restores
afterwards what the verb has changed in the interpreter, such as a tracer.
"""

from ..exhibit import Exhibit
from ..safety.restoring import preserves_interpreter_state

STATION = 5  # the place "registry" on the map of a call, whose mark the exhibits show


@preserves_interpreter_state
def show_job(job: object, *, part: str = "") -> Exhibit:
    """Draw the op list of a `flow.global_function` as it runs: forward, backward and update.

    If the job has not been recorded yet, it is recorded now.

    Parameters
    ----------
    job : job
        What `flow.global_function` returned.
    part : {"", "forward", "backward", "update"}
        The pass to draw; all of them without it.

    Returns
    -------
    Exhibit
        `.model` has the ops of the job.

    Raises
    ------
    OpError
        If the job cannot be recorded.
    TypeError
        If `job` is not a job.
    ValueError
        If there is no such `part`.

    Examples
    --------
    >>> show_job(train, part="backward")
    """
    from ..capture.oneflow.job_graph import build_job_graph
    from ..view.diagram.job_view import job as view

    return Exhibit(build_job_graph(job, part), view, STATION)


@preserves_interpreter_state
def show_registry(*jobs: object) -> Exhibit:
    """Draw the op types that files have registered with the course's own small OneFlow.

    You also see kernels, gradient rules, and gaps. TensorFlow and PyTorch have other registries.

    Parameters
    ----------
    *jobs : job
        What `flow.global_function` returned. Their ops are drawn before their types.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Examples
    --------
    >>> show_registry(train)
    """
    from ..capture.oneflow.registry_graph import build_registry_graph
    from ..view.diagram.graph_view import graph

    return Exhibit(build_registry_graph(*jobs), graph, STATION)
