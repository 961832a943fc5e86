"""The traces that TensorFlow makes in a `with` block, of any function -> a ledger of them. All
traces are made by one function of TensorFlow (`_maybe_define_function` of
polymorphic_function/tracing_compilation.py). In the block, a hook reports each trace that has
ended. A trace is a *retrace* if the same code was traced before for the same *owners*: the objects
to which a tf.function belongs, such as the `self` of a method. The *wrapped callables* of a
tf.function are the functions, methods and partials inside it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ...internals import tensorflow_traces
from ...model.phrase import format_count
from ...model.trace_records import (
    HEADINGS,
    MARKS,
    Cause,
    TraceEntry,
    TraceLedger,
    build_trace_entry,
)
from ..text.error import describe_error
from .block_sentences import describe_new_function, describe_other_owners, name_traced_function
from .call_sentences import RAISED_WHILE_TRACING
from .function_owners import Owners, list_codes, list_different_owners, read_owners
from .trace_causes import FIRST, IN_ITSELF, explain_trace
from .trace_words import TypeNames
from .wrapped_callables import list_wrapped_callables

MOST_OWNERS = 200  # the newest tf.functions of one code, with which a new one is compared
OF_TF_DATA = "tensorflow.python.data."  # begins the names of the modules of tf.data


@dataclass(frozen=True, eq=False)
class _TracedFunction:
    """A tf.function whose trace has ended."""

    #: the code objects of its Python functions, kept so that no other code gets their ids
    codes: list
    #: the objects to which the tf.function belongs
    owners: Owners
    #: how many rows the ledger had when the trace ended
    row_count: int


class BlockRecorder:
    """Records the traces that TensorFlow makes in a `with` block, of any function."""

    unit = "trace"  # what a row is

    def __init__(self):
        """Start with no rows. The block of `watching` adds them."""
        self._names = TypeNames()
        self._rows: list[TraceEntry] = []
        self._data_trace_count = 0
        # The ids of code objects -> the tf.functions with this code that have a trace. Ids, because
        # two code objects may be equal although they belong to different functions.
        self._functions_by_codes: dict[tuple[int, ...], list[_TracedFunction]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record each trace in the block. tf.functions traced before it are noted, too."""
        for function in tensorflow_traces.find_traced_functions():
            self._remember(list_wrapped_callables(function.python_function))
        # The number of rows serves as the clock that says when a trace began.
        with tensorflow_traces.report_traces(self._record, lambda: len(self._rows)):
            yield

    @property
    def model(self) -> TraceLedger:
        """Return the ledger of the traces so far, with their counts in a note."""
        entries = tuple(self._rows)
        ledger = TraceLedger("Traced in the block", "function", HEADINGS, entries, marks=MARKS)
        traces = format_count(ledger.traces, "trace")
        note = f"{traces}, {format_count(ledger.retraces, 'retrace')} among them."
        if self._data_trace_count:
            functions = format_count(self._data_trace_count, "function")
            note += f" tf.data traced {functions} for datasets."
        return replace(ledger, note=note)

    def _record(self, trace) -> None:
        """Add the row of one trace. The hook calls this with an EndedTrace after each trace."""
        python_function = trace.python_function
        module = str(getattr(python_function, "__module__", ""))
        if module.startswith(OF_TF_DATA):
            self._data_trace_count += 1  # these are counted, without a row
            return

        callables = list_wrapped_callables(python_function)
        note, causes, nearest_arguments = explain_trace(trace.earlier_keys, trace.key, self._names)
        if trace.in_itself:  # a function that calls itself: the program has not caused a retrace
            note = IN_ITSELF
            causes = ()
            nearest_arguments = ""
        elif not trace.earlier_keys:  # a new tf.function, maybe of code that was traced before
            note, causes = self._explain_first_trace(trace, callables, module)

        _, function_type = trace.key
        arguments = self._names.format_arguments(function_type)
        subject = f"{len(self._rows) + 1}: {name_traced_function(python_function, callables)}"
        if trace.error is not None:
            note = f"{RAISED_WHILE_TRACING}: {describe_error(trace.error)}"
            self._rows.append(build_trace_entry(subject, arguments, "error", note))
            return
        entry = build_trace_entry(
            subject, arguments, "trace", note, traces=1, causes=causes, compared=nearest_arguments
        )
        self._rows.append(entry)
        self._remember(callables)

    def _remember(self, callables: list) -> None:
        """Note that a tf.function with these wrapped callables has a trace.

        It is noted once for each code with the same owners.
        """
        codes = list_codes(callables)
        if not codes:  # all callables are TensorFlow's own
            return
        owners = read_owners(callables)
        functions = self._functions_by_codes.setdefault(_list_ids(codes), [])
        for function in functions[-MOST_OWNERS:]:
            if not list_different_owners(owners, function.owners):
                return
        functions.append(_TracedFunction(codes, owners, len(self._rows)))

    def _explain_first_trace(
        self, trace, callables: list, module: str
    ) -> tuple[str, tuple[Cause, ...]]:
        """Return (note, causes) for the first trace of a tf.function.

        It is a retrace if the same code was traced before for another tf.function with the same
        owners. `callables` are the wrapped callables of the traced function, and `module` is the
        name of the module that defines it.
        """
        functions = self._functions_by_codes.get(_list_ids(list_codes(callables)), [])
        # A trace may begin while another one is under way. Only functions count whose trace had
        # ended before. Times are measured in rows: `began` is the number of rows at the beginning.
        earlier_functions = [
            function for function in functions[-MOST_OWNERS:] if function.row_count <= trace.began
        ]
        if not earlier_functions:
            return FIRST, ()

        owners = read_owners(callables)
        differences = [
            list_different_owners(owners, function.owners) for function in earlier_functions
        ]
        fewest_names = min(differences, key=len)
        if fewest_names:  # no earlier function has the same owners
            return describe_other_owners(fewest_names), ()
        return describe_new_function(callables, module)


def _list_ids(codes: list) -> tuple[int, ...]:
    return tuple(id(code) for code in codes)
