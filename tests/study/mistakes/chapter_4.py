"""Chapter 4: parts of the mini-Dynamo, guards, cures and steps that are nearly right."""

WHERE = "y = torch.where(y.sum() > 0, y - y.mean(), y)"


VISITED_ONCE = """def receives(code, start, bound):
    live, seen = set(), set()
    def visit(at, stored):
        if at in seen:
            return
        seen.add(at)
        live.update(code.reads(at) - stored)
        for after in code.after(at):
            visit(after, stored | code.stores(at))
    visit(start, set())
    return [name for name in bound if name in live]
"""
SHARED_GRAPH = """import torch
from torch import fx
from helpers.mini.dynamo import PARTS
class Recorder(PARTS.recorder):
    graph, inputs = fx.Graph(), {}
    def __init__(self):
        pass
"""


LOOSE_SHAPE = (
    "({source}.ndim, {source}.numel(), *{source}.shape[:1])"
    " == {(value.ndim, value.numel(), *value.shape[:1])}"
)
EXACT, NINE_DIGITS = (
    'f"{source}.hex() == {value.hex()!r}"',
    "f\"format({source}, '.9g') == {format(value, '.9g')!r}\"",
)

EAFP = """from helpers.mini.dynamo import OPERATORS, Known


def binary_op(trace, sign, left, right):
    fn = OPERATORS[sign]
    try:
        return Known(fn(left.value, right.value))
    except AttributeError:  # a tensor has no value
        return trace.record(fn, left, right)
"""
RECORDED_ON_ERROR = EAFP.replace("AttributeError", "Exception")
HOOKED = "    with frame_hook.watching(lambda code, values: stand_in, only=fn):\n"
COMPILED = "    @compile\n"
PRINT = '        print(f"call {model.calls}: loss {loss.item():.3f}")\n'
WARM = "        warm = torch.tensor(min(1.0, model.calls / 10))\n"
MEAN = "return (y * warm - target).square().mean()"
CLAMPED = "y = model.linear(x).clamp(-2, 2)\n"
BRANCH = "y = model.linear(x)\n        if y.abs().max() > 2:\n            y = y.clamp(-2, 2)\n"
BY_NAME = "        return machine().run(fn, *values[:first], *more, **named)\n"

