// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/mutex.h"
#include "base/testing.h"
#include "io/faults.h"
#include "run/pipeline.h"

namespace stoker {

// A folder of `count` files "000.bin" and so on. File i has `size(i)` bytes of value i. The folder
// is removed at the end.
class SampleFolder {
 public:
  explicit SampleFolder(
      int count, std::function<size_t(int)> size = [](int) { return size_t{16}; }) {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoker_run_XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
    root_ = pattern;
    for (int i = 0; i < count; ++i) {
      char name[16];
      std::snprintf(name, sizeof name, "%03d.bin", i);
      names_.emplace_back(name);
      std::ofstream(root_ / name) << std::string(size(i), static_cast<char>(i));
    }
  }
  ~SampleFolder() { std::filesystem::remove_all(root_); }
  std::string path(int i) const { return (root_ / names_[i]).string(); }
  const std::vector<std::string>& names() const { return names_; }
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
  std::vector<std::string> names_;
};

// readers.file over the folder, shuffled. Its outputs are the bytes and the index, as label.
inline int add_shuffled_files(Graph& g, const SampleFolder& folder) {
  return g.add(
      {.op = "readers.file",
       .name = "files",
       .arguments = {
           {"files", folder.names()}, {"file_root", folder.root()}, {"random_shuffle", true}}});
}

// readers.file over the folder. Outputs: the index as label, the bytes as int32, and a draw.
inline Graph file_graph(const SampleFolder& folder, Arguments reader = {}) {
  Graph g;
  reader["files"] = folder.names();
  reader["file_root"] = folder.root();
  const int files = g.add({.op = "readers.file", .name = "files", .arguments = std::move(reader)});
  const int wide = g.add(
      {.op = "cast", .arguments = {{"dtype", std::string("int32")}}, .inputs = {Ref{files, 0}}});
  const int coin = g.add({.op = "random.uniform"});
  g.outputs = {{files, 1}, {wide, 0}, {coin, 0}};
  return g;
}

// The same with the outputs label and bytes.
inline Graph raw_graph(const SampleFolder& folder, Arguments reader = {}) {
  Graph g = file_graph(folder, std::move(reader));
  g.outputs = {{0, 1}, {0, 0}};
  return g;
}

inline int32_t label(const Outputs& out, size_t i) {
  return *out.batches[0].samples[i].view.as<int32_t>();
}
inline std::vector<int32_t> labels(const Outputs& out) {
  std::vector<int32_t> l;
  for (size_t i = 0; i < out.batches[0].samples.size(); ++i) l.push_back(label(out, i));
  return l;
}
inline std::string bytes_of(const Outputs& out, size_t i) {
  std::string s;
  for (const Batch& b : out.batches)
    s.append(b.samples[i].view.as<char>(), b.samples[i].view.bytes());
  return s;
}

// Holds back the reads of some files until open() is called.
class Gate final : public io::FaultInjector {
 public:
  explicit Gate(std::set<std::string> held) : held_(std::move(held)) {}
  int on_open(const std::string& path) override {
    const MutexLock lock(mutex_);
    opened_.push_back(path);
    changed_.notify_all();
    changed_.wait(mutex_,
                  [&]() STOKER_REQUIRES(mutex_) { return is_open_ || !held_.contains(path); });
    return 0;
  }
  void open() {
    const MutexLock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  std::vector<std::string> opened() const {
    const MutexLock lock(mutex_);
    return opened_;
  }
  // Waits until so many files were asked for.
  void wait_for(size_t count) {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return opened_.size() >= count; });
  }

 private:
  const std::set<std::string> held_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::string> opened_ STOKER_GUARDED_BY(mutex_);
  bool is_open_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
