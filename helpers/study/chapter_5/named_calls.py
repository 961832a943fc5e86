"""A wrapper called more than once in one job -> whether each call is an op of its own name."""

import numpy as np

from helpers.mini import oneflow as flow
from helpers.mini.oneflow.job_builder import writer
from helpers.study.chapter_5.differ import parted
from helpers.study.chapter_5.inputs import Case
from helpers.study.chapter_5.torch_oracle import torch_truth
from helpers.study.chapter_5.trial_jobs import blobs_of, weighted_job

NAMES = ("first", "second")


def named(wrapper, name: str, truth, case: Case) -> str | None:
    """Return what is wrong with two calls in one job, on x and on -2 * x; None if nothing is."""
    said = []

    def both(x):
        outputs = []
        for op_name, blob, options in zip(NAMES, (x, x * -2), truth.calls, strict=True):
            before = len(writer().ops)
            outputs += blobs_of(wrapper, blob, {**options, "name": op_name})
            said.append(_one_op(name, op_name, writer().ops[before:]))
        return outputs

    job, load, seen = weighted_job(both, case.x)
    try:
        job.job  # noqa: B018  written down
    except flow.OpError as error:
        if found := next(filter(None, said), None):
            return found
        return f"{_calls(name, truth)} in one job: {error}"
    if found := next(filter(None, said), None):
        return found
    load([*case.dys, *case.dys])
    job(case.x)
    return _added_up(_calls(name, truth), truth, case, seen["dx"])


def _calls(name: str, truth) -> str:
    """Return both calls as one would write them."""
    told = []
    for x, options, op_name in zip(("x", "-2 * x"), truth.calls, NAMES, strict=True):
        given = [x, *(f"{option}={value}" for option, value in options.items())]
        told.append(f'{name}_forward({", ".join(given)}, name="{op_name}")')
    return " and ".join(told)


def _one_op(name: str, op_name: str, ops) -> str | None:
    """Return what a call has put into the job, unless it is one op of this name and type."""
    if [(op.type, op.name) for op in ops] == [(f"{name}_forward", op_name)]:
        return None
    found = ", ".join(f'"{op.name}" of type "{op.type}"' for op in ops) or "nothing"
    return (
        f'{name}_forward(x, name="{op_name}") must put one op "{op_name}" of type '
        f'"{name}_forward" into the job, and it puts {found} there'
    )


def _added_up(calls: str, truth, case: Case, dx) -> str | None:
    """Hold the gradient of both calls together against torch's."""
    dys = [dy.astype(np.float64) for dy in case.dys]
    x = case.x.astype(np.float64)
    parts = [
        torch_truth(truth.formula, sign * x, dys, **options)[1] * sign
        for sign, options in zip((1, -2), truth.calls, strict=True)
    ]
    right, size = sum(parts).astype(case.x.dtype), np.max(np.abs(case.dys), axis=0) * 10
    which = f"the gradient through {calls} in one job,"
    return parted(which, "torch", dx, right, {"x": case.x}, size, {})
