// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "function.h"

#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "kernels/convert.h"
#include "op/value.h"

namespace stoker::torture {

namespace {

constexpr const char* kCall = "test.call";  // tests/run_operators

// All NaN are alike: Note [What may differ] (run/difference.cc).
uint64_t hash_of(const View& v) {
  uint64_t h = mix(static_cast<uint64_t>(v.dtype), static_cast<uint64_t>(v.shape.rank));
  for (int a = 0; a < v.shape.rank; ++a) h = mix(h, static_cast<uint64_t>(v.shape[a]));
  for (int64_t i = 0; i < v.shape.volume(); ++i) {
    const double x = element(v, i);
    h = mix(h, std::isnan(x) ? 1 : std::bit_cast<uint64_t>(x));
  }
  return h;
}

class Mixes final : public UserFunction {
 public:
  Mixes(DType dtype, int rank, size_t outputs) : dtype_(dtype), rank_(rank), outputs_(outputs) {}

  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) override {
    uint64_t all = static_cast<uint64_t>(count);
    for (const HostBatch& b : inputs)
      for (const View& v : b.samples) all = mix(all, hash_of(v));
    if (all % 32 == 0) throw SampleError("the function fails for these samples");
    std::vector<HostBatch> outputs;
    for (size_t k = 0; k < outputs_; ++k) outputs.push_back(batch(mix(all, k), count));
    return outputs;
  }

 private:
  HostBatch batch(uint64_t chance, int64_t count) const {
    HostBatch b;
    auto owners = std::make_shared<std::vector<std::unique_ptr<std::byte[]>>>();
    for (int64_t s = 0; s < count; ++s) {
      uint64_t h = mix(chance, static_cast<uint64_t>(s));
      Shape shape = Shape::filled(rank_, 0);
      for (int a = 0; a < rank_; ++a) shape[a] = static_cast<int64_t>((h = mix(h)) % 4);
      const auto bytes = static_cast<size_t>(shape.volume() * size_of(dtype_));
      owners->emplace_back(new std::byte[bytes + 1]);
      const View v = View::dense(owners->back().get(), dtype_, shape);
      with_type(dtype_, [&]<class T>(T) {
        for (int64_t i = 0; i < shape.volume(); ++i)
          v.as<T>()[i] = convert<T>(static_cast<int32_t>((h = mix(h)) % 9));
      });
      b.samples.push_back(v);
    }
    b.owner = std::move(owners);
    return b;
  }

  const DType dtype_;
  const int rank_;
  const size_t outputs_;
};

}  // namespace

bool has_function(const OperatorType& type) { return type.name == std::string(kCall); }

// Where an argument is wrong, the node is refused, whatever the function would do.
std::shared_ptr<UserFunction> function_for(const Node& node) {
  const auto number = [&](const char* name, int64_t fallback) {
    const auto it = node.arguments.find(name);
    if (it == node.arguments.end()) return fallback;
    if (const auto* whole = std::get_if<int64_t>(&it->second)) return *whole;
    const auto* share = std::get_if<double>(&it->second);
    return share && std::abs(*share) < 100 ? static_cast<int64_t>(*share) : fallback;
  };
  DType dtype = DType::kInt32;
  if (const auto it = node.arguments.find("dtype"); it != node.arguments.end())
    if (const auto* name = std::get_if<std::string>(&it->second))
      for (int d = 0; d < static_cast<int>(DType::kNone); ++d)
        if (*name == name_of(static_cast<DType>(d))) dtype = static_cast<DType>(d);
  return std::make_shared<Mixes>(dtype, static_cast<int>(number("ndim", 0)),
                                 static_cast<size_t>(number("num_outputs", 1)));
}

}  // namespace stoker::torture
