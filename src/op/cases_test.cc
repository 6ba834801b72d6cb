// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator's cases, without an engine.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/convert.h"
#include "kernels/fused/fused.h"
#include "op/op.h"

namespace stoker {
namespace {

// A tensor and the memory that it lies in.
struct Tensor {
  TensorType type;
  std::vector<std::byte> bytes;
  View view() { return View::dense(bytes.data(), type.dtype, type.shape, type.layout); }
};

Tensor empty_tensor(const TensorType& t) {
  return {t, std::vector<std::byte>(static_cast<size_t>(t.shape.volume() * size_of(t.dtype)))};
}

// Reads "uint8 HWC [[[1]]]", "float32 0.5" and the arguments of a call.
class Text {
 public:
  explicit Text(std::string_view s) : s_(s) {}

  Tensor tensor() {
    TensorType t;
    t.dtype = dtype_named(word());
    if (std::isupper(peek())) t.layout = word();
    std::vector<double> values;
    list(t.shape, 0, values);
    EXPECT_NE(t.dtype, DType::kNone) << s_;
    Tensor result = empty_tensor(t);
    convert_row(values.data(), DType::kFloat64, result.bytes.data(), t.dtype, t.shape.volume());
    return result;
  }

  Arguments arguments() {
    Arguments a;
    while (peek()) {
      const std::string name = word();
      take('=');
      a[name] = value();
      if (peek() == ',') take(',');
    }
    return a;
  }

 private:
  char peek() {
    while (at_ < s_.size() && s_[at_] == ' ') ++at_;
    return at_ < s_.size() ? s_[at_] : '\0';
  }
  void take(char c) {
    ASSERT_EQ(peek(), c) << s_;
    ++at_;
  }
  std::string word() {
    peek();
    const size_t start = at_;
    while (at_ < s_.size() && (std::isalnum(s_[at_]) || strchr("._+-", s_[at_]))) ++at_;
    EXPECT_GT(at_, start) << s_;
    return std::string(s_.substr(start, at_ - start));
  }
  double number() {
    const std::string w = word();
    return w == "True" ? 1 : w == "False" ? 0 : std::stod(w);
  }
  void list(Shape& shape, int depth, std::vector<double>& values) {
    if (peek() != '[') return values.push_back(number());
    take('[');
    if (shape.rank == depth) shape.push_back(0);
    int64_t count = 0;
    for (; peek() != ']'; ++count) {
      list(shape, depth + 1, values);
      if (peek() == ',') take(',');
    }
    shape[depth] = count;
    take(']');
  }
  Value value() {
    if (peek() == '"') {
      take('"');
      const std::string w = word();
      take('"');
      return w;
    }
    if (peek() == '[') {
      std::vector<double> values;
      Shape shape;
      list(shape, 0, values);
      return values;
    }
    const std::string w = word();
    if (w == "True" || w == "False") return w == "True";
    if (w == "None") return {};
    if (w.starts_with("types.")) return enumerator(w.substr(6));
    return w.find('.') == w.npos ? Value(int64_t{std::stoll(w)}) : Value(std::stod(w));
  }
  // types.UINT8 is "uint8"; other names stay as they are.
  static std::string enumerator(std::string name) {
    if (name == "FLOAT") return "float32";
    std::string small = name;
    for (char& c : small) c = static_cast<char>(std::tolower(c));
    return dtype_named(small) == DType::kNone ? name : small;
  }

