// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator's cases, without an engine.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "kernels/fused/fused.h"
#include "op/case_testing.h"
#include "op/output_names.h"
#include "op/type_of.h"

namespace stoker {
namespace {

using test::empty_tensor;
using test::Tensor;
using test::Text;

std::vector<TensorType> checked(const OperatorType& type, Operator& op,
                                std::vector<Tensor>& inputs) {
  std::vector<TensorType> types;
  for (Tensor& t : inputs) types.push_back(t.type);
  std::vector<const char*> names;
  for (const ArgumentInfo& a : type.arguments) names.push_back(a.name.c_str());
  const std::unique_ptr<bool[]> computed(new bool[names.size() + 1]());
  Checker c{types, {computed.get(), names.size()}, names, {}};
  op.check(c);
  op.prepare();
  return c.outputs;
}

Tensor copy_of(const View& v) {
  Tensor t = empty_tensor(v.whole());
  std::memcpy(t.view().data, v.data, static_cast<size_t>(v.bytes()));
  return t;
}

std::vector<Tensor> run_lowered(const OperatorType& type, const Operator& op,
                                std::vector<Tensor>& inputs) {
  std::vector<View> values, made;
  for (Tensor& t : inputs) values.push_back(t.view());
  if (type.is_merge && element(values[2], 0) == 0) std::swap(inputs[0], inputs[1]);
  std::vector<Block> blocks;
  Arena arena;
  Lowering l(inputs[0].type, values, Chance(1, 2, 3, 4), blocks, made, arena);
  type.lowers->lower(op, l);
  std::vector<Tensor> outputs = {empty_tensor(l.type())};
  for (const View& v : made) outputs.push_back(copy_of(v));
  run_blocks(blocks, inputs[0].view(), outputs[0].view(), arena);
  return outputs;
}

std::vector<Tensor> run_sample(const OperatorType& type, const Operator& op,
                               std::vector<Tensor>& inputs, size_t count) {
  std::vector<View> values, views(count);
  std::vector<TensorType> types, inferred;
  for (Tensor& t : inputs) values.push_back(t.view()), types.push_back(t.type);
  Kept kept;
  Inference i{types, values, inferred, Chance(1, 2, 3, 4), kept};
  if (type.runs->infer) type.runs->infer(op, i);
  std::vector<Tensor> outputs;
  for (const TensorType& t : inferred) outputs.push_back(empty_tensor(t));
  for (size_t k = 0; k < outputs.size(); ++k) views[k] = outputs[k].view();
  Arena arena;
  Run r{values, views, Chance(1, 2, 3, 4), arena, kept};
  type.runs->run(op, r);
  if (outputs.empty())
    for (const View& v : views) outputs.push_back(copy_of(v));
  return outputs;
}

std::vector<Tensor> run_batch(const OperatorType& type, const Operator& op,
                              std::vector<Tensor>& inputs) {
  const std::array<const Operator*, 1> ops = {&op};
  const Chance chance(1, 2, 3, 4);
  BatchInference::Item item{.inputs = {}, .values = {}, .chance = chance};
  BatchItem work{.inputs = {}, .outputs = {}, .chance = chance};
  for (Tensor& t : inputs) {
    item.inputs.push_back(t.type);
    item.values.push_back(t.view());
    work.inputs.push_back(t.view());
  }
  BatchInference inference{{&item, 1}};
  type.runs_on_batch->infer(ops, inference);
  std::vector<Tensor> outputs;
  for (const TensorType& t : item.outputs) outputs.push_back(empty_tensor(t));
  for (Tensor& t : outputs) work.outputs.push_back(t.view());
  Arena arena;
  BatchRun r{{&work, 1}, arena};
  type.runs_on_batch->run(ops, r);
  return outputs;
}

Tensor frame_of(Tensor& t, int64_t f) { return copy_of(t.view().frame(f)); }

// Makes sequences of the outputs of frames, except for those that belong to the sample.
std::vector<Tensor> join_frames(const OperatorType& type, std::vector<std::vector<Tensor>> frames) {
  std::vector<Tensor> all = frames.at(0);
  for (size_t k = 0; k < all.size(); ++k) {
    if (k > 0 && type.lowers) continue;
    all[k].bytes.clear();
    for (const std::vector<Tensor>& f : frames)
      all[k].bytes.insert(all[k].bytes.end(), f[k].bytes.begin(), f[k].bytes.end());
    all[k].type = sequence_type(all[k].type, static_cast<int64_t>(frames.size()));
  }
  return all;
}

std::vector<Tensor> run(const OperatorType& type, Operator& op, std::vector<Tensor> inputs) {
  if (!inputs.empty() && inputs[0].type.layout.str().starts_with('F') &&
      !accepts(type.inputs[0], inputs[0].type.layout)) {
    std::vector<std::vector<Tensor>> frames;
    for (int64_t f = 0; f < inputs[0].type.shape[0]; ++f) {
      std::vector<Tensor> frame = inputs;
      frame[0] = frame_of(inputs[0], f);
      frames.push_back(run(type, op, std::move(frame)));
    }
    return join_frames(type, std::move(frames));
  }
  const std::vector<TensorType> known = checked(type, op, inputs);
  std::vector<TensorType> types;
  for (const Tensor& t : inputs) types.push_back(t.type);
  std::vector<Tensor> outputs = type.sees_batch(op, types) ? run_batch(type, op, inputs)
                                : type.lowers ? run_lowered(type, op, inputs)
                                              : run_sample(type, op, inputs, known.size());
  EXPECT_EQ(known.size(), outputs.size());
  for (size_t k = 0; k < known.size(); ++k) {
    const TensorType& found = outputs.at(k).type;
    EXPECT_EQ(known[k].dtype, found.dtype);
    EXPECT_EQ(known[k].layout, found.layout);
    for (int a = 0; known[k].shape.rank >= 0 && a < found.shape.rank; ++a)
      EXPECT_TRUE(known[k].shape[a] < 0 || known[k].shape[a] == found.shape[a])
          << known[k].str() << " but " << found.str();
  }
  return outputs;
}

void check_case(const OperatorType& type, const Case& c) {
  std::vector<Tensor> inputs;
  for (const char* text : c.inputs) inputs.push_back(Text(text).tensor());
  const Arguments arguments = Text(c.call).arguments();
  const auto op = type.make(arguments);
  std::vector<Tensor> outputs = run(type, *op, std::move(inputs));
  const auto has_input = [&](size_t i) { return i < c.inputs.size(); };
  ASSERT_EQ(outputs.size(), output_names(type, arguments, has_input).size());
  ASSERT_EQ(outputs.size(), c.outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    Tensor expected = Text(c.outputs[k]).tensor();
    EXPECT_EQ(outputs[k].type.dtype, expected.type.dtype);
    ASSERT_EQ(outputs[k].type.shape.str(), expected.type.shape.str());
    for (int64_t i = 0; i < expected.type.shape.volume(); ++i) {
      const double got = element(outputs[k].view(), i);
      const double want = element(expected.view(), i);
      EXPECT_TRUE(got == want || (got != got && want != want))
          << "output " << k << ", element " << i << ": " << got << ", expected " << want;
    }
  }
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
