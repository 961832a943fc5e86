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

NOT_MAIN = "(m) for m in list(sys.modules.values()) if m is not sys.modules['__main__'] and"

MISTAKES = {
    "tangle": (
        ("must be a dict with the keys", "guess = tangle()"),
        ("alias = op copied the reference", '"alias": "old"', '"alias": "new"'),
        ("evaluated once, when its def runs", '"by_default": "old"', '"by_default": "new"'),
        ("looks op up each time", '"by_name": "new"', '"by_name": "old"'),
        ("two names of one dict", '"shared": "new"', '"shared": "old"'),
        ("copied the references", '"copied": "old"', '"copied": "new"'),
        ("one of 'old', 'new', not 'Old'", '"alias": "old"', '"alias": "Old"'),
    ),
    "one_more_holder": (
        (
            "of a list inside a holder, which was not given",
            "    writes = [write for",
            "    holders = [*holders, *(x for h in holders if type(h) is list for x in h)]\n"
            "    holders = [h for h in holders if hasattr(h, '__dict__') or type(h) in KINDS]\n"
            "    writes = [write for",
            "\n\ndef places(holder",
            "\n\nKINDS = (list, dict, CellType)\n\n\ndef places(holder",
        ),
        ("closure cell", "holder.cell_contents is old", "False"),
        ("keyword-only defaults", " + places(holder.__kwdefaults__ or {}, old)", ""),
        ("__defaults__[", "    values[k] = value\n", ""),
        ("still holds the old function", "enumerate(holder) if v is old", "[]"),
        ("only equal", "enumerate(holder) if v is old", "enumerate(holder) if v == old"),
        ("after a KeyboardInterrupt", f"    finally:\n{WRITE_OLD}", ON_EXCEPTION_ONLY),
    ),
    "default_finder": (
        ("compare with `is`", "value is obj", "value == obj"),
        ("__kwdefaults__", "            pairs += (fn.__kwdefaults__ or {}).items()\n", ""),
        ("your code raised TypeError", "fn.__defaults__ or ()", "fn.__defaults__"),
        ("defaults belong to the last parameters", "names[len(names) - len(values) :]", "names"),
        ("that is a __name__", "fn.__qualname__", "fn.__name__"),
        ("local variables have none", "[: fn.__code__.co_argcount]", ""),
        ("which does not hold the object", " if value is obj", ""),
        ("pair of str", "(fn.__qualname__, name)", "fn"),
    ),
    "rebinding": (
        ("does not hold the old function again", WRITE_BACK, "        pass\n"),
        ("restore in a finally", TRY, NO_TRY),
        ("remember what you changed", WRITE_BACK, SEARCH_AGAIN),
        ("compare with `is`", "value is old", "value == old"),
        ("compare with `is`", "value is old", "type(value) is type(old) and value == old"),
        ("__main__.scenery_op still holds", "(m) for m in list(sys.modules.values()) if", NOT_MAIN),
        ("context manager, not generator", "@contextmanager\n", ""),
        ("after a KeyboardInterrupt", "    finally:\n" + WRITE_BACK, ON_EXCEPTION),
    ),
}