  std::string_view s_;
  size_t at_ = 0;
};

TensorType checked(const OperatorType& type, const Operator& op, std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  for (Tensor& t : inputs) types.push_back(t.type);
  std::vector<const char*> names;
  for (const ArgumentInfo& a : type.arguments) names.push_back(a.name.c_str());
  const std::unique_ptr<bool[]> computed(new bool[names.size() + 1]());
  Checker c{types, {computed.get(), names.size()}, names, {}};
  op.check(c);
  EXPECT_EQ(c.outputs.size(), 1u);
  return c.outputs.at(0);
}

Tensor run_lowered(const Operator& op, std::vector<Tensor>& inputs) {
  std::vector<View> values;
  for (Tensor& t : inputs) values.push_back(t.view());
  std::vector<Block> blocks;
  Lowering l(inputs[0].type, values, Chance(1, 2, 3, 4), blocks);
  op.lower(l);
  Tensor out = empty_tensor(l.type());
  Arena arena;
  run_blocks(blocks, inputs[0].view(), out.view(), arena);
  return out;
}

Tensor run_sample(const Operator& op, std::vector<Tensor>& inputs) {
  std::vector<View> values;
  std::vector<TensorType> types, outputs;
  for (Tensor& t : inputs) values.push_back(t.view()), types.push_back(t.type);
  Kept kept;
  Inference i{types, values, outputs, Chance(1, 2, 3, 4), kept};
  op.infer(i);
  const bool infers = !outputs.empty();
  Tensor out = infers ? empty_tensor(outputs[0]) : Tensor{};
  Arena arena;
  View view = infers ? out.view() : View{};
  Run r{values, {&view, 1}, Chance(1, 2, 3, 4), arena, kept};
  op.run_cpu(r);
  if (infers) return out;
  out = empty_tensor({view.dtype, view.layout, view.full});
  std::memcpy(out.view().data, view.data, view.bytes());
  return out;
}

Tensor frame_of(Tensor& t, int64_t f) {
  TensorType type = t.type;
  type.layout = type.layout.str().substr(1);
  type.shape = {};
  for (int a = 1; a < t.type.shape.rank; ++a) type.shape.push_back(t.type.shape[a]);
  Tensor frame = empty_tensor(type);
  std::memcpy(frame.bytes.data(), t.bytes.data() + f * frame.view().bytes(), frame.bytes.size());
  return frame;
}

Tensor run(const OperatorType& type, const Operator& op, std::vector<Tensor> inputs) {
  if (!inputs.empty() && inputs[0].type.layout.str().starts_with('F') &&
      !accepts(type.inputs[0], inputs[0].type.layout)) {
    Tensor all;
    for (int64_t f = 0; f < inputs[0].type.shape[0]; ++f) {
      std::vector<Tensor> frame = inputs;
      frame[0] = frame_of(inputs[0], f);
      const Tensor one = run(type, op, std::move(frame));
      all.type = one.type;
      all.bytes.insert(all.bytes.end(), one.bytes.begin(), one.bytes.end());
    }
    Shape s = {inputs[0].type.shape[0]};
    for (int a = 0; a < all.type.shape.rank; ++a) s.push_back(all.type.shape[a]);
    all.type.shape = s;
    return all;
  }
  const TensorType known = checked(type, op, inputs);
  Tensor out = type.kind == OperatorKind::kLower ? run_lowered(op, inputs) : run_sample(op, inputs);
  EXPECT_EQ(known.dtype, out.type.dtype);
  EXPECT_EQ(known.layout, out.type.layout);
  for (int a = 0; known.shape.rank >= 0 && a < out.type.shape.rank; ++a)
    EXPECT_TRUE(known.shape[a] < 0 || known.shape[a] == out.type.shape[a])
        << known.str() << " but " << out.type.str();
  return out;
}

void check_case(const OperatorType& type, const Case& c) {
  std::vector<Tensor> inputs;
  for (const char* text : c.inputs) inputs.push_back(Text(text).tensor());
  const auto op = type.make(Text(c.call).arguments());
  Tensor out = run(type, *op, std::move(inputs)), expected = Text(c.outputs.at(0)).tensor();
  EXPECT_EQ(out.type.dtype, expected.type.dtype);
  ASSERT_EQ(out.type.shape.str(), expected.type.shape.str());
  for (int64_t i = 0; i < out.type.shape.volume(); ++i)
    EXPECT_EQ(detail::element(out.view(), i), detail::element(expected.view(), i))
        << "element " << i;
}

TEST(Cases, AllOperatorsGiveWhatTheyDocument) {
  for (const OperatorType& type : all_operators()) {
    if (!type.skip_reason.empty()) continue;
    EXPECT_GE(type.cases.size(), 2u) << type.name;
    for (const Case& c : type.cases) {
      SCOPED_TRACE(type.name + "(" + c.call + ")");
      EXPECT_NO_THROW(check_case(type, c));
    }
  }
}

}  // namespace
}  // namespace stoker
