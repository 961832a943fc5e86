"""Chapter 5: a sigmoid op in four files, judged by numpy, torch, slopes and the C++ definition."""

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.compare import Truth, judged, whole
from helpers.study.chapter_5.op_files import file_names
from helpers.study.chapter_5.run_op import loading, texts, train_job_of, wrapper_of, written_job
from helpers.study.check import Exercise

NAME = "user_sigmoid"
FILES = file_names(NAME)
CPP = f"{NAME}_cpp_def.cpp"


_IN_CPP = r"""
#include "oneflow/core/framework/framework.h"

namespace oneflow {
namespace {

Maybe<void> Same(user_op::InferContext* ctx, const char* from, const char* to) {
  *ctx->Shape4ArgNameAndIndex(to, 0) = *ctx->Shape4ArgNameAndIndex(from, 0);
  *ctx->Dtype4ArgNameAndIndex(to, 0) = *ctx->Dtype4ArgNameAndIndex(from, 0);
  return Maybe<void>::Ok();
}

}  // namespace

REGISTER_USER_OP("user_sigmoid_forward")
    .Attr<std::string>("device_sub_tag", "py")
    .Input("in")
    .Output("out")
    .SetTensorDescInferFn([](user_op::InferContext* ctx) { return Same(ctx, "in", "out"); });

REGISTER_USER_OP("user_sigmoid_backward")
    .Attr<std::string>("device_sub_tag", "py")
    .Input("y")
    .Input("dy")
    .Output("dx")
    .SetTensorDescInferFn([](user_op::InferContext* ctx) { return Same(ctx, "dy", "dx"); });

REGISTER_USER_OP_GRAD("user_sigmoid_forward")
    .SetBackwardOpConfGenFn([](user_op::BackwardOpConfContext* ctx) {
      const auto name = ctx->FwOp().op_name() + "_grad";
      ctx->DefineOp(name, [&ctx](user_op::BackwardOpBuilder& builder) {
        return builder.OpTypeName("user_sigmoid_backward")
            .InputBind("y", ctx->FwOp().output("out", 0))
            .InputBind("dy", ctx->FwOp().output_grad("out", 0))
            .Output("dx")
            .Build();
      });
      ctx->FwOp().InputGradBind(user_op::OpArg("in", 0), [&ctx, &name]() -> const std::string& {
        return ctx->GetOp(name).output("dx", 0);
      });
    });

}  // namespace oneflow
"""


def sigmoid_in_cpp() -> str:
    """Return the definition of the op in C++: the file that is given."""
    return _IN_CPP


def _sigmoid(x):
    return (1 / (1 + np.exp(-x)),)


_TRUTH = Truth("sigmoid", _sigmoid, absolute=True, endless_dys=False)


def _judge(answer=None):
    files = texts(answer, FILES) | {CPP: _IN_CPP}
    because = judged(NAME, files, lambda wrapper: whole(wrapper, NAME, _TRUTH))
    if because or not flow.find_compiler():
        return because
    try:
        return _differ(_job(files, "py_def"), _job(files, "cpp_def"))
    except flow.OpError as error:
        return f"with the definition in C++: {error}"


def _job(files, definition: str) -> str:
    with loading(NAME, files, definition) as api:
        return written_job(wrapper_of(api, NAME))


def _differ(own: str, cpp: str) -> str | None:
    for mine, theirs in zip(own.splitlines(), cpp.splitlines(), strict=True):
        if mine != theirs:
            return (
                "with your definition the job says "
                f"{mine.strip()!r}, and with the one in C++ {theirs.strip()!r}"
            )
    return None


SIGMOID = Exercise(
    "sigmoid",
    _judge,
    "Values as numpy's, gradients as torch's and as the numerical ones; where a C++ compiler is "
    "found, the C++ definition gives the same job.",
    (
        "Begin with the files of the ReLU and replace the name everywhere: in the file names, the "
        "op types, the wrapper. Then change the two lines that compute.",
        "The names of inputs and outputs stand in the C++ definition: in and out, y, dy and dx. "
        "InputBind takes the backward op's name first, then a blob of the forward op.",
        "forward: 1 / (1 + np.exp(-x)). Its derivative can be said with y alone: y * (1 - y); "
        "backward multiplies that by dy.",
    ),
    seconds=60,  # a child starts meanwhile, perhaps a compiler, too
    picture=lambda answer: train_job_of(NAME, texts(answer, FILES) | {CPP: _IN_CPP}),
)
