"""A kernel -> the same, which says in one sentence what of the course is missing.

`import helpers` switches this on. An error that `missing_parts` knows is shown as its sentence;
every other as before. After a cell that imports a framework in another version, that is said once;
after one that was interrupted while it imported PyTorch, no other imports it.
"""

import linecache
import sys
from contextlib import suppress
from traceback import walk_tb

from helpers.safety import missing_parts

_TOLD: set[str] = set()


def switch_on() -> None:
    """Tell this process's IPython, unless there is none, or it has somebody for its errors."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), show_error)
        shell.events.register("post_run_cell", tell_versions)
        shell.events.register("post_run_cell", refuse_a_second_import)


def show_error(shell, kind, error, trace, tb_offset=None) -> None:
    """Show what a cell raised: without its frames where a sentence says it all."""
    with suppress(Exception):  # a slot for what IPython shows, where the error has one
        if words := missing_parts.sentence(error):
            error._render_traceback_ = lambda: [words]
            missing_parts.remember(_source(trace, shell.user_global_ns), words)
    given = kind, error, trace
    shell.showtraceback(given, tb_offset=tb_offset, running_compiled_code=True)


def _source(trace, space: dict) -> str:
    """Return the source of the cell whose frame is the first of its kind in a traceback."""
    frames = (frame for frame, _ in walk_tb(trace))
    cell = next(one for one in frames if one.f_globals is space)
    return "".join(linecache.getlines(cell.f_code.co_filename))


def refuse_a_second_import(result) -> None:
    """See that a kernel whose import of PyTorch was interrupted does not die of the next one."""
    missing_parts.refuse_a_second_import()


def tell_versions(result) -> None:
    """Print a sentence for each framework that is imported in another version than the pinned."""
    for part in missing_parts.FRAMEWORKS:
        if part in sys.modules and part not in _TOLD:
            _TOLD.add(part)
            with suppress(Exception):
                if words := missing_parts.differs(part):
                    print(words)
