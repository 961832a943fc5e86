"""Chapter 4: parts of the mini-Dynamo, callbacks, caches and guards that are nearly right."""

FAILING = "failing = next((g for g in entry.guards if not g.holds(values)), None)"
INSERT = "        self.entries.insert(0, entry)\n"
DROP = "        del self.entries[self.limit:]\n"
MOVE = """                self.entries.remove(entry)
                self.entries.insert(0, entry)  # most recent first
"""
LOOKED_UP = "codes.get(code) or stand_ins.get(code)"
WHERE = "y = torch.where(y.sum() > 0, y - y.mean(), y)"


def without(line):
    """Return the pieces that take one guard out of a set."""
    return f"        and {line}\n", ""


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
TYPE_OF_TENSOR = '            f"type({source}) is torch.Tensor",\n'


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
LAST = "entry.guards[-1].holds(values)"
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
MISTAKES = {
    "dynamo_binary_op": (
        ("left comes first", "trace.record(fn, left, right)", "trace.record(fn, right, left)"),
        ("in Known", "Known(fn(left.value, right.value))", "fn(left.value, right.value)"),
        ("returned None", "return trace", "trace"),
        ("3 + a tensor: yours raised", " and isinstance(right, Known)", ""),
        ("let the error through, record nothing", RECORDED_ON_ERROR),
        ("compute it now", "isinstance(left, Known) and isinstance(right, Known)", "False"),
        ("Python gives", "fn(left.value, right.value)", "fn(right.value, left.value)"),
        ("Python gives", "fn(left.value, right.value)", "left.value + right.value"),
        ("ZeroDivisionError", "fn(left.value, right.value)", "fn(left.value, right.value) / 0"),
        (
            "make a new Known",
            "return Known(fn(left.value, right.value))",
            "left.value = fn(left.value, right.value)\n        return left",
        ),
        ("the call to record is OPERATORS[sign]", "trace.record(fn", "trace.record(sign"),
        ("called with 4 arguments", "(trace, sign, left, right):", "(sign, left, right):"),
    ),
    "dynamo_recorder": (
        ("(call_method)", "self.graph.call_method if isinstance(fn, str) else ", ""),
        ("stands in the graph with", "for value in args", "for value in args[::-1]"),
        ("should be named arg0", 'f"arg{len(self.inputs)}"', "source"),
        (
            "put a Tensor into the graph",
            "written(value) for value in args",
            "value for value in args",
        ),
        ("two recorders share", SHARED_GRAPH),
        (
            "stands in the graph with",
            "{name: written(value) for name, value in kwargs.items()}",
            "{}",
        ),
        (
            "must keep its node",
            'self.inputs[source] = self.graph.placeholder(f"arg{len(self.inputs)}")\n'
            "        return self.inputs[source]",
            'return self.graph.placeholder(f"arg{len(self.inputs)}")',
        ),
        ("input must return the node", "return self.inputs[source]", "return"),
        ("input must return the node", "return self.inputs[source]", "return source"),
        ("call must return the node", "return add", "add"),
    ),
    "dynamo_guards": (
        ("by_last_size(", "{source}.shape == {tuple(value.shape)}", LOOSE_SHAPE),
        ("by_number(", 'f"{source} == {value!r}"', 'f"hash({source}) == {hash(value)}"'),
        ("by_tenth(", EXACT, NINE_DIGITS),
        ("by_dtype(", '            f"{source}.dtype is {value.dtype}",\n', ""),
        ("by_shape(", '            f"{source}.shape == {tuple(value.shape)}",\n', ""),
        ("by_gradient(", '            f"{source}.requires_grad is {value.requires_grad}",\n', ""),
        ("by_dimensions(SubclassOfTensor(", TYPE_OF_TENSOR, ""),
        ("added(", '[f"{source} is {value}"]', '[f"{source} == {value}"]'),
        (
            "added(",
            '[f"type({source}) is {type(value).__name__}"',
            '[f"isinstance({source}, {type(value).__name__})"',
        ),
        ("which object it is", "{source} == {value!r}", "id({source}) == {id(value)}"),
        ("by_number(", 'f"type({source}) is {type(value).__name__}", ', ""),
        ("name 'inf' is not defined", ".hex() == {value.hex()!r}", " == {value}"),
        (
            "divided(",
            'f"{source}.hex() == {value.hex()!r}"',
            'f"repr(abs({source})) == {repr(abs(value))!r}"',
        ),
        (
            "raised NameError",
            '[f"type({source}) is {type(value).__name__}"',
            '[f"type({source}) is number"',
        ),
        ("write 'k is None'", "if value is None or isinstance(value, bool)", "if value is True"),
        ("a list of texts", '[f"{source} is {value}"]', 'f"{source} is {value}"'),
        ("is not even true", "{source} == {value!r}", "{source} != {value!r}"),
        ("'k is -7' is not even true of k = -7", "{source} == {value!r}", "{source} is {value!r}"),
        (
            "compiles again",
            "{source}.dtype is {value.dtype}",
            "{source}.tolist() == {value.tolist()}",
        ),
    ),
    "dynamo_lookup": (
        ("the first failing guard: ", "in entry.guards if", "in entry.guards[::-1] if"),
        ("append guard.text", "failing.text", "failing"),
        ("a list of texts, not None", "return None, misses", "return None, None"),
        ("the first failing guard: ", "        misses.append(failing.text)\n", ""),
        (
            "no entry fits: yours gives entry 0",
            "if failing is None:",
            "if sum(not g.holds(values) for g in entry.guards) < 2:",
        ),
        ("return a pair", "return entry, misses", "return entry"),
        ("the first failing guard: ", "in entries:", "in entries[::-1]:"),
        ("changes the list", "return entry, misses", "return entries.pop(), misses"),
    ),
    "dynamo_receives": (
        ("can still be read", VISITED_ONCE),
        ("keep the order", "[name for name in bound if", "[name for name in sorted(bound) if"),
        ("in the order of bound", "[name for name in bound if name in live[start]]", "live[start]"),
        (
            "changes code.steps",
            "    return [",
            "    code.steps.reverse()\n    return [",
        ),
        ("which nothing reads any more", "if name in live[start]", ""),
        ("can still be read", "    for _ in code.steps:  #", "    for _ in range(1):  #"),
        (
            "can still be read",
            "(later - code.stores(at)) | code.reads(at)",
            "code.reads(at)",
        ),
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
            "the hook will call it",
            LOOKED_UP,
            "codes.get(code) or (code in stand_ins and stand_ins[code](*values))",
        ),
        ("a KeyError", LOOKED_UP, "codes[code] if code in codes else stand_ins[code]"),
        (
            "two functions are named twin",
            LOOKED_UP,
            "codes.get(code) or {c.co_name: s for c, s in stand_ins.items()}.get(code.co_name)",
        ),
        ("a note should be", "(code.co_name, values)", "code.co_name"),
        ("were noted: note each", "seen.append", "if code in codes: seen.append"),
        ("must return the callback", "return callback", "return 3"),
        ("make_callback must return", "    return callback", "    pass"),
        (
            "make_callback must return the callback",
            """
class make_callback:
    def __init__(self, seen, codes, stand_ins):
        pass
""",
        ),
        (
            "make_callback is called with 3 arguments",
            """
class make_callback:
    def __call__(self, code, values):
        pass
""",
        ),
        (
            "noted",
            "def make_callback(seen,",
            "def make_callback(ignored,",
            "    def",
            "    seen = []\n    def",
        ),
        (
            "hooked, idle() gives 'nothing'",
            "def make_callback(",
            "kept = {}\ndef make_callback(",
            "    def callback",
            "    codes = kept.update(codes) or kept\n    def callback",
        ),
        (
            "what its own callback notes",
            "    def callback",
            "    seen = kept.append(seen) or kept[0]\n    def callback",
            "def make_callback(",
            "kept = []\ndef make_callback(",
        ),
    ),
    "evicting_cache": (
        ("still holds more than", DROP, ""),
        ("yours has dropped it", MOVE, ""),
        ("yours has dropped it", INSERT + DROP, "        self.entries.append(entry)\n" + DROP),
        ("has to be compiled again", "all(guard.holds(values) for guard in entry.guards)", LAST),
        ("an entry that asks for an int", "all(guard", "any(guard"),
        ("asks for an int", "in entry.guards)", "in entry.guards[:1])"),
        ("an entry that asks for an int", BY_K),
        ("yours has dropped it", "                self.entries.remove(entry)\n", ""),
        (
            "two caches share",
            "self.limit, self.entries = limit, []",
            "self.limit = limit",
            "    def __init__",
            "    entries = []\n    def __init__",
        ),
        ("still holds more than", DROP, "", "in self.entries:", "in self.entries[:self.limit]:"),
        ("the entry itself, or None", "return entry", "return (entry,)"),
        (
            "yours has dropped it",
            INSERT + DROP,
            "        if len(self.entries) >= self.limit:\n            self.entries.clear()\n"
            + INSERT,
        ),
    ),
    "guard_breaker": (
        ("every guard still holds", '{"n": 3}', '{"n": 2}'),
        ("every guard still holds", '{"names": ["a"]}', '{"names": ["c", "d"]}'),
        ("fails another guard", '{"names": ["a"]}', '{"names": ("a", "b")}'),
        ("fails 2 guards", '{"names": ("a", "b")}', '{"names": ("a",)}'),
        ("change one", '{"n": 3}', '{"n": 3, "names": ["a"]}'),
        ("neither an argument nor a global", '{"n": 3}', '{"m": 3}'),
        ("cannot be asked any more", "OrderedDict(round=False)", "{}"),
        ("cannot be asked any more", "OrderedDict(round=False)", "None"),
        ("LENGTH_CHECK cannot be asked", '("a", "b")}', "None}"),
        ("cannot be asked any more", "OrderedDict(round=False)", "[False]"),
        ("this change raised", "torch.no_grad(),", "lambda: 1 / 0,"),
        ("guards: ", "torch.no_grad()", "torch.inference_mode"),
        ("a context manager", "torch.no_grad(),", "False,"),
        ("is missing", "L['n'] EQUALS_MATCH", "L['m'] EQUALS_MATCH"),
    ),
    "guard_set": (
        ("too lax", "def holds(x, n, names):\n    return True"),
        ("too strict", "def holds(x, n, names):\n    return False"),
        ("must be a function", "holds = True"),
        ("x of float64", *without("x.dtype == torch.float32")),
        ("stride", *without("x.stride() == (1,)")),
        ("the compiled code gives", *without("n == 2")),
        ("n = 2.0", *without("type(n) is int")),
        ("the compiled code gives", *without("len(names) == 2")),
        ("global SCALE", *without("SCALE == 1.5")),
        ("no_grad", *without("torch.is_grad_enabled()")),
        ("Parameter", "type(x) is torch.Tensor\n        and ", ""),
        ("class derived from int", "type(n) is int", "isinstance(n, int)"),
        ("class derived from list", "type(names) is list", "isinstance(names, list)"),
        ("too strict", "and n == 2", "and n == 2 and x.max() > 0"),
        ("too strict", "and n == 2", "and n == 2 and not x.isnan().any()"),
        ("too strict", "and n == 2", "and n == 2 and x.storage_offset() == 0"),
        ("too strict", "len(names) == 2", "len(names) == 2 and all(type(s) is str for s in names)"),
        ("change what they are given", "    return (", "    names.append(1)\n    return ("),
        (
            "must say True or False",
            "    return (\n",
            "    return [\n",
            "_enabled()\n    )",
            "_enabled()\n    ]",
        ),
        ("too strict", "len(names) == 2", 'names == ["a", "b"]'),
        ("too strict", "and n == 2", "and n == 2 and float(x[0]) == 0.5"),
        ("never raises", "type(x) is torch.Tensor\n        and", "x[0, 0] is not None and"),
    ),
    "break_surgery": (
        (
            "your code changed torch's default dtype",
            "    scale",
            "    torch.set_default_dtype(torch.float64)\n    scale",
        ),
        (
            "set_stance('force_eager') is in force",
            "    scale",
            "    torch.compiler.set_stance('force_eager')\n    scale",
        ),
        ("it still breaks", "    scale", "    print('halfway')\n    scale"),
        ("item()", ".max())", ".max().item())"),
        ("it still breaks", "torch.where(y > 0, y, 0)", "y[y > 0]"),
        ("patient gives", WHERE, "y = y - y.mean()"),
        ("patient gives", WHERE, "y = y"),
        ("patient gives", "y > 0, y, 0", "y > 0, y, 1"),
        ("has the gradient [12.4", "torch.where(y > 0, y, 0)", "y.clamp(min=0)"),
        ("for [0, -1, -2]", "torch.where(y > 0, y, 0)", "torch.maximum(y, torch.zeros_like(y))"),
        ("for [0, -1, -2]", "y > 0, y, 0", "y >= 0, y, 0"),
        ("changed the caller's tensor", "y = x * 2", "y = x.mul_(2)"),
        ("gives a result that has none", "y = x * 2", "y = x.detach() * 2"),
        ("gives a result that has none", "def operated", "@torch.no_grad()\ndef operated"),
        ("has the gradient", "y > 0, y, 0).sum()", "y > 0, y, 0).sum().detach()"),
        ("torch.where picks", "torch.where(y > 0, y, 0).sum()", "(y * (y > 0)).sum()"),
        ("torch.float32 of shape", "y = x * 2", "y = x.float() * 2"),
        (
            "gave the function up",
            WHERE,
            "for _ in range(1):\n        if y.sum() > 0:\n            y = y - y.mean()",
        ),
        (
            "gave the function up",
            "import torch\n@torch._dynamo.disable\ndef inner(x):\n    return patient(x)\n"
            "def operated(x):\n    return inner(x)",
        ),
        (
            "compiled, gives",
            "    scale",
            "    if torch.compiler.is_compiling(): return y\n    scale",
        ),
    ),
}
