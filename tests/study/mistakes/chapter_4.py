"""Chapter 4: parts of the mini-Dynamo, callbacks, caches and guards that are nearly right."""

INSERT = "        self.entries.insert(0, entry)\n"
DROP = "        del self.entries[self.limit:]\n"
MOVE = """                self.entries.remove(entry)
                self.entries.insert(0, entry)  # most recent first
"""
LOOKED_UP = "codes.get(code) or stand_ins.get(code)"
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
BY_K = """
class Cache:
    def __init__(self, limit):
        self.limit, self.entries = limit, {}

    def find(self, values):
        self.asked = values[1]
        if values[1] in self.entries:
            self.entries[values[1]] = self.entries.pop(values[1])
        return self.entries.get(values[1])

    def add(self, entry):
        self.entries[self.asked] = entry
        if len(self.entries) > self.limit:
            del self.entries[next(iter(self.entries))]
"""
HOOKED = "    with frame_hook.watching(lambda code, values: stand_in, only=fn):\n"
BY_NAME = "        return machine().run(fn, *values[:first], *more, **named)\n"

MISTAKES = {
    "dynamo_binary_op": (
        ("left first", "trace.record(fn, left, right)", "trace.record(fn, right, left)"),
        ("{'returns': '10'}", "Known(fn(left.value, right.value))", "fn(left.value, right.value)"),
        ("{'returns': 'None'}", "return trace", "trace"),
        ("3 + a tensor: yours raises", " and isinstance(right, Known)", ""),
        ("the finished one raises TypeError", RECORDED_ON_ERROR),
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
        ("{'returns': None}", "return self.inputs[source]", "return"),
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
        ("('None', 'None')", "return None, misses", "return None, None"),
        ("the first guard that fails", "        misses.append(failing.text)\n", ""),
        (
            "yours gives ('entry 0', [])",
            "if failing is None:",
            "if sum(not g.holds(values) for g in entry.guards) < 2:",
        ),
        ("which is no pair", "return entry, misses", "return entry"),
        ("the first guard that fails", "in entries:", "in entries[::-1]:"),
    ),
    "dynamo_receives": (
        ("can still be read", VISITED_ONCE),
        ("keep the order", "[name for name in bound if", "[name for name in sorted(bound) if"),
        ("in the order of bound", "[name for name in bound if name in live[start]]", "live[start]"),
        ("which nothing reads any more", "if name in live[start]", ""),
        ("can still be read", "    for _ in code.steps:  #", "    for _ in range(1):  #"),
        ("can still be read", "(later - code.stores(at)) | code.reads(at)", "code.reads(at)"),
        ("which nothing reads any more", "later - code.stores(at)", "later"),
        (
            "can still be read",
            "later = set().union(*(live[after] for after in code.after(at)))",
            "later = live[code.after(at)[0]] if code.after(at) else set()",
        ),
    ),
    "hook_callback": (
        ("return the stand-in", LOOKED_UP, "codes.get(code)"),
        ("return its replacement", LOOKED_UP, "stand_ins.get(code)"),
        (
            "must return None, a code object or something to call",
            LOOKED_UP,
            "codes.get(code) or (code in stand_ins and stand_ins[code](*values))",
        ),
        ("yours raises KeyError", LOOKED_UP, "codes[code] if code in codes else stand_ins[code]"),
        (
            "two functions are named twin",
            LOOKED_UP,
            "codes.get(code) or {c.co_name: s for c, s in stand_ins.items()}.get(code.co_name)",
        ),
        ("a note for each frame", "(code.co_name, values)", "code.co_name"),
        ("a note for each frame", "seen.append", "if code in codes: seen.append"),
        ("must return the callback", "return callback", "return 3"),
    ),
    "evicting_cache": (
        ("the last ones are dropped", DROP, ""),
        ("a hit moves its entry to the front", MOVE, ""),
        (
            "a hit moves its entry to the front",
            INSERT + DROP,
            "        self.entries.append(entry)\n" + DROP,
        ),
        ("1.0: Entry object", "all(guard", "any(guard"),
        ("1.0: Entry object", "in entry.guards)", "in entry.guards[:1])"),
        ("1.0: Entry object", BY_K),
        ("a hit moves its entry to the front", "                self.entries.remove(entry)\n", ""),
        (
            "a hit moves its entry to the front",
            INSERT + DROP,
            "        if len(self.entries) >= self.limit:\n            self.entries.clear()\n"
            + INSERT,
        ),
    ),
    "guard_breaker": (
        ("gives {'failing': []}", '{"n": 3}', '{"n": 2}'),
        ("gives {'failing': []}", '{"names": ["a"]}', '{"names": ["c", "d"]}'),
        ("yours gives {'failing': [\"L['names'] TYPE", '{"names": ["a"]}', '{"names": ("a", "b")}'),
        ('LENGTH_CHECK"]}, the aim', '{"names": ("a", "b")}', '{"names": ("a",)}'),
        ("a dict of one argument", '{"n": 3}', '{"n": 3, "names": ["a"]}'),
        ("neither an argument nor a global", '{"n": 3}', '{"m": 3}'),
        ("cannot be asked any more", "OrderedDict(round=False)", "{}"),
        ("cannot be asked any more", "OrderedDict(round=False)", "None"),
        ("LENGTH_CHECK, which cannot be asked", '("a", "b")}', "None}"),
        ("cannot be asked any more", "OrderedDict(round=False)", "[False]"),
        ("yours raises ZeroDivisionError", "torch.no_grad(),", "lambda: 1 / 0,"),
        ('TENSOR_MATCH"]}, the aim', "torch.no_grad()", "torch.inference_mode"),
        ("a context manager", "torch.no_grad(),", "False,"),
        ("is missing", "L['n'] EQUALS_MATCH", "L['m'] EQUALS_MATCH"),
    ),
    "guard_set": (
        ("too lax", "def holds(x, n, names):\n    return True"),
        ("too strict", "def holds(x, n, names):\n    return False"),
        ("class derived from int", "type(n) is int", "isinstance(n, int)"),
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
        ("patient gives", WHERE, "y = y"),
        ("patient gives", "y > 0, y, 0", "y > 0, y, 1"),
        ("'gradient':", "torch.where(y > 0, y, 0)", "y.clamp(min=0)"),
        (
            "whose gradient is asked for",
            "torch.where(y > 0, y, 0)",
            "torch.maximum(y, torch.zeros_like(y))",
        ),
        ("whose gradient is asked for", "y > 0, y, 0", "y >= 0, y, 0"),
        ("the caller's tensor", "y = x * 2", "y = x.mul_(2)"),
        ("{'gradient': None}", "y = x * 2", "y = x.detach() * 2"),
        ("{'gradient': None}", "def operated", "@torch.no_grad()\ndef operated"),
        ("'gradient':", "y > 0, y, 0).sum()", "y > 0, y, 0).sum().detach()"),
        ("torch.where picks", "torch.where(y > 0, y, 0).sum()", "(y * (y > 0)).sum()"),
        ("torch.float32 of shape", "y = x * 2", "y = x.float() * 2"),
        (
            "yours gives {'graphs': 0",
            WHERE,
            "for _ in range(1):\n        if y.sum() > 0:\n            y = y - y.mean()",
        ),
        (
            "yours gives {'graphs': 0",
            "import torch\n@torch._dynamo.disable\ndef inner(x):\n    return patient(x)\n"
            "def operated(x):\n    return inner(x)",
        ),
        (
            "compiled, for",
            "    scale",
            "    if torch.compiler.is_compiling(): return y\n    scale",
        ),
    ),
    "behind_the_hook": (
        ("call program once", "        return program()", "        yield program()"),
        ("takes 2 positional arguments", "(machine, fn, program)", "(fn, program)"),
        (
            "yours gives {'frames in the machine': {'nested': 1}}",
            HOOKED,
            "    with frame_hook.replaced(fn, stand_in):\n",
        ),
        (
            "yours gives {'frames in the machine': {}}",
            BY_NAME,
            BY_NAME.replace("machine()", "vm.Machine()"),
            "import frame_hook",
            "import frame_hook, vm",
        ),
        ("yours gives {'frames in the machine': {}}", "values: stand_in", "values: None"),
        ("missing 1 required", BY_NAME, "        return machine().run(fn, *values)\n"),
        ("8, 0, {})", "            named |= rest[0]\n", "            pass\n"),
        ("or something to call, not list", "values: stand_in", "values: stand_in(*values)"),
        ("has no attribute 'call'", BY_NAME, BY_NAME.replace("machine()", "machine")),
        ("raises TypeError", ", only=fn", ""),
        ("{'hook meanwhile': ['off']", HOOKED, "    if True:\n"),
        ("and of fn alone", "return program()", "return machine().run(program)"),
        ("call program once", "return program()", "program()\n        return program()"),
        ("gives {'ends': 'None'}", "return program()", "program()"),
        (
            "takes the hook off",
            HOOKED,
            "    frame_hook.watching(lambda code, values: stand_in, only=fn).__enter__()\n"
            "    if True:\n",
        ),
        (
            "takes the hook off",
            HOOKED,
            "    hook = frame_hook.watching(lambda code, values: stand_in, only=fn)\n"
            "    hook.__enter__()\n    result = program()\n    hook.__exit__(None, None, None)\n"
            "    return result\n    if True:\n",
        ),
        (
            "yours gives {'frames in the machine': {}}",
            HOOKED,
            "    with frame_hook.watching(lambda code, values: fn, only=fn):\n",
        ),
    ),
}
