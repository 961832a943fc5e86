"""Verbs on CPython: bytecode, frames, the value stack, the cost of calls, child interpreters.
A verb is a public function. It makes a model, a record of facts, with a function of `capture`, and
returns an exhibit: the model with a view that draws it. Most verbs have a decorator that restores
afterwards what the verb has changed in the interpreter, such as a tracer.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..exhibit import Exhibit
from ..safety.restoring import (
    preserves_interpreter_state,
    raises_what_the_call_raises,
    speaks_to_users,
)
from ..safety.users_frames import users_frame

if TYPE_CHECKING:
    from ..view.charts import Plot

STATION = 3  # the place "frame" on the map of a call, whose mark the exhibits show


@preserves_interpreter_state
def show_bytecode(f: object, *, caches: bool = False, adaptive: bool = False) -> Exhibit:
    """List a function's instructions with jumps as arrows, source positions and stack depths.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, such as a method, a partial or a code object.
    caches : bool
        Add the inline cache entries.
    adaptive : bool
        Add the names of the instructions that run now.

    Returns
    -------
    Exhibit
        Each of `.model.rows` has `opname`, `argument`, `line` and `depth`.

    Raises
    ------
    TypeError
        If `f` has no bytecode.
    ValueError
        If its bytes cannot be decoded.

    Examples
    --------
    >>> show_bytecode(step).model.rows[0].opname
    """
    from ..capture.cpython.bytecode import list_bytecode
    from ..view.instruction_tables import bytecode as view

    return Exhibit(list_bytecode(f, caches, adaptive), view, STATION)


@preserves_interpreter_state
def show_code(f: object) -> Exhibit:
    """Show a code object's fields, its bytes beside its source, and the code objects inside it.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one, or a code object.

    Returns
    -------
    Exhibit
        `.model` has the fields of each code object.

    Raises
    ------
    TypeError
        If `f` has no code object, as a function written in C has none.

    Examples
    --------
    >>> show_code(step)
    """
    from ..capture.cpython.code_fields import build_code_tree
    from ..view.instruction_tables import code

    return Exhibit(build_code_tree(f), code, STATION)


@preserves_interpreter_state
def show_frame(frame: FrameType) -> Exhibit:
    """List every attribute of a frame.

    Parameters
    ----------
    frame : frame
        Such as `sys._getframe()`, or the `gi_frame` of a generator.

    Returns
    -------
    Exhibit
        `.model.rows` contains an attribute each.

    Raises
    ------
    TypeError
        If `frame` is not a frame.

    Examples
    --------
    >>> show_frame(sys._getframe())
    """
    from ..capture.cpython.frame_attributes import list_frame_attributes
    from ..view.table_view import table

    return Exhibit(list_frame_attributes(frame), table, STATION)


@preserves_interpreter_state
def show_frames(*, most: int = 12) -> Exhibit:
    """List the caller's frame and those below it, and which of them have a frame object yet.

    Parameters
    ----------
    most : int
        The largest number of frames to list.

    Returns
    -------
    Exhibit
        Each of `.model.rows` has `function` and `made`: whether it has a frame object.

    Raises
    ------
    TypeError
        If `most` is not an int.
    ValueError
        If `most` is not a valid number.

    Examples
    --------
    >>> show_frames(most=4)
    """
    from ..capture.cpython.frame_stack import list_frames
    from ..view.table_view import table

    return Exhibit(list_frames(users_frame(), most), table, STATION)


@preserves_interpreter_state
def show_traceback(error: BaseException) -> Exhibit:
    """List the frames that an exception, its cause and its context keep alive.

    The members of an ExceptionGroup are listed below it, each after as many | as it is in groups.

    Parameters
    ----------
    error : BaseException
        The exception.

    Returns
    -------
    Exhibit
        Each of `.model.rows` has `function`, `place` and `locals`.

    Raises
    ------
    TypeError
        If `error` is not an exception.

    Examples
    --------
    >>> show_traceback(error)
    """
    from ..capture.cpython.traceback_chain import list_traceback
    from ..view.table_view import table

    return Exhibit(list_traceback(error), table, STATION)


@preserves_interpreter_state
def show_rosetta(name: str = "current") -> Exhibit:
    """Compare one function's bytecode on Python 3.8, 3.11, 3.12, 3.13 and the running Python.

    Parameters
    ----------
    name : {"add", "current", "shout", "total", "ordered", "guarded", "module"}
        The function.

    Returns
    -------
    Exhibit
        Each of `.model.rows` is an instruction, with a cell for each Python.

    Raises
    ------
    ValueError
        If there is no such function.

    Examples
    --------
    >>> show_rosetta("add")
    """
    from ..capture.cpython.rosetta import compare_versions
    from ..view.instruction_tables import bytecode as view

    return Exhibit(compare_versions(name), view, STATION)


@raises_what_the_call_raises
def watch_stack(
    f: Callable[..., Any],
    /,
    *args: Any,
    depth: int | None = None,
    only: object = None,
    most: int = 3000,
    **kwargs: Any,
) -> Exhibit:
    """Run `f(*args, **kwargs)` and step through its instructions with the real value stack.

    It follows the functions of the same module. Other functions run unseen. What the call prints
    through `sys.stdout` appears in the exhibit. `watch_stack(machine.run, f, *args)` shows the
    stack of your own machine instead.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one.
    *args, **kwargs
        The arguments of the call.
    depth : int, optional
        The largest number of levels of calls to record.
    only : function, class, module, str, or a list of these, optional
        What to follow instead of the functions of the same module, as in `watch_frames`.
    most : int
        The largest number of steps to record.

    Returns
    -------
    Exhibit
        Each of `.model.steps` has `opname` and `stack`.

    Raises
    ------
    TypeError
        If there is no bytecode to run.
    TypeError, ValueError
        For a wrong `depth`, `only` or `most`.
    RuntimeError
        If the stack cannot be read on this Python.

    Examples
    --------
    >>> watch_stack(step, x).model.steps[0].stack
    """
    from ..capture.cpython.stack_run import record_stack_run
    from ..view.instruction_tables import stack

    run = record_stack_run(f, *args, depth=depth, only=only, most=most, **kwargs)
    return Exhibit(run, stack, STATION)


@raises_what_the_call_raises
def watch_frames(
    f: Callable[..., Any],
    /,
    *args: Any,
    depth: int | None = None,
    only: object = None,
    most: int = 400,
    **kwargs: Any,
) -> Exhibit:
    """Run `f(*args, **kwargs)` and step through its calls and returns, with its frames at each.

    It follows the functions of the same module. Other functions run unseen. What the call prints
    through `sys.stdout` appears in the exhibit. If `f` has an argument named `depth`, `only` or
    `most`, pass it in a lambda: `lambda: f(depth=3)`.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one.
    *args, **kwargs
        The arguments of the call.
    depth : int, optional
        The largest number of levels of calls to record.
    only : function, class, module, str, or a list of these, optional
        What to follow instead of the functions of the same module. A str is the name of a function,
        a class, a module or a file.
    most : int
        The largest number of steps to record.

    Returns
    -------
    Exhibit
        `.model.steps` contains the calls and returns.

    Raises
    ------
    TypeError
        If `f` is not a Python function.
    TypeError, ValueError
        For a wrong `depth`, `only` or `most`.

    Examples
    --------
    >>> watch_frames(step, x, depth=2)
    """
    from ..capture.cpython.frame_timeline import record_frames
    from ..view.widgets.stage import timeline

    run = record_frames(f, *args, depth=depth, only=only, most=most, **kwargs)
    return Exhibit(run, timeline, STATION)


@preserves_interpreter_state
def watch_specialising(
    f: Callable[..., Any],
    /,
    stages: Mapping[str, tuple[Any, ...]],
    *,
    times: int = 200,
    inside: Mapping[str, Callable[[], AbstractContextManager[Any]]] | None = None,
    changed: bool = False,
) -> Exhibit:
    """Run a fresh copy of `f`, and list what its instructions have become after each stage.

    Errors in `f` are raised.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one.
    stages : dict of str to tuple
        Heading -> the arguments of the calls of that stage.
    times : int
        The number of calls in each stage.
    inside : dict of str to callable, optional
        Heading -> what makes a context manager for the calls of that stage.
    changed : bool
        Leave out instructions that never change.

    Returns
    -------
    Exhibit
        `.model.rows` contains an instruction each.

    Raises
    ------
    TypeError, ValueError
        For wrong `stages`, `times` or `inside`, or if `f` is not a Python function.

    Examples
    --------
    >>> watch_specialising(add, {"ints": (1, 2), "floats": (1.0, 2.0)}, changed=True)
    """
    from ..capture.cpython.specialisation import record_specialisation
    from ..view.table_view import table

    return Exhibit(record_specialisation(f, stages, times, inside, changed), table, STATION)


@preserves_interpreter_state
def watch_tracers(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Exhibit:
    """Time `f(*args, **kwargs)` under each kind of tracer, as a multiple of a call without one.

    `f` is called many times. Errors in `f` are raised.

    Parameters
    ----------
    f : callable
        A Python function, or what contains one.
    *args, **kwargs
        The arguments of each call.

    Returns
    -------
    Exhibit
        `.model.ratio(name)` returns the number.

    Raises
    ------
    TypeError
        If an argument is an iterator, which can be used only once, or `f` is not a Python function.

    Examples
    --------
    >>> watch_tracers(step, x).model.ratio("sys.settrace: calls")
    """
    from ..capture.cpython.tracer_costs import measure_tracers
    from ..view.table_view import table

    return Exhibit(measure_tracers(f, *args, **kwargs), table, STATION)


@preserves_interpreter_state
def watch_costs(
    unit: Callable[[], Any],
    actions: Mapping[str, Callable[[], Any]],
    *,
    unit_name: str = "runs of the unit",
) -> Exhibit:
    """Time `actions` against `unit` in one run.

    A ratio says *too noisy to compare* if the rounds of both overlap, because then a busy machine
    may have decided which was faster. Errors are raised.

    Parameters
    ----------
    unit : callable
        What one unit of time is: a callable without arguments.
    actions : dict of str to callable
        Name -> a callable without arguments.
    unit_name : str
        What the table calls the unit.

    Returns
    -------
    Exhibit
        `.model.ratio(name)` is the time of an action, as a multiple of the unit.

    Raises
    ------
    TypeError
        If one of them cannot be called.

    Examples
    --------
    >>> watch_costs(once, {"twice": twice}, unit_name="calls").model.ratio("twice")
    """
    from ..capture.cpython.costs import measure_costs
    from ..view.table_view import table

    return Exhibit(measure_costs(unit, actions, unit_name), table)


@preserves_interpreter_state
def watch_in_child(
    *what: str | Callable[[], Any], title: str = "", imports: str | None = None
) -> Exhibit:
    """Run functions without arguments, or source code, each in its own child interpreter.

    In the child, `tf` is TensorFlow and no op has run yet. You see what the code prints, and the
    error that ends it. You do not see what else it writes to stderr, such as warnings.

    Parameters
    ----------
    *what : callable or str
        Functions without arguments, or source code.
    title : str
        The title of the exhibit.
    imports : str, optional
        Source to run first, in place of the import of TensorFlow.

    Returns
    -------
    Exhibit
        `.model.end` is "well", "error" or "killed", and `.model.lines` is what it printed.

    Raises
    ------
    TypeError
        If you pass anything else.
    ValueError
        If the source of a function is not available.

    Examples
    --------
    >>> watch_in_child("print(1)", imports="").model.lines
    """
    from ..capture.processes.child import record_children as run
    from ..view.source_views import transcript

    return Exhibit(run(*what, title=title, imports=imports), transcript)


@speaks_to_users
def call_in_child(f: Callable[..., Any], /, *args: Any) -> Any:
    """Run `f(*args)` from its source in a child interpreter, and return the result.

    The child starts in an empty folder, which is deleted with all that `f` writes to its home
    (`~`). `f` must import what it uses. What `f` prints or leaves running is ignored.

    Parameters
    ----------
    f : function
        A Python function with source, which uses no variable of an enclosing function.
    *args
        Its arguments. They travel as JSON: dicts with text keys, lists, text, numbers, None. A
        tuple arrives as a list.

    Returns
    -------
    object
        What `f` returned, which travels as JSON too.

    Raises
    ------
    TypeError
        If there is no source, or a value is not JSON.
    RuntimeError
        If `f` does not return.

    Examples
    --------
    >>> call_in_child(add, 1, 2)
    """
    from ..capture.processes import child

    return child.call_in_child(f, *args)


@preserves_interpreter_state
def show_table(title: str, *rows: dict[str, object]) -> Exhibit:
    """Show rows with the same keys as a table.

    Text, numbers and small containers of them are shown as they are, other objects in a few safe
    words.

    Parameters
    ----------
    title : str
        The title of the table.
    *rows : dict of str to object
        At least one. The keys of the first row are the headings.

    Returns
    -------
    Exhibit
        `.model.rows` contains the rows.

    Raises
    ------
    TypeError
        If a row is not a dict.
    ValueError
        If the keys differ, or there are no rows.

    Examples
    --------
    >>> show_table("Shapes", {"layer": "fc1", "shape": (4, 2)}, {"layer": "fc2", "shape": (2, 1)})
    """
    from ..capture.rows import list_rows
    from ..view.table_view import table

    return Exhibit(list_rows(title, *rows), table)


@preserves_interpreter_state
def plot_ratios(title: str, ratios: Mapping[str, float]) -> "Plot":
    """Plot ratios by name as bars on a logarithmic scale.

    A ratio of `watch_costs` also shows its rounds. If it is too noisy to compare, its bar has no
    length. A plain number has no rounds, so its bar is drawn as it is.

    Parameters
    ----------
    title : str
        The title of the plot.
    ratios : dict of str to float
        Name -> a number above 0.

    Returns
    -------
    Plot
        A picture, which is no exhibit. `.ratios` contains the numbers.

    Raises
    ------
    TypeError
        If `ratios` is not a dict from str to number.
    ValueError
        If a number is not above 0.

    Examples
    --------
    >>> plot_ratios("Times of a call", {"plain": 1.0, "traced": 14.2})
    """
    from ..view.charts import plot

    return plot(title, ratios)


@preserves_interpreter_state
def plot_curve(
    title: str,
    numbers: list[float] | tuple[float, ...],
    *,
    step: str = "step",
    number: str = "number",
) -> Exhibit:
    """Draw numbers, such as training losses, as a curve of `number` by `step`.

    The axis is logarithmic if the largest is more than 20 times the smallest, which is above 0.

    Parameters
    ----------
    title : str
        The title of the curve.
    numbers : list or tuple of float
        The numbers in order, at least 0 each.
    step, number : str
        The names of the two axes.

    Returns
    -------
    Exhibit
        `.model.numbers` contains the numbers.

    Raises
    ------
    TypeError
        If `numbers` is not a list or tuple of numbers.
    ValueError
        If a number is below 0.

    Examples
    --------
    >>> plot_curve("Training", losses, number="loss")
    """
    from ..view import charts

    return Exhibit(charts.make_curve(title, numbers, step, number), charts.curve)


@preserves_interpreter_state
def show_environment() -> Exhibit:
    """List what this course needs, what is installed, and how to get what is missing or broken.

    Each package is imported in another process, and each framework runs one op there.

    Returns
    -------
    Exhibit
        `.model.rows` contains a package each.

    Examples
    --------
    >>> show_environment()
    """
    from ..capture.environment import list_environment
    from ..view.table_view import table

    return Exhibit(list_environment(), table)
