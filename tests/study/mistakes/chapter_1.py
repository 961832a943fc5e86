"""Chapter 1: wrong answers on what keeps a reference and what looks the name up."""

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
CLEAR = "        area.cache_clear()\n"
LAST = "            cell.cell_contents = old\n            area.cache_clear()\n"
WRITE_CELL = "            cell.cell_contents = new\n"
RAISE = "            raise\n        else:\n"
BASELINE = '        patch.object(project.report, "baseline", new),\n'

NOT_MAIN = "(m) for m in list(sys.modules.values()) if m is not sys.modules['__main__'] and"

MISTAKES = {
    "tangle": (
        ("must be a dict with the keys", "guess = tangle()"),
        ("alias = op copied the reference", '"alias": "old"', '"alias": "new"'),
        ("evaluated once, when its def runs", '"by_default": "old"', '"by_default": "new"'),
        ("looks up op at each call", '"by_name": "new"', '"by_name": "old"'),
        ("two names of one dict", '"shared": "new"', '"shared": "old"'),
        ("copied the references", '"copied": "old"', '"copied": "new"'),
        ("one of 'old', 'new', not 'Old'", '"alias": "old"', '"alias": "Old"'),
    ),
    "who_kept": (
        ("One more name of the module logs", ', "logs.TABLE"}', "}"),
        ("on purpose", 'kept = {"report.scale"', 'kept = {"report.baseline", "report.scale"'),
        ("layers.run does not keep", '"layers.Layer.op"', '"layers.run"'),
        ("totals.area does not keep", '"jobs.ten", ', '"jobs.ten", "totals.area", '),
        ("There is no such name", '"jobs.ten"', '"jobs.tenth"'),
        ("texts like 'jobs.ten'", 'kept = {"report.scale"', 'kept = {3, "report.scale"'),
        ("context manager, not generator", "@contextmanager\n", ""),
        ("report.total in the block", '        patch.object(project.ops, "scale", new),\n', ""),
        ("jobs.apply in the block", ", (new,)", ", (old,)"),
        ("staticmethod prevents that", "staticmethod(new)", "new"),
        ("logs.TABLE['plain'] in the block", "dict.fromkeys(entries, new)", "{}"),
        ("logs.TABLE['more'] in the block", "dict.fromkeys(entries, new)", "plain=new"),
        ("logs.TABLE['text'] in the block", "if fn is old]", "if fn is not logs.scale]"),
        ("used before: totals.area in the block", f"{CLEAR}        try", "        try"),
        ("totals.area after the block", LAST, LAST.split("\n")[0] + "\n"),
        ("logs.scale after the block", LAST, f"    {CLEAR}"),
        ("logs.scale in the block", WRITE_CELL, ""),
        ("when the block raises", "        try:\n", "        if True:\n", "finally:", "if True:"),
        ("when Ctrl-C ends", f"finally:\n{LAST}", f"except Exception:\n{LAST}{RAISE}{LAST}"),
        ("report.change in the block", "    with (\n", f"    with (\n{BASELINE}"),
        (
            "changed in jobs after the block",
            'patch.object(jobs, "ten", functools.partial(new, 10)),',
            "",
            "    with (\n",
            "    jobs.ten = functools.partial(new, 10)\n    with (\n",
            LAST,
            f"            jobs.ten = functools.partial(old, 10)\n{LAST}",
        ),
    ),
    "default_finder": (
        ("but an object that can equal it", "value is obj", "value == obj"),
        ("__kwdefaults__", "            pairs += (fn.__kwdefaults__ or {}).items()\n", ""),
        ("your code raised TypeError", "fn.__defaults__ or ()", "fn.__defaults__"),
        ("Defaults belong to the last parameters", "names[len(names) - len(values) :]", "names"),
        ("that is the function's __name__", "fn.__qualname__", "fn.__name__"),
        (
            "'rest' of the test function mixed(), which has no default",
            "[: fn.__code__.co_argcount]",
            "",
        ),
        ("whose default is not the object", " if value is obj", ""),
        ("pair of str", "(fn.__qualname__, name)", "fn"),
    ),
    "rebinding": (
        ("does not lead to the old function again", WRITE_BACK, "        pass\n"),
        ("Restore it in a finally", TRY, NO_TRY),
        ("Remember what you changed", WRITE_BACK, SEARCH_AGAIN),
        ("== may raise an error", "value is old", "value == old"),
        ("only equal to the old one", "value is old", "type(value) is type(old) and value == old"),
        ("__main__.scenery_op still leads", "(m) for m in list(sys.modules.values()) if", NOT_MAIN),
        ("context manager, not generator", "@contextmanager\n", ""),
        ("with a KeyboardInterrupt inside", "    finally:\n" + WRITE_BACK, ON_EXCEPTION),
    ),
}
