"""CPython's own machinery: bytecode, the value stack, frames, tracers."""

import sys

from helpers.capture.cpython import bytecode, costs, rosetta, stack_run
from helpers.capture.cpython import frame as frames
from helpers.exhibit import at
from helpers.safety.restoring import whole
from helpers.view.instruction_tables import bytecode as bytecode_view
from helpers.view.instruction_tables import code as code_view
from helpers.view.instruction_tables import stack as stack_view
from helpers.view.table_view import table
from helpers.view.widgets.stage import timeline

Exhibit = at(3)


@whole
def show_code(fn) -> Exhibit:
    """Show a code object's fields, its bytes beside its source, and the code objects inside it.

    TypeError for what has no code object, such as a function written in C.
    """
    return Exhibit(bytecode.code_tree(fn), code_view)


@whole
def show_bytecode(fn, caches: bool = False, adaptive: bool = False) -> Exhibit:
    """List a function's instructions with jumps as arrows, places in the source, stack depths.

    `caches` adds the inline cache entries, `adaptive` the names that run now.
    TypeError for what has no bytecode, ValueError for bytes that cannot be decoded.
    """
    return Exhibit(bytecode.bytecode(fn, caches, adaptive), bytecode_view)


@whole
def show_rosetta(name: str = "current") -> Exhibit:
    """Set one function's bytecode on Python 3.8, 3.11, 3.12, 3.13 beside the running one's.

    `name`: add, current, shout, total, ordered, guarded or module; ValueError for another.
    """
    return Exhibit(rosetta.rosetta(name), bytecode_view)


@whole
def watch_stack(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its instructions with the real value stack.

    Followed are the functions of the same module; those of others run unseen.
    `watch_stack(machine.run, fn, *args)` shows the stack of a machine of your own instead.
    TypeError if it has no bytecode to run, RuntimeError on a Python whose stack is not read.
    """
    return Exhibit(stack_run.stack_run(fn, *args, **kwargs), stack_view)


@whole
def watch_frames(fn, *args, **kwargs) -> Exhibit:
    """Run `fn(*args, **kwargs)` and step through its calls and returns: its frames at each.

    Followed are the functions of the same module; those of others run unseen.
    TypeError if it is no Python function.
    """
    return Exhibit(frames.frames_timeline(fn, *args, **kwargs), timeline)


@whole
def show_frame(frame) -> Exhibit:
    """List every attribute of a frame. TypeError if it is none."""
    return Exhibit(frames.frame_listing(frame), table)


@whole
def show_frames(most: int = frames.MOST_FRAMES) -> Exhibit:
    """List the caller's frame and those below it, and which have a frame object yet.

    `most`: how many. ValueError for what is no such number.
    """
    return Exhibit(frames.frame_objects(sys._getframe(2), most), table)


@whole
def show_traceback(error: BaseException) -> Exhibit:
    """List the frames that an exception's traceback keeps alive. TypeError if it is none."""
    return Exhibit(frames.traceback_listing(error), table)


@whole
def watch_specialising(
    fn, stages, times: int = bytecode.TIMES, inside=None, changed: bool = False
) -> Exhibit:
    """Run a fresh copy of `fn`, and list what its instructions have become after each stage.

    `stages`: heading -> the arguments of its `times` calls, as a tuple. `inside`: heading -> what
    makes a context manager for the calls of that stage. `changed` leaves out what never changes.
    What `fn` raises is raised.
    """
    return Exhibit(bytecode.specialising(fn, stages, times, inside, changed), table)


@whole
def watch_tracers(fn, *args) -> Exhibit:
    """Time `fn(*args)` under each kind of tracer, in calls without one; `.model.ratio(name)`.

    `fn` is called many times, so an iterator among `args` is refused: TypeError. What it raises is
    raised.
    """
    return Exhibit(costs.tracer_costs(fn, *args), table)
