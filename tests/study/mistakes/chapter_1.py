"""Chapter 1: who holds a reference, and who looks the name up, told wrong."""

TRY = """    try:
        for space, key in places:
            space[key] = new
        yield
    finally:
"""
NO_TRY = """    for space, key in places:
        space[key] = new
    yield
    if True:
"""
WRITE_BACK = """        for space, key in places:
            space[key] = old
"""
SEARCH_AGAIN = """        for space in spaces:
            for key, value in list(space.items()):
                if value is new:
                    space[key] = old
"""
ON_EXCEPTION = f"""    except Exception:
{WRITE_BACK}        raise
    else:
{WRITE_BACK}"""
WRITE_OLD = """        for write in writes:
            write(old)
"""
ON_EXCEPTION_ONLY = f"""    except Exception:
{WRITE_OLD}        raise
    else:
{WRITE_OLD}"""
DEF = "@contextmanager\ndef my_rebind_everywhere"
KEPT = f"places = []\n\n\n{DEF}"
AT_THE_CALL = """
import sys
from types import ModuleType

class my_rebind_everywhere:
    def __init__(self, old, new):
        self.spaces = [vars(m) for m in list(sys.modules.values()) if isinstance(m, ModuleType)]
        self.places = [(s, k) for s in self.spaces for k in s if s[k] is old]
        self.old = old
        for space, key in self.places:
            space[key] = new

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for space, key in self.places:
            space[key] = self.old
"""

EQUAL_TYPE = "type(v) is type(old) and v == old"
NOT_MAIN = "(m) for m in list(sys.modules.values()) if m is not sys.modules['__main__'] and"
HELD = "value is obj or type(value) in (list, tuple) and any(v is obj for v in value)"
NO_HIDDEN = " and fn.__name__[0] != '_'"

