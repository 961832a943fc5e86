"""An op's name, EagerTensors and attributes -> EagerTensors: one eager call, by hand.

Mirrors TFE_Py_ExecuteCancelable of tensorflow/python/eager/pywrap_tfe_src.cc: new op, device,
inputs, attributes, execute, delete.
"""

import ctypes

from helpers.mini.eager.attributes import set_attributes
from helpers.mini.eager.c_api import (
    INT,
    POINTER,
    Status,
    api,
    handle_of,
    live_context,
    tensor_of,
)
from helpers.mini.eager.checks import checked, definition_of
from helpers.mini.eager.defaults import completed


def execute(op_name: str, inputs, attrs: tuple = (), num_outputs: int = 1) -> list:
    """Run one op, or a registered function by its name, and return its outputs.

    `inputs`: one EagerTensor per input of the op, in the order of its definition; a list of them
    where the definition has a list. `attrs`: names and values in turn. It runs on the device that
    `tf.device` asks for. No tape sees it.

    Raises TensorFlow's exceptions with its words; TypeError and ValueError of the guard for what
    would have ended the process.
    """
    inputs = checked(op_name, inputs, attrs, num_outputs)
    if len(attrs) % 2 == 0:
        attrs = completed(definition_of(op_name), inputs, attrs)
    return run(op_name, inputs, attrs, num_outputs)


def run(op_name: str, inputs: list, attrs: tuple, num_outputs: int) -> list:
    """Do the same without asking the guard: a wrong call can end the process."""
    with Status() as status:
        op = api().TFE_NewOp(live_context(), op_name.encode(), status.address)
        status.check()
        try:
            _set_device(op, status)
            _add_inputs(op, inputs, status)
            set_attributes(op, attrs, status)
            handles = _run(op, num_outputs, status)
        except _not_ok() as error:
            raise type(error)(None, None, f"{error.message} [Op:{op_name}]") from None
        finally:
            api().TFE_DeleteOp(op)
    return [tensor_of(handle) for handle in handles]


def _set_device(op, status):
    from tensorflow.python.eager import context

    api().TFE_OpSetDevice(op, (context.context().device_name or "").encode(), status.address)
    status.check()


def _add_inputs(op, inputs, status):
    for given in inputs:
        if isinstance(given, (list, tuple)):
            handles = (POINTER * len(given))(*map(handle_of, given))
            if given:  # of an empty list TensorFlow would look at the first tensor
                api().TFE_OpAddInputList(op, handles, len(given), status.address)
        else:
            api().TFE_OpAddInput(op, handle_of(given), status.address)
        status.check()


def _run(op, num_outputs, status) -> list[int]:
    handles, number = (POINTER * num_outputs)(), INT(num_outputs)
    api().TFE_Execute(op, handles, ctypes.byref(number), status.address)
    status.check()
    return handles[: number.value]


def _not_ok():
    from tensorflow.python.framework import errors

    return errors.OpError
