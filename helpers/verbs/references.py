"""Verbs on names and references: what a name refers to, and what else refers to that object.
A verb is a public function. It makes a model, a record of facts, with a function of `capture`, and
returns an exhibit: the model with a view that draws it. Most verbs have a decorator that restores
afterwards what the verb has changed in the interpreter, such as a tracer.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from ..exhibit import Exhibit
from ..safety.restoring import (
    preserves_interpreter_state,
    raises_what_the_call_raises,
    speaks_to_users,
)
from ..safety.users_frames import users_frame

STATION = 1  # the place "name" on the map of a call, whose mark the exhibits show


@preserves_interpreter_state
def show_names(*names: str) -> Exhibit:
    """Draw what the caller's names refer to, with one box per name and one per object.

    Parameters
    ----------
    *names : str
        Names of the caller's variables or globals, at least one.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Raises
    ------
    NameError
        If the caller has no such name.
    TypeError
        If you pass no name, or one that is not a str.

    Examples
    --------
    >>> show_names("x", "alias")
    """
    from ..capture.references.name_graph import build_names_graph_of_frame
    from ..view.diagram.graph_view import graph

    return Exhibit(build_names_graph_of_frame(users_frame(), names), graph, STATION)


@preserves_interpreter_state
def show_bindings(obj: object) -> Exhibit:
    """List the places in this process that refer to `obj`, and which of them a module scan finds.

    It misses variables that only a running call (`show_frame`) keeps. It also misses holders in C
    that the collector does not track, except NumPy arrays, or has set aside (`gc.freeze`). Nothing
    is collected. Places that nothing reaches are listed as such; those of a function, class or
    module only if there are no others.

    Parameters
    ----------
    obj : object
        Any object, such as a function.

    Returns
    -------
    Exhibit
        Each of `.model.rows` has `kind`, `owner`, `name`, `path` and `rebindable`.

    Examples
    --------
    >>> [row.path for row in show_bindings(step).model.rows]
    """
    from ..capture.references.binding_list import list_bindings
    from ..view.table_view import table

    return Exhibit(list_bindings(obj), table, STATION)


@preserves_interpreter_state
def show_binding_map(obj: object) -> Exhibit:
    """Draw each place that `show_bindings` lists for `obj` as an arrow to `obj`.

    Parameters
    ----------
    obj : object
        Any object, such as a function.

    Returns
    -------
    Exhibit
        `.model` has `nodes` and `edges`.

    Examples
    --------
    >>> show_binding_map(step)
    """
    from ..capture.references.binding_list import build_binding_graph
    from ..view.diagram.graph_view import graph

    return Exhibit(build_binding_graph(obj), graph, STATION)


@raises_what_the_call_raises
def watch_names(f: Callable[..., Any], /, *args: Any, most: int = 200, **kwargs: Any) -> Exhibit:
    """Run `f(*args, **kwargs)` and step through its lines, with its names and objects after each.

    Drawn with their contents are lists, tuples, dicts, sets, partials, bound methods, your own
    functions, and instances of your own classes. Other objects are plain boxes: classes, modules,
    enums, and what installed packages or the standard library make. Of these you see the repr, or
    dtype and shape. What the call prints through `sys.stdout` appears in the exhibit. If the call
    raises, the verb prints the steps and then raises the same exception.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, such as a method or a partial.
    *args, **kwargs
        The arguments of the call.
    most : int
        The largest number of lines to record.

    Returns
    -------
    Exhibit
        `.model.steps` contains the lines.

    Raises
    ------
    TypeError
        If `f` is not a Python function.
    ValueError
        If `most` is not a valid number.

    Examples
    --------
    >>> watch_names(step, x).model.steps[0].label
    """
    from ..capture.references.name_timeline import record_names
    from ..view.widgets.stage import timeline

    return Exhibit(record_names(f, *args, most=most, **kwargs), timeline, STATION)


@preserves_interpreter_state
def watch_callers(
    routes: Mapping[str, Callable[[], Any]],
    judge: Callable[[Callable[[], Any]], str],
    interventions: Mapping[str, Callable[[], AbstractContextManager[Any]]],
) -> Exhibit:
    """Run every route under every intervention, and show the judge's words side by side.

    Parameters
    ----------
    routes : dict of str to callable
        Name -> a callable without arguments, which makes the call on that route.
    judge : callable
        `judge(route)` returns a word, such as old or new.
    interventions : dict of str to callable
        Heading -> a callable that returns a context manager.

    Returns
    -------
    Exhibit
        A row for each route, with the judge's word under each intervention.

    Raises
    ------
    TypeError
        If an argument is not of these types.
    ValueError
        If an intervention has the heading of the run without one.

    Examples
    --------
    >>> rebound = lambda: rebind_everywhere(step, other)
    >>> watch_callers({"step": lambda: step(1)}, judge, {"rebound": rebound})
    """
    from ..capture.references.routes import record_callers as record
    from ..view.table_view import dots

    return Exhibit(record(routes, judge, interventions), dots, STATION)


@preserves_interpreter_state
def watch_routes(
    old: object,
    new: object,
    routes: Mapping[str, Callable[[], Any]],
    holders: Mapping[str, Callable[[], Any]],
    interventions: Mapping[str, Callable[[], AbstractContextManager[Any]]],
) -> Exhibit:
    """Run every route under every intervention, and draw what refers to `old` or `new` meanwhile.

    Parameters
    ----------
    old, new : object
        The original, and what an intervention replaces it with.
    routes : dict of str to callable
        Name -> a callable without arguments, which makes the call on that route.
    holders : dict of str to callable
        The same names -> a callable that returns what the route would call.
    interventions : dict of str to callable
        Heading -> a callable that returns a context manager, as in `watch_callers`.

    Returns
    -------
    Exhibit
        The routes and what they reach, under each intervention.

    Raises
    ------
    TypeError
        If an argument is not of these types.
    ValueError
        If `holders` has other names than `routes`, or another order.

    Examples
    --------
    >>> rebound = lambda: rebind_everywhere(step, other)
    >>> calls, holders = {"step": lambda: step(1)}, {"step": lambda: step}
    >>> watch_routes(step, other, calls, holders, {"rebound": rebound})
    """
    from ..capture.references.routes import record_routes as record
    from ..view.widgets.routes_view import routes as view

    return Exhibit(record(old, new, routes, holders, interventions), view)


@speaks_to_users
def rebind_everywhere(
    old: object,
    new: object,
    *,
    search: str = "thorough",
    keep: Iterable[str] = (),
    only: Iterable[str] = (),
) -> AbstractContextManager[Any]:
    """Return a context manager that replaces `old` with `new` wherever a search finds `old`.

    `old` is restored when the block ends. References that `new` needs to reach `old` stay, and
    those that `old` has to itself. So does a variable that only a running call refers to, because
    no search lists it. The kernel's own modules are left out. So are the builtins, which the kernel
    calls at any moment. Other threads see the replacement too, so use the block in one thread.

    The caches of singledispatch functions are emptied before and after the block. No other cache
    is: what an lru_cache has stored stays the old result. What the program itself changes in a
    place during the block stays. For a permanent replacement, call `.__enter__()` on the result at
    start-up, or use `stack.enter_context`.

    Parameters
    ----------
    old, new : object
        The object, and its replacement.
    search : {"thorough", "scan"}
        "thorough" asks the collector, "scan" only looks at names in modules.
    keep : iterable of str
        Paths to leave alone, such as `"__main__.original"`, or patterns, such as `"tensorflow.*"`.
    only : iterable of str
        The only paths to rebind, or patterns.

    Returns
    -------
    context manager
        As `block`, it has the places in `block.changed` and `block.left`. `block.kept` contains
        those that the program changed in the block, and the text of the block names them.

    Raises
    ------
    ValueError, TypeError
        With nothing changed: if no place could be rebound, a path names no place, or `new` is `old`
        itself or cannot be called though `old` can. Shared values (None, numbers, strings),
        built-in types and modules are refused too.

    Examples
    --------
    >>> with rebind_everywhere(step, other) as block:
    ...     train()
    """
    from ..capture.references import rebind

    return rebind.rebind_everywhere(old, new, search=search, keep=keep, only=only)


@speaks_to_users
def code_swapped(
    function: Callable[..., Any], donor: Callable[..., Any]
) -> AbstractContextManager[Any]:
    """Make `function` run the code of `donor` inside a `with` block.

    No name is rebound. Every route to the function runs the other code, because the object itself
    changed (`func_set_code`, Objects/funcobject.c). It keeps its own globals, defaults and closure.
    A call that is already running, or a paused generator, continues with its old code. Two swaps of
    one function may end in any order.

    Parameters
    ----------
    function : function
        The Python function to change.
    donor : function
        The Python function whose code it runs in the block.

    Returns
    -------
    context manager
        A code that the program itself gives the function in the block stays: then `is_kept` is
        True.

    Raises
    ------
    TypeError
        If either is not a Python function.
    ValueError
        If the numbers of free variables differ, or if `function` is needed to undo changes or to
        run the kernel. Nothing has changed then.

    Examples
    --------
    >>> with code_swapped(step, other):
    ...     train()
    """
    from ..capture.references.code_swap import CodeSwap

    return CodeSwap(function, donor)
