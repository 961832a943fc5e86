// What an <op>_cpp_def.cpp includes: the names that OneFlow 0.3 has for defining an op, in as few
// lines as they can be had. It is not OneFlow's header. A definition that includes it becomes a
// small program that answers three questions (see main at the end):
//   describe            which ops and gradient rules are registered here?
//   infer N             run the inference function of op N
//   gradient N          run gradient rule N
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

namespace oneflow {

// ---- 1 · Failing: a complaint becomes an exception, and main tells Python ----------------------

struct Failure : std::runtime_error { using std::runtime_error::runtime_error; };
struct Complaint {
  std::string text;
  explicit Complaint(std::string t) : text(std::move(t)) {}
  ~Complaint() noexcept(false) { throw Failure(text); }
  Complaint& operator<<(const std::string& more) { text += more; return *this; }
  Complaint& operator<<(int64_t more) { text += std::to_string(more); return *this; }
};
[[noreturn]] inline void Fail(const std::string& text) { throw Failure(text); }

#define CHECK_OR_RETURN(condition) \
  if (condition) {} else ::oneflow::Complaint("says: Check failed: " #condition " ")
#define CHECK_EQ_OR_RETURN(a, b) CHECK_OR_RETURN((a) == (b))
#define CHECK_GT_OR_RETURN(a, b) CHECK_OR_RETURN((a) > (b))
#define CHECK_LT_OR_RETURN(a, b) CHECK_OR_RETURN((a) < (b))

template<typename T> struct Maybe;
template<> struct Maybe<void> { static Maybe<void> Ok() { return Maybe<void>(); } };

// ---- 2 · Shapes and data types -----------------------------------------------------------------

enum DataType {  // the numbers are the original's
  kInvalidDataType = 0, kChar = 1, kFloat = 2, kDouble = 3, kInt8 = 4, kInt32 = 5, kInt64 = 6,
  kUInt8 = 7, kFloat16 = 9
};

class Shape {
 public:
  Shape() : known_(false) {}
  Shape(std::initializer_list<int64_t> dims) : known_(true), dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : known_(true), dims_(std::move(dims)) {}
  int64_t NumAxes() const { return static_cast<int64_t>(dims_.size()); }
  int64_t At(int64_t axis) const { return dims_.at(axis); }
  void Set(int64_t axis, int64_t size) { dims_.at(axis) = size; }
  int64_t elem_cnt() const { int64_t n = 1; for (int64_t d : dims_) n *= d; return n; }
  bool operator==(const Shape& other) const { return dims_ == other.dims_; }
  bool known() const { return known_; }
  const std::vector<int64_t>& dims() const { return dims_; }
 private:
  bool known_;
  std::vector<int64_t> dims_;
};

namespace user_op {

// ---- 3 · Looking things up by name, and saying what there is instead ----------------------------

using Arg = std::pair<std::string, int32_t>;  // ("in", 0)
struct OpArg : Arg { OpArg(const std::string& name, int32_t index) : Arg(name, index) {} };

inline std::string Quoted(const std::string& name) { return "\"" + name + "\""; }
inline std::string Shown(const Arg& a) {
  return "(" + Quoted(a.first) + ", " + std::to_string(a.second) + ")";
}
inline std::string Shown(const std::string& name) { return Quoted(name); }
inline std::string Named(const Arg& a) { return Quoted(a.first); }
inline std::string Named(const std::string& name) { return Quoted(name); }

// A table that keeps the order in which its entries came.
template<typename K, typename V> struct Table {
  std::vector<K> keys;
  std::map<K, V> values;
  bool Has(const K& key) const { return values.count(key) > 0; }
  V& Add(const K& key, const V& value) {
    if (!Has(key)) keys.push_back(key);
    return values[key] = value;
  }
  V& Find(const K& key, const std::string& what) {
    if (Has(key)) return values[key];
    std::string has;
    for (const K& k : keys) has += (has.empty() ? "" : ", ") + Named(k);
    Fail(what + " " + Shown(key) + "; it has " + (has.empty() ? "nothing" : has));
  }
};

// ---- 4 · Attributes: six of the original's 14 types ---------------------------------------------

struct AttrValue { std::string type, text; };
template<typename T> struct AttrType {
  static_assert(sizeof(T) == 0, "an attr is a bool, int32_t, int64_t, float, double or std::string");
};
#define ATTR_TYPE(T, NAME, PUT, GET) \
  template<> struct AttrType<T> { \
    static AttrValue Put(const T& v) { return {NAME, PUT}; } \
    static T Get(const std::string& s) { return GET; } \
    static const char* Name() { return NAME; } \
  }
inline std::string Digits(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}
ATTR_TYPE(bool, "bool", v ? "1" : "0", s == "1");
ATTR_TYPE(int32_t, "int32", std::to_string(v), std::stoi(s));
ATTR_TYPE(int64_t, "int64", std::to_string(v), std::stoll(s));
ATTR_TYPE(float, "float", Digits(v), std::strtof(s.c_str(), nullptr));
ATTR_TYPE(double, "double", Digits(v), std::strtod(s.c_str(), nullptr));
ATTR_TYPE(std::string, "string", v, s);

using Attrs = Table<std::string, AttrValue>;
template<typename T> T GetAttr(Attrs& attrs, const std::string& name, const std::string& what) {
  const AttrValue& found = attrs.Find(name, what);
  if (found.type != AttrType<T>::Name())
    Fail("asks for attr " + Quoted(name) + " as " + AttrType<T>::Name() + "; it is " + found.type);
  return AttrType<T>::Get(found.text);
}

// ---- 5 · Op definitions -------------------------------------------------------------------------

class TensorDesc {
 public:
  const Shape& shape() const { return shape_; }
  Shape* mut_shape() { return &shape_; }
  DataType data_type() const { return dtype_; }
  DataType* mut_data_type() { return &dtype_; }
 private:
  Shape shape_;
  DataType dtype_ = kInvalidDataType;
};

class InferContext {  // what an inference function gets
 public:
  TensorDesc* TensorDesc4ArgNameAndIndex(const std::string& name, int32_t index) {
    return &descs.Find(Arg(name, index), "has no argument");
  }
  Shape* Shape4ArgNameAndIndex(const std::string& name, int32_t index) {
    return TensorDesc4ArgNameAndIndex(name, index)->mut_shape();
  }
  DataType* Dtype4ArgNameAndIndex(const std::string& name, int32_t index) {
    return TensorDesc4ArgNameAndIndex(name, index)->mut_data_type();
  }
  template<typename T> T Attr(const std::string& name) {
    return GetAttr<T>(attrs, name, "has no attr");
  }
  Table<Arg, TensorDesc> descs;
  Attrs attrs;
};

using InferFn = std::function<Maybe<void>(InferContext*)>;

struct OpRegistry {
  explicit OpRegistry(const std::string& name) : name(name) {}
  std::string name;
  std::vector<std::vector<std::string>> rows;  // what describe answers
  InferFn infer, infer_dtype;
  OpRegistry& Input(const std::string& n) { rows.push_back({"input", n}); return *this; }
  OpRegistry& Output(const std::string& n) { rows.push_back({"output", n}); return *this; }
  template<typename T> OpRegistry& Attr(const std::string& n) {
    rows.push_back({"attr", n, AttrType<T>::Name()});
    return *this;
  }
  template<typename T> OpRegistry& Attr(const std::string& n, const T& value) {
    rows.push_back({"attr", n, AttrType<T>::Name(), AttrType<T>::Put(value).text});
    return *this;
  }
  OpRegistry& SetTensorDescInferFn(InferFn fn) { infer = std::move(fn); return *this; }
  OpRegistry& SetDataTypeInferFn(InferFn fn) { infer_dtype = std::move(fn); return *this; }
};

// ---- 6 · Gradient rules ---------------------------------------------------------------------------

class UserOpConfWrapper {  // a backward op that was built
 public:
  const std::string& op_name() const { return name; }
  const std::string& output(const std::string& n, int32_t i) {
    return outputs.Find(Arg(n, i), "op type " + Quoted(type) + " has no output");
  }
  std::string name, type;
  std::vector<std::pair<std::string, std::string>> inputs;
  Table<Arg, std::string> outputs;
  Attrs attrs;
};

class BackwardOpBuilder {
 public:
  explicit BackwardOpBuilder(const std::string& name) { op_.name = name; }
  BackwardOpBuilder& OpTypeName(const std::string& type) { op_.type = type; return *this; }
  BackwardOpBuilder& InputBind(const std::string& name, const std::string& blob) {
    op_.inputs.push_back({name, blob});
    return *this;
  }
  BackwardOpBuilder& Output(const std::string& name) {
    op_.outputs.Add(Arg(name, 0), op_.name + "/" + name + "_0");
    return *this;
  }
  template<typename T> BackwardOpBuilder& Attr(const std::string& name, const T& value) {
    op_.attrs.Add(name, AttrType<T>::Put(value));
    return *this;
  }
  UserOpConfWrapper Build() { return op_; }
 private:
  UserOpConfWrapper op_;
};

class UserOpWrapper {  // the forward op, as a rule sees it
 public:
  const std::string& op_name() const { return name; }
  const std::string& input(const std::string& n, int32_t i) { return Look(inputs, "input", n, i); }
  const std::string& output(const std::string& n, int32_t i) {
    return Look(outputs, "output", n, i);
  }
  const std::string& output_grad(const std::string& n, int32_t i) {
    return Look(output_grads, "output", n, i);
  }
  template<typename T> T attr(const std::string& n) {
    return GetAttr<T>(attrs, n, "op type " + Quoted(type) + " has no attr");
  }
  bool NeedGenGradTensor4OpInput(const std::string& n, int32_t i) {
    input(n, i);
    return wanted.count(Arg(n, i)) > 0;
  }
  void InputGradBind(const OpArg& arg, const std::function<const std::string&()>& get_blob) {
    if (NeedGenGradTensor4OpInput(arg.first, arg.second)) bound.Add(arg, get_blob());
  }
  std::string name, type;
  Table<Arg, std::string> inputs, outputs, output_grads, bound;
  std::set<Arg> wanted;
  Attrs attrs;
 private:
  const std::string& Look(Table<Arg, std::string>& table, const std::string& kind,
                          const std::string& n, int32_t i) {
    return table.Find(Arg(n, i), "op type " + Quoted(type) + " has no " + kind);
  }
};

class BackwardOpConfContext {  // what a gradient rule gets
 public:
  using BuildFn = std::function<UserOpConfWrapper(BackwardOpBuilder&)>;
  UserOpWrapper& FwOp() { return forward; }
  void DefineOp(const std::string& name, const BuildFn& fn) {
    if (rules.Has(name)) Fail("defines backward op " + Quoted(name) + " twice");
    rules.Add(name, fn);
  }
  UserOpConfWrapper& GetOp(const std::string& name) {  // built when first asked for
    if (built.count(name)) return built[name];
    std::string known;
    for (const std::string& k : rules.keys) known += (known.empty() ? "" : ", ") + Quoted(k);
    if (!rules.Has(name))
      Fail("asks for backward op " + Quoted(name) + "; DefineOp was given "
           + (known.empty() ? "nothing" : known));
    if (!begun.insert(name).second)
      Fail("needs backward op " + Quoted(name) + " to build itself: a cycle");
    BackwardOpBuilder builder(name);
    UserOpConfWrapper op = rules.values[name](builder);
    order.push_back(name);
    return built[name] = op;
  }
  UserOpWrapper forward;
  Table<std::string, BuildFn> rules;
  std::set<std::string> begun;
  std::map<std::string, UserOpConfWrapper> built;
  std::vector<std::string> order;
};

struct OpGradRegistry {
  explicit OpGradRegistry(const std::string& name) : name(name) {}
  std::string name;
  std::function<void(BackwardOpConfContext*)> fn;
  OpGradRegistry& SetBackwardOpConfGenFn(std::function<void(BackwardOpConfContext*)> f) {
    fn = std::move(f);
    return *this;
  }
};

// ---- 7 · The macros: a variable whose initial value is a filled-in registration -------------------

struct Registered {
  std::vector<OpRegistry> ops;
  std::vector<OpGradRegistry> gradients;
};
inline Registered& All() { static Registered all; return all; }
struct Trigger {
  Trigger(const OpRegistry& op) { All().ops.push_back(op); }                 // NOLINT: implicit
  Trigger(const OpGradRegistry& rule) { All().gradients.push_back(rule); }  // NOLINT: implicit
};
#define ONEFLOW_JOIN_(a, b) a##b
#define ONEFLOW_JOIN(a, b) ONEFLOW_JOIN_(a, b)
#define ONEFLOW_REGISTER(kind, name)                                     \
  static ::oneflow::user_op::Trigger ONEFLOW_JOIN(trigger_, __COUNTER__) \
      = ::oneflow::user_op::kind(name)
#define REGISTER_USER_OP(name) ONEFLOW_REGISTER(OpRegistry, name)
#define REGISTER_USER_OP_GRAD(name) ONEFLOW_REGISTER(OpGradRegistry, name)

// ---- 8 · The program: rows of words in, rows of words out -----------------------------------------

using Rows = std::vector<std::vector<std::string>>;

inline Rows ReadRows() {
  Rows rows(1, std::vector<std::string>(1));
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c == '\x1e') rows.push_back(std::vector<std::string>(1));
    else if (c == '\x1f') rows.back().push_back("");
    else rows.back().back() += static_cast<char>(c);
  }
  rows.pop_back();  // what follows the last row's end
  return rows;
}

inline std::string& AnswerFile() { static std::string path; return path; }

// The answer has a file of its own: whatever the definition prints is no part of it.
inline void WriteRows(const Rows& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) text += (i ? "\x1f" : "") + row[i];
    text += '\x1e';
  }
  text += '\x04';
  std::FILE* file = std::fopen(AnswerFile().c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

inline Rows Describe() {
  Rows answer;
  for (OpRegistry& op : All().ops) {
    answer.push_back({"op", op.name, op.infer || op.infer_dtype ? "1" : "0"});
    answer.insert(answer.end(), op.rows.begin(), op.rows.end());
  }
  for (OpGradRegistry& rule : All().gradients)
    answer.push_back({"gradient", rule.name, rule.fn ? "1" : "0"});
  return answer;
}

inline Rows Infer(OpRegistry& op, const Rows& request) {  // input|output name index dtype dims...
  InferContext ctx;
  for (const std::vector<std::string>& row : request) {
    if (row[0] == "attr") { ctx.attrs.Add(row[1], {row[2], row[3]}); continue; }
    TensorDesc desc;
    *desc.mut_data_type() = static_cast<DataType>(std::stoi(row[3]));
    std::vector<int64_t> dims;
    for (size_t i = 4; i < row.size(); ++i) dims.push_back(std::stoll(row[i]));
    if (row[0] == "input") *desc.mut_shape() = Shape(dims);
    ctx.descs.Add(Arg(row[1], std::stoi(row[2])), desc);
  }
  if (op.infer) op.infer(&ctx);
  if (op.infer_dtype) op.infer_dtype(&ctx);
  Rows answer;
  for (const Arg& arg : ctx.descs.keys) {
    TensorDesc& desc = ctx.descs.values[arg];
    answer.push_back({"desc", arg.first, std::to_string(arg.second),
                      std::to_string(desc.data_type()), desc.shape().known() ? "1" : "0"});
    for (int64_t d : desc.shape().dims()) answer.back().push_back(std::to_string(d));
  }
  return answer;
}

inline Rows Gradient(OpGradRegistry& rule, const Rows& request) {
  BackwardOpConfContext ctx;
  for (const std::vector<std::string>& row : request) {
    const std::string& kind = row[0];
    if (kind == "op") { ctx.forward.name = row[1]; ctx.forward.type = row[2]; continue; }
    if (kind == "attr") { ctx.forward.attrs.Add(row[1], {row[2], row[3]}); continue; }
    Arg arg(row[1], std::stoi(row[2]));
    if (kind == "input") ctx.forward.inputs.Add(arg, row[3]);
    if (kind == "output") ctx.forward.outputs.Add(arg, row[3]);
    if (kind == "output_grad") ctx.forward.output_grads.Add(arg, row[3]);
    if (kind == "wanted") ctx.forward.wanted.insert(arg);
  }
  rule.fn(&ctx);
  Rows answer;
  for (const std::string& name : ctx.order) {
    UserOpConfWrapper& op = ctx.built[name];
    answer.push_back({"op", op.name, op.type});
    for (auto& input : op.inputs) answer.push_back({"input", input.first, input.second});
    for (const Arg& arg : op.outputs.keys) answer.push_back({"output", arg.first});
    for (const std::string& attr : op.attrs.keys)
      answer.push_back({"attr", attr, op.attrs.values[attr].type, op.attrs.values[attr].text});
  }
  for (const Arg& arg : ctx.forward.bound.keys)
    answer.push_back({"bound", arg.first, std::to_string(arg.second),
                      ctx.forward.bound.values[arg]});
  return answer;
}

}  // namespace user_op
}  // namespace oneflow

int main(int argc, char** argv) {
  using namespace oneflow::user_op;
  const std::string question = argc > 1 ? argv[1] : "describe";
  const size_t number = argc > 2 ? std::stoul(argv[2]) : 0;
  AnswerFile() = argc > 3 ? argv[3] : "/dev/stdout";
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody is left to hear the answer
#endif
  try {
    if (question == "describe") WriteRows(Describe());
    if (question == "infer") WriteRows(Infer(All().ops.at(number), ReadRows()));
    if (question == "gradient") WriteRows(Gradient(All().gradients.at(number), ReadRows()));
  } catch (const oneflow::Failure& error) {
    WriteRows({{"error", error.what()}});
  } catch (const std::exception& error) {
    WriteRows({{"error", std::string("raised ") + error.what()}});
  } catch (...) {
    WriteRows({{"error", "threw something that is no std::exception"}});
  }
  return 0;
}
