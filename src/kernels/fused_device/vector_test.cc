// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Wide loads and stores, with every alignment, in memory of the exact size for sanitizers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/fused/fused.h"
#include "kernels/fused_device/launch_testing.h"
#include "kernels/fused_device/vector_access.h"

namespace stoker {
namespace {

struct Freer {
  void operator()(std::byte* p) const { std::free(p); }
};

// Memory that begins `misaligned` bytes behind a multiple of 64.
class Memory {
 public:
  Memory(size_t bytes, int misaligned) : bytes_(bytes) {
    void* p = nullptr;
    if (posix_memalign(&p, 64, bytes + static_cast<size_t>(misaligned)) != 0)
      throw std::bad_alloc();
    owner_.reset(static_cast<std::byte*>(p));
    data_ = owner_.get() + misaligned;
    std::fill(data_, data_ + bytes, std::byte{0xA5});
  }
  std::byte* data() const { return data_; }
  std::vector<std::byte> copy() const { return {data_, data_ + bytes_}; }

 private:
  size_t bytes_;
  std::unique_ptr<std::byte, Freer> owner_;
  std::byte* data_;
};

// A view that is dense but for `gap` bytes behind each position of axis `row_axis`.
View with_gaps(std::byte* data, const TensorType& t, int64_t gap, int row_axis) {
  View v = View::dense(data, t.dtype, t.shape, t.layout);
  for (int a = row_axis; a >= 0; --a)
    v.strides[a] = a == row_axis ? v.strides[a] + gap : v.strides[a + 1] * t.shape[a + 1];
  return v;
}
size_t span_of(const View& v) {
  int64_t last = size_of(v.dtype);
  for (int a = 0; a < v.shape.rank; ++a) last += (v.shape[a] - 1) * v.strides[a];
  return static_cast<size_t>(last);
}

struct Kind {
  DType in, out;
  bool resized, mirrored, planar_in, planar_out, padded;
  std::string str() const {
    return std::string(name_of(in)) + " to " + name_of(out) + (resized ? " resized" : "") +
           (mirrored ? " mirrored" : "") + (planar_in ? " CHW" : " HWC") +
           (planar_out ? " to CHW" : " to HWC") + (padded ? " padded" : "");
  }
};

std::vector<Block> blocks_of(const Kind& k, const TensorType& in, int64_t width) {
  std::vector<Block> blocks;
  const int y = k.planar_in ? 1 : 0, x = y + 1, c = k.planar_in ? 0 : 2;
  const int64_t height = in.shape[y];
  if (k.resized) {
    const ResampleAxis down{
        y, height, 0.25, static_cast<double>(height) - 0.25, Filter::kTriangular, 1.5};
    const ResampleAxis across{x,  width, 0, static_cast<double>(in.shape[x]), Filter::kTriangular,
                              1.5};
    blocks.push_back({Resample{2, {down, across}}, k.in});
  }
  Gather flip = Gather::identity(after(blocks, in).shape);
  if (k.mirrored) flip.axis[x] = {width - 1, -1, width};
  blocks.push_back({flip, k.in});
  if (k.in != k.out || k.resized)
    blocks.push_back({Pointwise{{3, 4, 5}, {0.5f, 0.25f, 0.125f}, {1}}, k.out});
  Store store;
  store.layout = k.planar_out ? "CHW" : "HWC";
  const int planar[] = {c, y, x}, pixels[] = {y, x, c};
  std::copy_n(k.planar_out ? planar : pixels, 3, store.perm);
  if (k.padded) {
    store.pad_axis = k.planar_out ? 0 : 2;
    store.pad_to = 4;
    store.fill = {7};
  }
  blocks.push_back({store, k.out});
  return blocks;
}

// Compares a FusedBatch with run_blocks. The alignments also choose the gaps between rows.
void check(const Kind& k, int in_at, int out_at, int64_t width, std::mt19937& rng) {
  const int64_t in_width = k.resized ? width + width / 3 : width, height = 5;
  TensorType in{k.in, k.planar_in ? "CHW" : "HWC", {height, in_width, 3}};
  if (k.planar_in) in.shape = {3, height, in_width};
  const std::vector<Block> blocks = blocks_of(k, in, width);
  const TensorType out = after(blocks, in);
  View from = with_gaps(nullptr, in, in_at % 5 * size_of(k.in), k.planar_in ? 1 : 0);
  const Memory source(span_of(from), in_at);
  from.data = source.data();
  for (size_t i = 0; i < span_of(from); ++i) source.data()[i] = static_cast<std::byte>(rng() % 60);
  View to = with_gaps(nullptr, out, out_at % 3 * size_of(k.out), k.planar_out ? 1 : 0);
  const Memory got(span_of(to), out_at), want(span_of(to), 0);
  to.data = want.data();
  Arena arena;
  run_blocks(blocks, from, to, arena);
  to.data = got.data();
  FusedBatch batch;
  batch.add(blocks, from, to);
  test::launch_all(batch, rng);
  ASSERT_EQ(got.copy(), want.copy())
      << k.str() << ", width " << width << ", alignments " << in_at << " and " << out_at;
}

constexpr DType kTypes[] = {DType::kUint8,   DType::kInt8,    DType::kUint16,  DType::kInt16,
                            DType::kUint32,  DType::kInt32,   DType::kUint64,  DType::kInt64,
                            DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBool};

std::vector<Kind> kinds_of(DType in, DType out) {
  std::vector<Kind> kinds;
  for (int bits = 0; bits < 32; ++bits)
    kinds.push_back({in, out, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                     (bits & 16) != 0});
  return kinds;
}

// The widths take turns, so that each meets many alignments.
TEST(FusedVectors, EveryAlignment) {
  std::mt19937 rng(1);
  int64_t n = 0;
  const std::pair<DType, DType> pairs[] = {{DType::kUint8, DType::kUint8},
                                           {DType::kUint8, DType::kFloat16},
                                           {DType::kUint8, DType::kFloat32},
                                           {DType::kFloat16, DType::kFloat16},
                                           {DType::kFloat32, DType::kFloat32}};
  for (const auto& [in, out] : pairs)
    for (const Kind& k : kinds_of(in, out))
      for (int in_at = 0; in_at < 16; ++in_at)
        for (int out_at = 0; out_at < 16; ++out_at) {
          check(k, in_at, out_at, 1 + n++ * 7 % 40, rng);
          if (HasFatalFailure()) return;
        }
}

TEST(FusedVectors, EveryWidth) {
  std::mt19937 rng(2);
  int n = 0;
  for (const DType out : {DType::kUint8, DType::kFloat16, DType::kFloat32})
    for (const Kind& k : kinds_of(DType::kUint8, out))
      for (int64_t width = 1; width <= 40; ++width, n += 7) {
        check(k, n % 16, n / 16 % 16, width, rng);
        if (HasFatalFailure()) return;
      }
}

TEST(FusedVectors, EveryType) {
  std::mt19937 rng(3);
  int n = 0;
  for (const DType in : kTypes)
    for (const DType out : kTypes)
      for (const Kind& k : kinds_of(in, out)) {
        check(k, n % 16, n / 16 % 16, 1 + n % 40, rng);
        if (HasFatalFailure()) return;
        n += 5;
      }
}

TEST(VectorAccess, EightBytesOfWhatCanBeRead) {
  for (int at = 0; at < 16; ++at)
    for (int bytes = 1; bytes <= 24; ++bytes) {
      const Memory memory(static_cast<size_t>(bytes), at);
      for (int i = 0; i < bytes; ++i) memory.data()[i] = static_cast<std::byte>(i + 1);
      const std::byte *begin = memory.data(), *end = begin + bytes;
      for (int p = 0; p < bytes; ++p) {
        const uint64_t v = load_eight(begin + p, begin, end);
        for (int k = 0; k < 8 && p + k < bytes; ++k)
          ASSERT_EQ(v >> 8 * k & 0xff, static_cast<uint64_t>(p + k + 1)) << at << " " << p;
      }
    }
}

TEST(VectorAccess, ChunksCoverARunOnce) {
  for (const int size : {1, 2, 4, 8})
    for (int at = 0; at < 16; ++at)
      for (int n = 1; n <= 40; ++n) {
        const int bytes = n * size;
        const Memory from(static_cast<size_t>((bytes + 7) / 8 * 8), 0);
        const Memory to(static_cast<size_t>(bytes), at);
        for (int i = 0; i < bytes; ++i) from.data()[i] = static_cast<std::byte>(i);
        for (int k = chunks_of(bytes); k-- > 0;)
          store_chunk(to.data(), from.data(), bytes, size, k);
        for (int i = 0; i < bytes; ++i)
          ASSERT_EQ(to.data()[i], static_cast<std::byte>(i)) << size << " " << at << " " << n;
      }
}

#ifdef __SANITIZE_ADDRESS__
// The tests above rely on this: UndefinedBehaviorSanitizer stops at a misaligned access.
TEST(VectorAccessDeathTest, MisalignedIsSeen) {
  const Memory memory(32, 0);
  EXPECT_DEATH(load_aligned<uint32_t>(memory.data() + 1), "misaligned");
  EXPECT_DEATH(load_aligned<Vector>(memory.data() + 8), "misaligned");
  EXPECT_DEATH(store_aligned(memory.data() + 4, uint64_t{1}), "misaligned");
}
#endif

}  // namespace
}  // namespace stoker
