"""The guards that Dynamo or the mini-Dynamo makes for one call of a function, to be asked again.

A guard is a condition on the arguments, such as that `x` has three elements. Compiled code is used
again only for calls that pass all its guards. The mini-Dynamo is the small compiler of this course.
"""

import inspect
from collections.abc import Callable

from ...internals import dynamo_codes
from ...mini.frame_hook import check_c_stack
from ...safety.restoring import running_user_code
from ..cpython.objects import read_function_name
from ..text.error import describe_error
from .cache_entries import read_cache_entries
from .compiled_function import compile_copy, copy_function, find_compiled_function
from .frame_arguments import bind_arguments, bind_frame_locals
from .guard_failures import find_first_failure


class DynamoGuards:
    """The guards that Dynamo compiles for one call of a function."""

    def __init__(self, fn: Callable, *args, **kwargs):
        """Compile a copy of `fn`, and call it once with these arguments.

        ValueError if the call raises; LookupError if Dynamo compiles nothing for it.
        """
        original, _ = find_compiled_function(fn)
        self.function = copy_function(original)
        #: the arguments of the first call, by name
        self.first_arguments = bind_arguments(self.function, args, kwargs)
        #: `compiled` is what is called. `start` is the function that Dynamo starts with: the copy,
        #: or torch's own wrapper around it.
        self.compiled, self.start = compile_copy(self.function, backend="eager")

        name = read_function_name(self.function)
        # Dynamo remembers sizes that varied in earlier calls, and compiles for any size then. With
        # an empty record of sizes, it compiles for the sizes of this call.
        # In the first block, a deep recursion raises an error instead of crashing the process.
        with check_c_stack(), dynamo_codes.use_own_sizes(self.start.__code__, {}):
            _make_first_call(self.compiled, args, kwargs, f"the first call of {name}()")
        entries = read_cache_entries(self.start.__code__)
        if len(entries) != 1:
            raise LookupError(f"Dynamo compiles nothing for this call of {name}()")
        self.entry = entries[0]

    def __call__(self, /, *args, **kwargs) -> bool:
        """Return whether the guards hold for these arguments."""
        return self.find_failing_guard(*args, **kwargs) is None

    def find_failing_guard(self, /, *args, **kwargs):
        """Return the first guard that these arguments fail, or None."""
        frame_locals = self.bind_locals(*args, **kwargs)
        return find_first_failure(1, self.entry, self.start, frame_locals)

    def bind_locals(self, /, *args, **kwargs) -> dict:
        """Return the locals on which the guards are checked, by name, for a call of `fn`."""
        if self.start is self.function:
            return bind_frame_locals(self.function, args, kwargs)
        # Torch's wrapper is `inner(*args, **kwargs)`, and its guards look at `args[0]`. So an
        # argument that is passed by name must be moved to its position.
        signature = inspect.signature(self.function, follow_wrapped=False)
        bound = signature.bind(*args, **kwargs)
        return bind_frame_locals(self.start, bound.args, bound.kwargs)


class MiniDynamoGuards:
    """The guards that the mini-Dynamo compiles for one call of a function."""

    def __init__(self, fn: Callable, *args, **kwargs):
        """Compile a copy of `fn`, and call it once with these arguments.

        ValueError if the call raises. LookupError if the mini-Dynamo compiles nothing, or makes
        several guard sets because the function has graph breaks.
        """
        from ...mini import dynamo

        original, _ = find_compiled_function(fn)
        self.compiled = dynamo.compile(copy_function(original))
        _make_first_call(
            self.compiled, args, kwargs, "the first call, compiled by the mini-Dynamo,"
        )
        # why it compiled nothing, or the reasons of its graph breaks; "" if all went well
        reason = self.compiled.why or "; ".join(self.compiled.breaks)
        if reason:
            raise LookupError(f"the mini-Dynamo has no single guard set for this call: {reason}")

    def find_failing_guard(self, /, *args, **kwargs) -> str | None:
        """Return the text of the first guard that these arguments fail, or None."""
        arguments = bind_arguments(self.compiled.fn, args, kwargs)
        failed = self.compiled.entries[0].first_failing(tuple(arguments.values()))
        return None if failed is None else f"not {failed.text}"


def _make_first_call(compiled: Callable, args: tuple, kwargs: dict, subject: str) -> None:
    """Call a compiled function; ValueError if the call raises.

    `subject` begins the message, such as `the first call of step()`.
    """
    try:
        with running_user_code():
            compiled(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well, because the call did not succeed
        message = f"{subject} must succeed, and it raised {describe_error(error)}"
        raise ValueError(message) from None
