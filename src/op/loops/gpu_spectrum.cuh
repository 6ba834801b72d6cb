// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/block_kernel.cuh"
#include "kernels/fft/spectrum.h"
#include "op/gpu_run.h"
#include "op/rules.h"

namespace stoker {

// How many values a signal has, -1 if unknown: the extent of its one axis. Others have the extent
// 1.
inline int64_t signal_length(const Shape& s) {
  int64_t length = s.rank < 0 ? -1 : 1;
  int longer = 0;
  for (int a = 0; a < s.rank; ++a) {
    longer += s[a] >= 0 && s[a] != 1;
    length = length < 0 || s[a] < 0 ? -1 : length * s[a];
  }
  require(s.rank != 0 && longer <= 1, "the input is a signal with one axis, got ", s);
  return length;
}

// One sample of a batch. The thread blocks from `first_block` on do its windows.
struct SpectrumItem {
  Spectrum spectrum;
  float* out;
  int64_t frequency_step, time_step;  // in the output, in values
  int64_t bins, first_block;
};

// A thread block makes one window: it loads it, does the stages, and stores the magnitudes.
struct SpectrumProgram {
  static constexpr int kPhases = kMaxFftStages + 2, kMostThreads = 256, kBlocks = 1;
  const SpectrumItem* items;
  int count;
  FftTables tables;
  FftStage stages[kMaxFftStages];
  int stage_count;
  float* memory;  // 4 n floats for each block, if they do not fit into shared memory; else null

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (items[middle].first_block <= block ? low : high) = middle;
    }
    const SpectrumItem& item = items[low];
    const int64_t t = block - item.first_block, n = tables.n;
    float* both[2];
    both[0] = memory ? memory + block * 4 * n : reinterpret_cast<float*>(shared);
    both[1] = both[0] + 2 * n;
    if (phase == 0) {
      for (int64_t i = thread; i < n; i += threads) {
        both[0][2 * i] = i < item.spectrum.length ? item.spectrum.value(t, i) : 0.0f;
        both[0][2 * i + 1] = 0;
      }
    } else if (phase <= stage_count) {
      const FftStage& stage = stages[phase - 1];
      for (int64_t b = thread; b < stage.count; b += threads)
        fft_butterfly(tables, stage, b, both[(phase - 1) % 2], both[phase % 2]);
    } else if (phase == kPhases - 1) {
      const float* made = both[stage_count % 2];
      for (int64_t k = thread; k < item.bins; k += threads)
        item.out[k * item.frequency_step + t * item.time_step] =
            item.spectrum.magnitude(made[2 * k], made[2 * k + 1]);
    }
  }
};

// run_spectrum() of kernels/fft/spectrum.h from input 0 to output 0 of a batch, in one launch.
inline void run_spectra(GpuRun& r, const WindowedFft& windowed, const SignalWindows& windows) {
  const Fft& fft = windowed.fft;
  const float* weights = r.put(std::span<const float>(windowed.weights));
  constexpr auto kSize = int64_t{sizeof(float)};
  constexpr int64_t kBlockNs = 100;  // a guess, which only the virtual clock uses
  std::vector<SpectrumItem> items;
  int64_t blocks = 0;
  for (const BatchItem& i : r.items) {
    const View& out = i.outputs[0];
    const int frequency = out.layout.find('f');
    items.push_back({windows.spectrum(i.inputs[0], weights), out.as<float>(),
                     out.strides[frequency] / kSize, out.strides[1 - frequency] / kSize,
                     out.shape[frequency], blocks});
    blocks += out.shape[1 - frequency];
  }
  if (blocks == 0) return;
  SpectrumProgram program{};
  program.items = r.put(std::span<const SpectrumItem>(items));
  program.count = static_cast<int>(items.size());
  program.tables = {r.put(std::span<const float>(fft.roots)), fft.n};
  program.stage_count = static_cast<int>(fft.stages.size());
  std::copy(fft.stages.begin(), fft.stages.end(), program.stages);
  size_t shared = 4 * static_cast<size_t>(fft.n) * sizeof(float);
  if (shared > kMaxShared) {
    program.memory = reinterpret_cast<float*>(r.scratch(shared * static_cast<size_t>(blocks)));
    shared = 0;
  }
  launch_blocks(r.stream, program,
                {blocks, SpectrumProgram::kMostThreads, shared, blocks * kBlockNs}, r.name);
}

}  // namespace stoker
