"""Verb names -> how a fuzz run gives an odd function to each: `VERBS[framework][name](fn, n)`.

`PASSES` are those that let through what the function raises; the others have to tell it.
"""

import contextlib

PASSES = {
    "bare",
    "vm.run",
    "rebind_everywhere",
    "code_swapped",
    "frame_hook.watching",
    "frame_hook.replaced",
    "dynamo.compile",
    "dynamo.hooked",
    "expect",
    "watch_traces",
    "watch_recompiles",
    "show_frame",
    "show_traceback",
    "show_frames",
    "show_names",
    "watch_costs",
    "watch_callers",
    "show_graph",
    "watch_guard_sets",
    "watch_specialising",
    "watch_tracers",
    "rebind_everywhere, odd new",
}


def other(*args, **kwargs):
    """Stand where an odd function stood."""
    return args, kwargs


def _frame_of(fn, n):
    """Return the frame that a function has left in a traceback or returned."""
    try:
        return fn(n)
    except Exception as error:
        trace = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        return trace.tb_frame


def _error_of(fn, n):
    try:
        fn(n)
    except Exception as error:
        return error
    return ValueError("none came")


def _names_in(fn, n):
    import helpers

    value = fn(n)  # noqa: F841
    return helpers.show_names("fn", "value", "n")


def _rebound(fn, n):
    import helpers

    with helpers.rebind_everywhere(fn, other):
        return fn(n)


def _rebound_while_it_runs(fn, n):
    import helpers

    with helpers.rebind_everywhere(helpers.show_table, fn):
        return fn(n)


def _swapped(fn, n):
    import helpers

    def guest(n=3):
        return n

    with helpers.code_swapped(fn, guest):
        return fn(n)


def _hooked(fn, n):
    from helpers.mini import frame_hook

    seen = []
    with frame_hook.watching(lambda code, arguments: seen.append(code.co_name)):
        return fn(n)


def _replaced(fn, n):
    from helpers.mini import frame_hook

    with frame_hook.replaced(fn, other):
        return fn(n)


def _expected(fn, n):
    import helpers

    with helpers.expect(ValueError):
        fn(n)


def _dynamo(fn, n):
    from helpers.mini import dynamo

    compiled = dynamo.compile(fn)
    return compiled(n), compiled(n + 1)


def _dynamo_hooked(fn, n):
    from helpers.mini import dynamo

    with dynamo.hooked(only=[fn]):
        return fn(n), fn(n)


def _vm(fn, n):
    from helpers.mini import vm

    return vm.run(fn, n)


def _live(make):
    """Return a verb that calls twice what `make` gives, and then shows it."""

    def run(fn, n):
        import helpers

        live = make(helpers, fn)
        for _ in range(2):
            with contextlib.suppress(Exception):
                live(n)
        return live

    return run


def _verb(make):
    def run(fn, n):
        import helpers

        return make(helpers, fn, n)

    return run


def _plainly(words):
    return {name: _verb(lambda h, fn, n, name=name: getattr(h, name)(fn)) for name in words.split()}


def _calling(words):
    return {
        name: _verb(lambda h, fn, n, name=name: getattr(h, name)(fn, n)) for name in words.split()
    }


BARE = {
    **_plainly("show_code show_bytecode show_bindings show_binding_map show_evaluator"),
    **_calling("watch_names watch_stack watch_frames watch_hooked watch_tracers show_journey"),
    "show_bytecode, adaptive": _verb(lambda h, fn, n: h.show_bytecode(fn, True, True)),
    "watch_hooked, only": _verb(lambda h, fn, n: h.watch_hooked(fn, n, only=[fn])),
    "watch_specialising": _verb(lambda h, fn, n: h.watch_specialising(fn, {"ints": (n,)}, times=9)),
    "predict": _verb(lambda h, fn, n: h.predict("Which?", ["3", "None", "x"], run=lambda: fn(n))),
    "show_frame": _verb(lambda h, fn, n: h.show_frame(_frame_of(fn, n))),
    "show_frames": _verb(lambda h, fn, n: (fn(n), h.show_frames())[1]),
    "show_traceback": _verb(lambda h, fn, n: h.show_traceback(_error_of(fn, n))),
    "show_names": _names_in,
    "show_table": _verb(lambda h, fn, n: h.show_table("T", {"a": fn, "b": vars(h)})),
    "watch_costs": _verb(lambda h, fn, n: h.watch_costs(lambda: n, {"odd": lambda: fn(n)})),
    "watch_callers": _verb(
        lambda h, fn, n: h.watch_callers(
            {"r": fn}, lambda r: str(type(r(n))), {"i": contextlib.nullcontext}
        )
    ),
    "rebind_everywhere": _rebound,
    "rebind_everywhere, odd new": _rebound_while_it_runs,
    "code_swapped": _swapped,
    "expect": _expected,
    "frame_hook.watching": _hooked,
    "frame_hook.replaced": _replaced,
    "vm.run": _vm,
}
TORCH = {
    **_calling("watch_compile watch_breaks watch_rewriting watch_ops watch_inductor show_journey"),
    "watch_recompiles": _live(lambda h, fn: h.watch_recompiles(fn)),
    "watch_fixes": _verb(lambda h, fn, n: h.watch_fixes({"odd": (fn, other)}, n)),
    "watch_guard_sets": _verb(lambda h, fn, n: h.watch_guard_sets(fn, (n,))),
    "show_compiled": _verb(lambda h, fn, n: h.show_compiled(fn)),
    "show_guards": _verb(lambda h, fn, n: h.show_guards(fn)),
    "dynamo.compile": _dynamo,
    "dynamo.hooked": _dynamo_hooked,
}
TENSORFLOW = {
    **_calling("watch_call show_graph show_graph_steps watch_optimisation show_journey"),
    "watch_traces": _live(lambda h, fn: h.watch_traces(fn)),
    "watch_calls": _verb(lambda h, fn, n: h.watch_calls({"odd": (fn, n)})),
    "would_trace": _verb(lambda h, fn, n: h.would_trace(fn, n)),
    "watch_mutations": _verb(lambda h, fn, n: h.watch_mutations({"odd": (fn, n)})),
    "show_autograph": _verb(lambda h, fn, n: h.show_autograph(fn)),
}
VERBS = {"none": BARE, "torch": TORCH, "tensorflow": TENSORFLOW}
