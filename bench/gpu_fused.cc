// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the time of a fused pass on a device with that of copying as many bytes. The pass makes
// 224x224 float16 CHW of uint8 pictures (antialiased resize, flip, normalise). Prints a line of
// JSON, without times if the device is simulated.
//
//   bench_gpu_fused [batch] [rounds]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "device/device.h"
#include "kernels/fused_device/batch.h"
#include "kernels/fused_device/launch.h"

namespace {

using namespace stoker;

constexpr int64_t kSize = 224;

ResampleAxis axis(int a, int64_t extent) {
  const double scale = std::max(1.0, static_cast<double>(extent) / kSize);
  const Filter filter = scale > 1 ? Filter::kTriangular : Filter::kLinear;
  return {a, kSize, 0, static_cast<double>(extent), filter, scale};
}

std::vector<Block> blocks(int64_t height, int64_t width, bool mirrored) {
  Resample resize{2, {axis(0, height), axis(1, width)}};
  Gather flip = Gather::identity({kSize, kSize, 3});
  if (mirrored) flip.axis[1] = {kSize - 1, -1, kSize};
  const Pointwise normalise{
      {123.675f, 116.28f, 103.53f}, {1 / 58.395f, 1 / 57.12f, 1 / 57.375f}, {}};
  const Store chw{{2, 0, 1}, "CHW"};
  return {{resize, DType::kUint8},
          {flip, DType::kUint8},
          {normalise, DType::kFloat16},
          {chw, DType::kFloat16}};
}

// The least seconds, over `rounds` calls of `work`, until everything that it enqueued is done.
template <class F>
double fastest(Stream& stream, int rounds, F work) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int r = 0; r < rounds; ++r) {
    stream.synchronize();
    const auto start = Clock::now();
    work();
    stream.synchronize();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

struct Batch {
  std::shared_ptr<Buffer> in, out, tables, scratch;
  FusedBatch fused;
  size_t read = 0, written = 0;  // bytes
};

Batch make_batch(Device& device, Stream& stream, int count) {
  Batch b;
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i) {
    shapes.push_back({static_cast<int64_t>(256 + i * 37 % 200), 256 + i * 53 % 250, 3});
    b.read += static_cast<size_t>(shapes.back().volume());
  }
  b.written = static_cast<size_t>(count * kSize * kSize * 3 * 2);
  b.in = stream.try_acquire(b.read);
  b.out = stream.try_acquire(b.written);
  size_t at = 0;
  for (int i = 0; i < count; ++i) {
    const View in = View::dense(b.in->data() + at, DType::kUint8, shapes[i], "HWC");
    const View out = View::dense(b.out->data() + b.written / count * i, DType::kFloat16,
                                 {3, kSize, kSize}, "CHW");
    b.fused.add(blocks(shapes[i][0], shapes[i][1], i % 2), in, out);
    at += static_cast<size_t>(shapes[i].volume());
  }
  b.fused.finish();
  const size_t tables = b.fused.tables().size();
  b.tables = stream.try_acquire(tables);
  b.scratch = stream.try_acquire(std::max<size_t>(b.fused.scratch_bytes(), 1));
  const auto host = device.try_pin(std::max(b.read, tables));
  for (size_t i = 0; i < b.read; ++i)
    host->data()[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  stream.copy(b.in->data(), host->data(), b.read, Copy::kToDevice, "pictures");
  stream.synchronize();
  std::memcpy(host->data(), b.fused.tables().data(), tables);
  stream.copy(b.tables->data(), host->data(), tables, Copy::kToDevice, "tables");
  stream.synchronize();
  return b;
}

void launch_all(Stream& stream, const Batch& b) {
  for (size_t i = 0; i < b.fused.stages().size(); ++i) {
    const FusedBatch::Stage& s = b.fused.stages()[i];
    launch(stream, b.fused.program(i, b.tables->data(), b.scratch->data()),
           {s.blocks, s.threads, s.shared_bytes}, "fused");
  }
}

int measure(int count, int rounds) {
  constexpr int kTimes = 20;  // launches in a round, so that the time to enqueue one does not count
  Device& device = stoker::device(0);
  const auto stream = device.make_stream("bench");
  const Batch b = make_batch(device, *stream, count);
  // A copy of n bytes reads n and writes n.
  const size_t half = (b.read + b.written) / 2;
  const auto from = stream->try_acquire(half), to = stream->try_acquire(half);
  if (device.kind() == "simulated") {
    launch_all(*stream, b);
    stream->synchronize();
    std::printf("{\"device\": \"%s\", \"batch\": %d, \"runs\": true}\n", device.name().c_str(),
                count);
    return 0;
  }
  const double fused = fastest(*stream, rounds, [&] {
    for (int k = 0; k < kTimes; ++k) launch_all(*stream, b);
  });
  const double copied = fastest(*stream, rounds, [&] {
    for (int k = 0; k < kTimes; ++k)
      stream->copy(to->data(), from->data(), half, Copy::kOnDevice, "copy");
  });
  const double bytes = static_cast<double>(b.read + b.written) * kTimes;
  std::printf(
      "{\"device\": \"%s\", \"batch\": %d, \"fused_us\": %.1f, \"copy_us\": %.1f, "
      "\"fused_gb_per_s\": %.1f, \"copy_gb_per_s\": %.1f, \"fused_of_copy\": %.3f}\n",
      device.name().c_str(), count, fused / kTimes * 1e6, copied / kTimes * 1e6,
      bytes / fused / 1e9, bytes / copied / 1e9, copied / fused);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 ? std::atoi(argv[1]) : 256, argc > 2 ? std::atoi(argv[2]) : 20);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
