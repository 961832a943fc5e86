"""flow.global_function: a Python function is run once to write a job down; calls run the job.

Mirrors oneflow/python/framework/function_util.py and, for what a function says of its arrays,
python/framework/typing.py.
"""

import functools
import inspect

from ...safety.arguments import quote_value
from .autodiff import Backward
from .errors import OpError, lookup, need, stage
from .executor import Executor
from .job import Job, Op, Output, Writer, writer, writing
from .registry import checked_spec, is_list
from .session import session
from .user_op_builder import Blob, own


class Numpy:
    """A numpy array; as a return annotation: the call gives back an array."""

    class Placeholder:
        """An array argument of a job: fixed shape, fixed dtype."""

        def __init__(self, shape, dtype="float32"):
            self.spec = checked_spec(shape, dtype, "tp.Numpy.Placeholder(shape, dtype)")


def global_function(type="predict"):
    """Make a job of a function of blobs. `type` is "predict" or "train"."""
    need(not callable(type), "write @flow.global_function() with parentheses")
    need(type in ("predict", "train"), f'type is "predict" or "train", not {quote_value(type)}')

    def make_job(function):
        return JobFunction(function, type)

    return make_job


class JobFunction:
    """A job function. Calling it runs the job on arrays; the first call writes the job down."""

    def __init__(self, function, kind):
        """Read the placeholders of a function; OpError if a parameter has none."""
        functools.update_wrapper(self, function)
        self.function = function
        self.kind = kind
        self.placeholders = {}
        parameters = inspect.signature(function, eval_str=True).parameters
        for name, parameter in parameters.items():
            need(
                isinstance(parameter.annotation, Numpy.Placeholder),
                f'job "{self.__name__}": parameter "{name}" needs an annotation such as '
                "tp.Numpy.Placeholder((5,), dtype=flow.float32)",
            )
            self.placeholders[name] = parameter.annotation
        self._job = None
        self._executor = None
        self._returns_one = None

    @property
    def job(self) -> Job:
        """The job; written down now if it was not yet. Raises OpError."""
        if self._job is None:
            self._write()
        return self._job

    def __call__(self, *arrays):
        """Run the job. Each array has its placeholder's shape and dtype."""
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
        """Run the function once to write its job down, and make the job ready to run."""
        job = Writer(self.__name__, self.kind, session())
        with writing(job):
            blobs = self._add_inputs(job)
            names = self._list_returned(self.function(*blobs))
        self._require_annotated(names)
        if self.kind == "train":
            self._add_training(job)

        watches = self._list_watches(job)
        gradients = tuple(job.gradients.items())
        self._job = Job(job.name, job.kind, tuple(job.ops), tuple(names), gradients)
        self._executor = Executor(self._job, job.session, job.optimizer, watches)

    def _describe(self) -> str:
        return f'job "{self.__name__}"'

    def _add_inputs(self, job) -> list[Blob]:
        """Append an input op for each placeholder; return its blob."""
        blobs = []
        for name, placeholder in self.placeholders.items():
            output = Output("out", f"{name}/out_0", *placeholder.spec)
            job.append(Op(name, "input", (), (output,)))
            blobs.append(Blob(job, output))
        return blobs

    def _list_returned(self, returned) -> list[str]:
        """Return the names of the blobs that the function returned."""
        self._returns_one = isinstance(returned, Blob)
        if is_list(returned):
            blobs = returned
        elif returned is None:
            blobs = []
        else:
            blobs = [returned]
        return [own(blob, f"{self._describe()}: return").name for blob in blobs]

    def _require_annotated(self, names):
        """Raise OpError where the function is annotated to return one array, and does not."""
        if self.function.__annotations__.get("return") is Numpy:
            need(
                self._returns_one,
                f'{self._describe()} is annotated "-> tp.Numpy" and must return one blob; '
                f"it returned {len(names) or None}",
            )

    def _add_training(self, job):
        """Append the backward ops and the updates of a train job."""
        need(
            job.loss is not None,
            f"train {self._describe()} has no loss: "
            "call flow.optimizer.SGD(scheduler).minimize(loss) in it",
        )
        Backward(job).run()
        job.optimizer.append_updates(job)

    def _list_watches(self, job) -> list[tuple]:
        """Return the blob and the handler of each watch; the gradient's blob for watch_diff."""
        watches = []
        for name, of_gradient, handler in job.watches:
            if of_gradient:
                name = lookup(job.gradients, "gradient", name, f"{self._describe()} ")
            watches.append((name, handler))
        return watches


def watch(blob, handler):
    """Call handler(array) with a blob's value in each run."""
    writer().watches.append((own(blob, "watch").name, False, handler))


def watch_diff(blob, handler):
    """Call handler(array) with the gradient of a blob in each run of a train job."""
    writer().watches.append((own(blob, "watch_diff").name, True, handler))