MISTAKES = {
    "tangle": (
        (
            "tangle is another function by now",
            "def tangle():\n    return ['old'] * 5\n\n\nnames = ('alias', 'by_default', 'by_name', "
            "'shared', 'copied')\nguess = dict.fromkeys(names, 'old')",
        ),
        ("must be a dict with the keys", "guess = tangle()"),
        ("alias = op copied the reference", '"alias": "old"', '"alias": "new"'),
        ("evaluated once, when its def runs", '"by_default": "old"', '"by_default": "new"'),
        ("looks op up each time", '"by_name": "new"', '"by_name": "old"'),
        ("two names of one dict", '"shared": "new"', '"shared": "old"'),
        ("copied the references", '"copied": "old"', '"copied": "new"'),
        ("must be a dict with the keys", "guess = 'old'"),
        ("one of 'old', 'new', not 'Old'", '"alias": "old"', '"alias": "Old"'),
    ),
    "one_more_holder": (
        (
            "has lost what the block itself assigned",
            "    writes = [write for",
            "    lists = [(h, list(h)) for h in holders if type(h) is list]\n"
            "    writes = [write for",
            "            write(old)\n",
            "            write(old)\n"
            "        for holder, before in lists:\n            holder[:] = before\n",
        ),
        ("only equal", "enumerate(holder) if v is old", f"enumerate(holder) if {EQUAL_TYPE}"),
        (
            "changes the list of holders that it is given",
            "    try:\n        for write in writes:\n            write(new)",
            "    holders.clear()\n    try:\n        for write in writes:\n            write(new)",
        ),
        (
            "was not given itself",
            "    if type(holder) is list:\n        return ",
            "    if type(holder) is list:\n"
            "        more = [w for v in holder if type(v) is list for w in places(v, old)]\n"
            "        return more + ",
        ),
        (
            "] is gone",
            "for k, v in holder.items() if v is old]",
            "for k, v in holder.items() if v is old] + [\n"
            "            lambda v, k=k: holder.pop(k, v) for k in holder if k is old\n"
            "        ]",
        ),
        (
            "type of __kwdefaults__ holds 'dict', and must hold 'NoneType'",
            "        return writes + places",
            "        holder.__kwdefaults__ = holder.__kwdefaults__ or {}\n"
            "        return writes + places",
        ),
        (
            "of a list inside a holder, which was not given",
            "    writes = [write for",
            "    holders = [*holders, *(x for h in holders if type(h) is list for x in h)]\n"
            "    holders = [h for h in holders if hasattr(h, '__dict__') or type(h) in KINDS]\n"
            "    writes = [write for",
            "\n\ndef places(holder",
            "\n\nKINDS = (list, dict, CellType)\n\n\ndef places(holder",
        ),
        (
            "held something else before, or nothing",
            "    try:\n",
            "    for holder in holders:\n        if type(holder) is dict and old in holder:\n"
            "            holder[new] = holder.pop(old)\n    try:\n",
        ),
        ("closure cell", "holder.cell_contents is old", "False"),
        ("keyword-only defaults", " + places(holder.__kwdefaults__ or {}, old)", ""),
        ("__defaults__[", "    values[k] = value\n", ""),
        ("still holds the old function", "enumerate(holder) if v is old", "[]"),
        ("only equal", "enumerate(holder) if v is old", "enumerate(holder) if v == old"),
        (
            "held something else before, or nothing",
            "vars(holder).items()",
            "((n, getattr(holder, n)) for n in dir(holder))",
        ),
        ("does not hold the old function again", "            write(old)\n", "            pass\n"),
        ("must return a context manager", "@contextmanager\n", ""),
        (
            "after a KeyboardInterrupt",
            f"    finally:\n{WRITE_OLD}",
            ON_EXCEPTION_ONLY,
        ),
    ),
    "default_finder": (
        ("compare with `is`", "value is obj", "value == obj"),
        (
            "compare with `is`, not `==`",
            "value is obj",
            "type(value) is type(obj) and value == obj",
        ),
        ("__kwdefaults__", "            pairs += (fn.__kwdefaults__ or {}).items()\n", ""),
        ("your code raised TypeError", "fn.__defaults__ or ()", "fn.__defaults__"),
        ("defaults belong to the last parameters", "names[len(names) - len(values) :]", "names"),
        ("that is a __name__", "fn.__qualname__", "fn.__name__"),
        ("local variables have none", "[: fn.__code__.co_argcount]", ""),
        ("its default is something else", " if value is obj", ""),
        ("pair of str", "(fn.__qualname__, name)", "fn"),
        ("not 'name'", "[(fn.__qualname__, name) for name", "['name' for name"),
        ("of the test function holding(), which does not hold", "if value is obj", f"if {HELD}"),
        ("of the test function _hidden()", "is FunctionType:", f"is FunctionType{NO_HIDDEN}:"),
        (
            "it misses parameter",
            "[: fn.__code__.co_argcount]",
            "[fn.__code__.co_posonlyargcount : fn.__code__.co_argcount]",
        ),
        ("it misses parameter", "def find_in_defaults(obj):\n    return []"),
        ("must be a list", "def find_in_defaults(obj):\n    return 3"),
    ),
    "rebinding": (
        (
            "still holds the old function",
            "list(sys.modules.values())",
            "[sys.modules[old.__module__]]",
        ),
        ("does not hold the old function again", WRITE_BACK, "        pass\n"),
        ("restore in a finally", TRY, NO_TRY),
        (
            "swallowed the KeyError",
            "    finally:\n",
            "    except Exception:\n        pass\n    finally:\n",
        ),
        ("remember what you changed", WRITE_BACK, SEARCH_AGAIN),
        ("compare with `is`", "value is old", "value == old"),
        ("compare with `is`", "value is old", "type(value) is type(old) and value == old"),
        ("__main__.scenery_op still holds", "(m) for m in list(sys.modules.values()) if", NOT_MAIN),
        (
            "scenery.equal has lost what the block itself assigned",
            "    try:\n",
            "    before = [(s, dict(s)) for s in spaces]\n    try:\n",
            WRITE_BACK,
            "        for space, held in before:\n            space.update(held)\n",
        ),
        ("context manager, not generator", "@contextmanager\n", ""),
        ("context manager, not None", "def my_rebind_everywhere(old, new):\n    pass"),
        (
            "held something else before, or nothing",
            "value is old",
            "value is not old",
        ),
        ("held something else before, or nothing", " if value is old", ""),
        (
            "scenery.op holds <lambda>(), and must hold first()",
            "= new\n",
            "= lambda *args: new(*args)\n",
        ),
        (
            "after a KeyboardInterrupt",
            "    finally:\n" + WRITE_BACK,
            ON_EXCEPTION,
        ),
        (
            "in a second block, inside the block scenery.op holds third()",
            "    places = [(s",
            "    places.extend([(s",
            "is old]\n",
            "is old])\n",
            DEF,
            KEPT,
        ),
        ("when it is called", AT_THE_CALL),
        ("with a yield, and yours has none", "        yield\n", ""),
        ("a lazy module loads another", "list(sys.modules.values())", "sys.modules.values()"),
    ),
}
