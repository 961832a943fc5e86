"""Classes made in odd ways, and functions of code that no `def` made."""

import types


def meta_function():
    def meta(name, bases, ns, **kw):
        return name, bases, sorted(k for k in ns if not k.startswith("__")), kw

    class A(metaclass=meta, k=1):
        y = 2

    return A


def module_function_locals():
    code = compile(
        "x = 1\nlocals()['w'] = 2\nprint(sorted(k for k in locals() if not k.startswith('__')))",
        "<m>",
        "exec",
    )
    space = {"print": print, "sorted": sorted, "locals": locals}
    types.FunctionType(code, space)()
    return "w" in space, "x" in space


def dataclass_in():
    import dataclasses

    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: int = 2

        def __post_init__(self):
            self.z = self.x + self.y

    return P(1), P(1) < P(2), P(1).z
