// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the block programs that run a batch's samples, each of which has blocks of its own.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "base/view.h"
#include "kernels/fused_device/program.h"
#include "memory/arena.h"

namespace stoker {

class Target;

// Use: add() every sample, call finish(), copy tables() to the device and allocate scratch_bytes()
// there. Then launch stage 0, 1, ... A stage is one pass of all samples, and usually there is just
// one. The data of views are device pointers, which are not followed here.
class FusedBatch {
 public:
  struct Stage {
    int64_t blocks = 0;
    int threads = FusedProgram::kMostThreads;
    size_t shared_bytes = 0;
  };

  // Requires and throws the same as run_blocks.
  void add(std::span<const Block> blocks, const View& in, const View& out);
  void finish();

  std::span<const std::byte> tables() const { return tables_; }
  size_t scratch_bytes() const { return scratch_; }
  const std::vector<Stage>& stages() const { return stages_; }
  // Requires: `tables` is a copy of tables(), aligned to 16 bytes.
  FusedProgram program(size_t stage, const std::byte* tables, std::byte* scratch) const;

 private:
  struct StageTables {
    std::vector<FusedTask> tasks;
    std::vector<FusedTile> tiles;
    int64_t tasks_at = 0, tiles_at = 0;
  };

  void add_pass(size_t stage, const Pass& pass, const View& in, bool in_scratch, const View& out,
                bool out_scratch);
  void set_axes(FusedTask& task, const Pass& pass, const Strided& in, const View& out,
                const Target& target);
  void set_warp(FusedTask& task, const Pass& pass, const Strided& in, const View& out,
                const Target& target);
  template <class W>
  void set_taps(FusedTask& task, const Pass& pass, const Strided& in, const View& out,
                const Target& target);
  void set_values(FusedTask& task, const Target& target);
  void add_tiles(size_t stage, const FusedTask& task);
  void add_rows(size_t stage, const FusedTask& task, int64_t rows, FusedTile tile);
  FusedTile tile_of(const FusedTask& task, int64_t begin, int64_t end) const;
  void set_mix(FusedTask& task, const Pass& pass, const View& out, const Target& target);
  int64_t put_steps(const Target& target);
  int64_t put(const void* bytes, size_t size);

  Arena arena_;
  std::vector<std::byte> tables_;
  // The lists that were put, by address, and their owners, so that no other gets this address.
  std::map<const std::byte*, int64_t> lists_;
  std::vector<std::shared_ptr<const TableLists>> owners_;
  std::vector<StageTables> work_;
  std::vector<Stage> stages_;
  size_t scratch_ = 0;
};

}  // namespace stoker
