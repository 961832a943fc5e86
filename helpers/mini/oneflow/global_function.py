"""flow.global_function: a decorator that makes a job of a Python function. The function runs once,
with *blobs* instead of arrays, and each op that it calls is appended to the job. A blob is a named
array of the job that has no numbers yet. Each call of the decorated function runs the job on numpy
arrays.

Mirrors oneflow/python/framework/function_util.py and, for the annotations of parameters,
python/framework/typing.py.
"""

import functools
import inspect

from ...safety.arguments import quote_value
from .autodiff import Backward
from .errors import OpError, get_by_name, require, stage
from .executor import Executor
from .job import Job, Op, Output, Writer, current_writer, set_current_writer
from .registry import is_plain_list, make_spec
from .session import session
from .user_op_builder import Blob, require_blob_of_job


class Numpy:
    """As a return annotation, `-> Numpy` says that the job returns one array."""

    class Placeholder:
        """The annotation of a parameter: an array of a fixed shape and dtype."""

        def __init__(self, shape, dtype="float32"):
            self.spec = make_spec(shape, dtype, "tp.Numpy.Placeholder(shape, dtype)")


def global_function(type="predict"):
    """Return a decorator that makes a job of a function. `type` is "predict" or "train"."""
    require(not callable(type), "write @flow.global_function() with parentheses")
    require(type in ("predict", "train"), f'type is "predict" or "train", not {quote_value(type)}')

    def make_job(function):
        return JobFunction(function, type)

    return make_job


class JobFunction:
    """A decorated function. A call runs the job on arrays; the first call also makes the job."""

    def __init__(self, function, kind):
        """Read the placeholders of a function; OpError if a parameter has none."""
        functools.update_wrapper(self, function)
        self.function = function
        self.kind = kind
        self.placeholders = {}  # parameter's name -> Placeholder
        parameters = inspect.signature(function, eval_str=True).parameters
        for name, parameter in parameters.items():
            require(
                isinstance(parameter.annotation, Numpy.Placeholder),
                f'job "{self.__name__}": parameter "{name}" needs an annotation such as '
                "tp.Numpy.Placeholder((5,), dtype=flow.float32)",
            )
            self.placeholders[name] = parameter.annotation
        self._job = None  # set by `_write`, as are the next two
        self._executor = None
        self._returns_one = None  # whether the function returned one blob, not a list of them

    @property
    def job(self) -> Job:
        """The job. It is made now if there was no call yet, which may raise OpError."""
        if self._job is None:
            self._write()
        return self._job

    def __call__(self, *arrays):
        """Run the job on arrays with the shapes and dtypes of the placeholders.

        Return one array, or a tuple of them, or None, as the function returned one blob, a list or
        nothing.
        """
        if self._executor is None:
            self._write()
        count = len(self.placeholders)
        with stage("run"):
            if len(arrays) != count:
                names = ", ".join(self.placeholders)
                raise OpError(
                    f'job "{self.__name__}" takes {count} array(s) ({names}), got {len(arrays)}'
                )
            results = self._executor(arrays)
        if self._returns_one:
            return results[0]
        return tuple(results) if results else None

    @stage("build")
    def _write(self):
        """Run the function once to make the job, and an Executor that runs the job."""
        job = Writer(self.__name__, self.kind, session())
        with set_current_writer(job):
            blobs = self._add_inputs(job)
            names = self._list_returned(self.function(*blobs))
        self._require_one_if_annotated(names)
        if self.kind == "train":
            self._add_training(job)

        watches = self._list_watches(job)
        gradients = tuple(job.gradients.items())
        self._job = Job(job.name, job.kind, tuple(job.ops), tuple(names), gradients)
        self._executor = Executor(self._job, job.session, job.optimizer, watches)

    def _describe(self) -> str:
        return f'job "{self.__name__}"'

    def _add_inputs(self, job) -> list[Blob]:
        """Append an input op for each placeholder; return their blobs in order."""
        blobs = []
        for name, placeholder in self.placeholders.items():
            output = Output("out", f"{name}/out_0", *placeholder.spec)
            job.append(Op(name, "input", (), (output,)))
            blobs.append(Blob(job, output))
        return blobs

    def _list_returned(self, returned) -> list[str]:
        """Return the names of the blobs that the function returned: one, a list, or None."""
        self._returns_one = isinstance(returned, Blob)
        if is_plain_list(returned):
            blobs = returned
        elif returned is None:
            blobs = []
        else:
            blobs = [returned]
        return [require_blob_of_job(blob, f"{self._describe()}: return").name for blob in blobs]

    def _require_one_if_annotated(self, names):
        """Raise OpError if the function is annotated `-> Numpy` but did not return one blob."""
        if self.function.__annotations__.get("return") is Numpy:
            require(
                self._returns_one,
                f'{self._describe()} is annotated "-> tp.Numpy" and must return one blob; '
                f"it returned {len(names) or None}",
            )

    def _add_training(self, job):
        """Append the backward ops and the updates of a train job; OpError if it has no loss."""
        require(
            job.loss is not None,
            f"train {self._describe()} has no loss: "
            "call flow.optimizer.SGD(scheduler).minimize(loss) in it",
        )
        Backward(job).run()
        job.optimizer.append_updates(job)

    def _list_watches(self, job) -> list[tuple]:
        """Return (blob's name, handler) for each `watch` and `watch_diff` of the function.

        For `watch_diff`, the blob is that of the gradient.
        """
        watches = []
        for name, is_of_gradient, handler in job.watches:
            if is_of_gradient:
                name = get_by_name(job.gradients, "gradient", name, f"{self._describe()} ")
            watches.append((name, handler))
        return watches


def watch(blob, handler):
    """Call handler(array) with a blob's value in each run."""
    current_writer().watches.append((require_blob_of_job(blob, "watch").name, False, handler))


def watch_diff(blob, handler):
    """Call handler(array) with the gradient of a blob in each run of a train job."""
    current_writer().watches.append((require_blob_of_job(blob, "watch_diff").name, True, handler))