MISTAKES = {
    "dynamo_binary_op": (
        ("left first", "trace.record(fn, left, right)", "trace.record(fn, right, left)"),
        ("{'returns': '10'}", "Known(fn(left.value, right.value))", "fn(left.value, right.value)"),
        ("{'returns': 'None'}", "return trace", "trace"),
        ("3 + a tensor: yours raises", " and isinstance(right, Known)", ""),
        ("the finished one raises", RECORDED_ON_ERROR),
        ("compute now", "isinstance(left, Known) and isinstance(right, Known)", "False"),
        ("Known(0)", "fn(left.value, right.value)", "fn(right.value, left.value)"),
        ("7 & 3", "fn(left.value, right.value)", "left.value + right.value"),
    ),
    "dynamo_recorder": (
        ("yours raises ValueError", "self.graph.call_method if isinstance(fn, str) else ", ""),
        ("sub(arg1, arg0)", "for value in args", "for value in args[::-1]"),
        ("\"placeholder 'a'()\"", 'f"arg{len(self.inputs)}"', "source"),
        ("sub(Tensor(node=arg0", "written(value) for value in args", "value for value in args"),
        ("make the graph and the dict in __init__", SHARED_GRAPH),
        ("'sum'(arg2,)", "{name: written(value) for name, value in kwargs.items()}", "{}"),
        ("{'returns': 'None'}", "return self.inputs[source]", "return"),
        ("{'returns': \"'a'\"}", "return self.inputs[source]", "return source"),
    ),
    "dynamo_guards": (
        ("look at x.shape", "{source}.shape == {tuple(value.shape)}", LOOSE_SHAPE),
        ("k = 0.1, and then k = 0.1000", EXACT, NINE_DIGITS),
        ("look at x.dtype", '            f"{source}.dtype is {value.dtype}",\n', ""),
        ("look at x.shape", '            f"{source}.shape == {tuple(value.shape)}",\n', ""),
        ("k = True, and then k = 1", '[f"{source} is {value}"]', '[f"{source} == {value}"]'),
        ("which object it is", "{source} == {value!r}", "id({source}) == {id(value)}"),
        ("k = 1, and then k = 1.0", 'f"type({source}) is {type(value).__name__}", ', ""),
        (
            "compiles again",
            "{source}.dtype is {value.dtype}",
            "{source}.tolist() == {value.tolist()}",
        ),
    ),
    "dynamo_lookup": (
        ("the first guard that fails", "in entry.guards if", "in entry.guards[::-1] if"),
        ("['Guard object']", "failing.text", "failing"),
        ("{'misses': None}", "return None, misses", "return None, None"),
        ("the first guard that fails", "        misses.append(failing.text)\n", ""),
        (
            "'entry': 0",
            "if failing is None:",
            "if sum(not g.holds(values) for g in entry.guards) < 2:",
        ),
        ("which is not a pair", "return entry, misses", "return entry"),
        ("the first guard that fails", "in entries:", "in entries[::-1]:"),
    ),
    "dynamo_receives": (
        ("can still read", VISITED_ONCE),
        ("keep the order", "[name for name in bound if", "[name for name in sorted(bound) if"),
        ("in the order of bound", "[name for name in bound if name in live[start]]", "live[start]"),
        ("and no other", "if name in live[start]", ""),
        ("can still read", "    for _ in code.steps:  #", "    for _ in range(1):  #"),
        ("can still read", "(later - code.stores(at)) | code.reads(at)", "code.reads(at)"),
        ("and no other", "later - code.stores(at)", "later"),
        (
            "can still read",
            "later = set().union(*(live[after] for after in code.after(at)))",
            "later = live[code.after(at)[0]] if code.after(at) else set()",
        ),
    ),
    "guard_breaker": (
        ("gives {'failing': []}", '{"n": 3}', '{"n": 2}'),
        ("gives {'failing': []}", '{"names": ["a"]}', '{"names": ["c", "d"]}'),
        ("yours gives {'failing': [\"L['names'] TYPE", '{"names": ["a"]}', '{"names": ("a", "b")}'),
        ('LENGTH_CHECK"]}, a correct answer', '{"names": ("a", "b")}', '{"names": ("a",)}'),
        ("a dict with one argument", '{"n": 3}', '{"n": 3, "names": ["a"]}'),
        ("neither an argument nor a global", '{"n": 3}', '{"m": 3}'),
        ("can no longer be checked", "OrderedDict(round=False)", "{}"),
        ("yours raises ZeroDivisionError", "torch.no_grad(),", "lambda: 1 / 0,"),
        ('TENSOR_MATCH"]}, a correct answer', "torch.no_grad()", "torch.inference_mode"),
        ("a context manager", "torch.no_grad(),", "False,"),
        ("is missing", "L['n'] EQUALS_MATCH", "L['m'] EQUALS_MATCH"),
    ),
    "guard_set": (
        ("too lax", "def holds(x, n, names):\n    return True"),
        ("too strict", "def holds(x, n, names):\n    return False"),
        ("class derived from int", "type(n) is int", "isinstance(n, int)"),
        ("SCALE as NumPy's float64", "and type(SCALE) is float\n", "\n"),
        ("too strict", "and n == 2", "and n == 2 and x.max() > 0"),
        ("too strict", "and n == 2", "and n == 2 and not x.isnan().any()"),
        ("too strict", "and n == 2", "and n == 2 and x.storage_offset() == 0"),
        ("too strict", "len(names) == 2", "len(names) == 2 and all(type(s) is str for s in names)"),
        ("too strict", "len(names) == 2", 'names == ["a", "b"]'),
        ("too strict", "and n == 2", "and n == 2 and float(x[0]) == 0.5"),
    ),
    "break_surgery": (
        ("Failed to trace builtin", "    scale", "    print('halfway')\n    scale"),
        ("item()", ".max())", ".max().item())"),
        ("Dynamic shape operator", "torch.where(y > 0, y, 0)", "y[y > 0]"),
        ("patient gives", WHERE, "y = y - y.mean()"),
        ("patient gives", "y > 0, y, 0", "y > 0, y, 1"),
        ("'gradient':", "torch.where(y > 0, y, 0)", "y.clamp(min=0)"),
        (
            "the gradient for [0.5",
            "torch.where(y > 0, y, 0)",
            "torch.maximum(y, torch.zeros_like(y))",
        ),
        ("the gradient for [0.5", "y > 0, y, 0", "y >= 0, y, 0"),
        ("the caller's tensor", "y = x * 2", "y = x.mul_(2)"),
        ("{'gradient': None}", "y = x * 2", "y = x.detach() * 2"),
        ("'gradient':", "y > 0, y, 0).sum()", "y > 0, y, 0).sum().detach()"),
        ("which torch.where avoids", "torch.where(y > 0, y, 0).sum()", "(y * (y > 0)).sum()"),
        (
            "yours gives {'graphs': 0",
            WHERE,
            "for _ in range(1):\n        if y.sum() > 0:\n            y = y - y.mean()",
        ),
    ),
    "one_compile": (
        ("graphs in a call: yours gives 0", COMPILED, ""),
        ("outside the compiled function", "    def step(", COMPILED + "    def step("),
        ("'Failed to trace builtin operator'", MEAN, f"print(end='')\n        {MEAN}"),
        ("compilations: yours gives 8", "y * warm", "y * min(1.0, model.calls / 10)"),
        ("With 2 or more, a graph broke", CLAMPED, BRANCH),
        ("the loss: yours gives", ".clamp(-2, 2)", ""),
        ("the loss: yours gives", "        optimizer.zero_grad()\n", ""),
        ("call 1, the loss", WARM, "", "    def step(", f"{WARM[4:]}\n    def step("),
        ("printed: yours gives ''", PRINT, ""),
        (
            "everything between x and the loss",
            *(MEAN, "return y * warm", "= loss_of(x, target, warm)"),
            "= (loss_of(x, target, warm) - target).square().mean()",
        ),
        (
            "everything between x and the loss",
            *(CLAMPED, "y = x\n", "= loss_of(x,", "= loss_of(model.linear(x).clamp(-2, 2),"),
        ),
        ("must return the step", "    return step", "    step"),
    ),
    "behind_the_hook": (
        (
            "yours gives {'frames in the machine': {'nested': 1}}",
            HOOKED,
            "    with frame_hook.replaced(fn, stand_in):\n",
        ),
        ("yours gives {'frames in the machine': {}}", "values: stand_in", "values: None"),
        ("missing 1 required", BY_NAME, "        return machine().run(fn, *values)\n"),
        ("8, 0, {})", "            named |= rest[0]\n", "            pass\n"),
        ("or something to call, not list", "values: stand_in", "values: stand_in(*values)"),
        ("raises TypeError", ", only=fn", ""),
        ("{'frames in the machine': {}}", HOOKED, "    if True:\n"),
        ("fn alone (`only=fn`)", "return program()", "return machine().run(program)"),
        ("call program once", "return program()", "program()\n        return program()"),
        ("gives {'ends': 'None'}", "return program()", "program()"),
        (
            "switches the hook off",
            HOOKED,
            "    frame_hook.watching(lambda code, values: stand_in, only=fn).__enter__()\n"
            "    if True:\n",
        ),
        (
            "switches the hook off",
            HOOKED,
            "    hook = frame_hook.watching(lambda code, values: stand_in, only=fn)\n"
            "    hook.__enter__()\n    result = program()\n    hook.__exit__(None, None, None)\n"
            "    return result\n    if True:\n",
        ),
    ),
}
