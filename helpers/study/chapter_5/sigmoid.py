"""Chapter 5: a sigmoid op in four files, judged by torch and by the definition in C++."""

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.op_texts import file_names
from helpers.study.chapter_5.op_trial import judge_op
from helpers.study.chapter_5.run_op import texts, train_job_of
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


def _judge(answer=None):
    files = texts(answer, FILES) | {CPP: _IN_CPP}
    because = judge_op(NAME, files, lambda x: (x.sigmoid(),), endless_dys=False)
    if because or not flow.find_compiler():
        return because
    try:
        own, cpp = (train_job_of(NAME, files, way, _text) for way in ("py_def", "cpp_def"))
    except flow.OpError as error:
        return f"with the definition in C++: {error}"
    for mine, theirs in zip(own.splitlines(), cpp.splitlines(), strict=True):
        if mine != theirs:
            return f"with your definition the job says {mine!r}, and with the one in C++ {theirs!r}"
    return None


def _text(job) -> str:
    return str(job.job)


SIGMOID = Exercise(
    "sigmoid",
    _judge,
    "Values and gradients as torch's; where a C++ compiler is found, the C++ definition gives "
    "the same job.",
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
