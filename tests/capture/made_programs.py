"""Programs of a size that a test asks for."""


def breaking(n: int):
    """Return a function with n graph breaks."""
    import torch

    space = {"torch": torch}
    body = "\n".join("    x = x + 1\n    torch._dynamo.graph_break()" for _ in range(n))
    exec(compile(f"def broken(x):\n{body}\n    return x\n", "<made>", "exec"), space)
    return space["broken"]


def job(n: int):
    """Return a job of n ops in a row."""
    from helpers.mini import oneflow as flow

    tp = flow.typing
    flow.clear_default_session()

    @flow.global_function()
    def chain(x: tp.Numpy.Placeholder((5,), dtype=flow.float32)) -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            for _ in range(n):
                x = x + x
            return x

    return chain
