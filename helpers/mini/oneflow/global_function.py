"""flow.global_function: a Python function is run once to write a job down; calls run the job.

Mirrors oneflow/python/framework/function_util.py and, for what a function says of its arrays,
python/framework/typing.py.
"""

import functools
import inspect

from ...safety.arguments import quote_value
from .autodiff import Backward
from .errors import lookup, need, stage
from .job import Job, Op, Output, Writer, writer, writing
from .kernels import Executor
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
    return lambda function: JobFunction(function, type)


class JobFunction:
    """A job function. Calling it runs the job on arrays; the first call writes the job down."""

    def __init__(self, function, kind):
        functools.update_wrapper(self, function)
        self.function, self.kind, self.placeholders = function, kind, {}
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            what = f'job "{self.__name__}": parameter "{name}" needs an annotation such as '
            fine = isinstance(parameter.annotation, Numpy.Placeholder)
            need(fine, f"{what}tp.Numpy.Placeholder((5,), dtype=flow.float32)")
            self.placeholders[name] = parameter.annotation
        self._job = self._executor = self._single = None

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
        told = f'job "{self.__name__}" takes {count} array(s) ({", ".join(self.placeholders)})'
        with stage("run"):
            need(len(arrays) == count, f"{told}, got {len(arrays)}")
            results = self._executor(arrays)
        return results[0] if self._single else tuple(results) if results else None

    @stage("build")
    def _write(self):
        what, job = f'job "{self.__name__}"', Writer(self.__name__, self.kind, session())
        with writing(job):
            blobs = []
            for name, placeholder in self.placeholders.items():
                output = Output("out", f"{name}/out_0", *placeholder.spec)
                job.append(Op(name, "input", (), (output,)))
                blobs.append(Blob(job, output))
            returned = self.function(*blobs)
            self._single = isinstance(returned, Blob)
            several = returned if is_list(returned) else [] if returned is None else [returned]
            names = [own(blob, f"{what}: return").name for blob in several]
        if self.function.__annotations__.get("return") is Numpy:
            told = f'{what} is annotated "-> tp.Numpy" and must return one blob'
            need(self._single, f"{told}; it returned {len(names) or None}")
        if self.kind == "train":
            advice = "call flow.optimizer.SGD(scheduler).minimize(loss) in it"
            need(job.loss is not None, f"train {what} has no loss: {advice}")
            Backward(job).run()
            job.optimizer.append_updates(job)
        watches = [
            (lookup(job.gradients, "gradient", name, f"{what} ") if diff else name, handler)
            for name, diff, handler in job.watches
        ]
        gradients = tuple(job.gradients.items())
        self._job = Job(job.name, job.kind, tuple(job.ops), tuple(names), gradients)
        self._executor = Executor(self._job, job.session, job.optimizer, watches)


def watch(blob, handler):
    """Call handler(array) with a blob's value in each run."""
    writer().watches.append((own(blob, "watch").name, False, handler))


def watch_diff(blob, handler):
    """Call handler(array) with the gradient of a blob in each run of a train job."""
    writer().watches.append((own(blob, "watch_diff").name, True, handler))
