// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator's cases, without an engine.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/fused/fused.h"
#include "op/case_testing.h"
#include "op/op.h"

namespace stoker {
namespace {

using test::empty_tensor;
using test::Tensor;
using test::Text;

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
