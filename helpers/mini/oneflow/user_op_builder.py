"""flow.user_op_builder: the chain that a wrapper uses to put an op into the job.

Mirrors oneflow/python/ops/user_op_builder.py.
"""

from helpers.mini.oneflow.backward_op_conf import Request
from helpers.mini.oneflow.blobs import Blob, own
from helpers.mini.oneflow.dtypes import is_list
from helpers.mini.oneflow.errors import need, shown, stage
from helpers.mini.oneflow.job_builder import PLACED, writer
from helpers.safety.arguments import is_a


class user_op_builder:  # noqa: N801 - the original's name
    """An op under construction; its name must be new in the job."""

    def __init__(self, op_name):
        with stage("build"):
            self._job = writer()
            fine = type(op_name) is str and op_name and "/" not in op_name
            need(fine, f"user_op_builder takes the op's name in the job, got {shown(op_name)}")
        self._request = Request(op_name)

    def Op(self, op_type_name):
        """Say which op type it is."""
        self._request.type = op_type_name
        return self

    def Input(self, input_name, input_blobs):
        """Give an input its blob, in a list."""
        with stage("build"):
            need(type(input_name) is str, f"an input's name is text, got {shown(input_name)}")
            given = "x" if is_a(input_blobs, Blob) else shown(input_blobs)
            what = f'op "{self._request.name}": .Input("{input_name}", ...)'
            a_list = is_list(input_blobs)
            need(a_list, f"{what} takes a list of blobs: write [x], not {given}")
            blobs = [own(blob, what) for blob in input_blobs]
            need(blobs, f"{what} got an empty list: write [x]")
        self._request.inputs += [(input_name, blob.name) for blob in blobs]
        return self

    def Output(self, output_name, num=1):
        """Name an output."""
        need(
            type(num) is int and num == 1,
            f'op "{self._request.name}": .Output takes one blob here, got num={shown(num)}',
        )
        self._request.outputs.append(output_name)
        return self

    def Attr(self, attr_name, attr_value, attr_type_name=None):
        """Set an attribute; the definition knows its type."""
        need(type(attr_name) is str, f"an attr's name is text, got {shown(attr_name)}")
        self._request.attrs[attr_name] = attr_value
        return self

    def Build(self):
        """Hold the op against its definition; return a UserOp."""
        request, job = self._request, self._job
        asked = list(request.outputs)
        with stage("build"):
            job.definition(request, f'op "{request.name}" of job "{job.name}"', PLACED.get())
        return UserOp(job, request, asked, PLACED.get())


class UserOp:
    """An op that fits its definition. InferAndTryRun() puts it into the job."""

    def __init__(self, job, request, asked, placement):
        self._job, self._request, self._asked = job, request, asked
        self._placement, self._blobs = placement, None

    def InferAndTryRun(self):
        """Infer the outputs and append the op to the job."""
        added = self._job.add(self._request, placement=self._placement)
        by_name = {output.argument: Blob(self._job, output) for output in added}
        self._blobs = tuple(by_name[name] for name in self._asked)
        return self

    def RemoteBlobList(self):
        """Return the outputs, a tuple in the order of the .Output() calls."""
        with stage("build"):
            need(
                self._blobs is not None,
                f'op "{self._request.name}" is not in the job yet: call .InferAndTryRun() first',
            )
        return self._blobs

    def SoleOutputBlob(self):
        """Return the only output."""
        blobs = self.RemoteBlobList()
        with stage("build"):
            need(
                len(blobs) == 1,
                f'op "{self._request.name}" has {len(blobs)} outputs; use .RemoteBlobList()',
            )
        return blobs[0]
