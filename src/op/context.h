// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator is told and asked, with one class for each question. The objects live on the
// caller's stack for one call.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/chance/philox.h"
#include "base/view.h"
#include "batch/batch.h"
#include "io/store.h"
#include "kernels/block.h"
#include "memory/arena.h"
#include "op/kept.h"

namespace stoker {

class EntropyIndexes;  // codec/plain_jpeg/entropy_indexes.h

// Which sample this is. Its fate depends only on this, the graph, the seed and the bytes.
struct Identity {
  int64_t epoch = 0;
  int64_t position = 0;  // in the epoch: what chance is keyed by
  int32_t child = 0;  // for operators that make several samples of one
};

// What an annotation says of the picture beside it. Extents are 0 where it says nothing. Places
// that are parts of the extents, `is_relative`, also fit at other scales.
struct AnnotatedPicture {
  size_t output = 0;  // of the reader: the picture's bytes
  int64_t height = 0, width = 0;
  bool is_assumed = false;  // it does not say any; these are of the picture as it is stored
  bool is_relative = false;
};

// What a user should know of a sample though it is good. The advice is the same wherever this is
// found, so it is given once.
struct Remark {
  std::string found;
  const char* advice;
};

// Which sample this is, and where its bytes came from: a reader, or a batch that was fed.
struct Origin {
  Identity who;
  const Provenance* provenance = nullptr;  // null: unknown
  int64_t index = 0;  // in the provenance

  std::string source() const { return provenance ? provenance->name(index) : ""; }
};

// Asks for the types of the outputs when the graph is built. An unknown extent or rank is -1; an
// unknown layout is empty. Where a port lists its layouts, the input has one of them, never an
// empty one.
class Checker {
 public:
  std::span<const TensorType> inputs;
  std::span<const bool> computed;  // by argument: whether another node computes it
  std::span<const char* const> names;
  std::vector<TensorType> outputs;
  std::string warning = {};  // what a user should know though nothing is wrong

  const TensorType& in(size_t i = 0) const { return inputs[i]; }
  bool has(size_t i) const { return i < inputs.size(); }
  bool is_computed(std::string_view argument) const {
    for (size_t i = 0; i < names.size(); ++i)
      if (argument == names[i]) return computed[i];
    return false;
  }
  void out(TensorType t) { outputs.push_back(t); }
};

// Asks an operator that lowers for the blocks that make its first output of its first input, and
// for its further outputs. Further inputs and outputs are values: they are small, and belong to the
// sample even where the engine takes a sequence apart. lower() writes them as soon as it knows the
// types, so that other operators can take them as arguments.
class Lowering {
 public:
  Lowering(const TensorType& in, std::span<const View> values, Chance chance,
           std::vector<Block>& blocks, std::vector<View>& made, Arena& scratch)
      : chance(chance),
        values_(values),
        blocks_(blocks),
        made_(made),
        scratch_(scratch),
        type_(in) {}

  // The type after the blocks added so far. The shape is the full one.
  const TensorType& type() const { return type_; }
  bool has(size_t i) const { return i < values_.size() && values_[i].data; }
  const View& value(size_t i) const { return values_[i]; }
  void add(BlockKind kind, DType result);
  // Gives the next further output its memory.
  const View& make(const TensorType& t) {
    void* data = scratch_.allocate(t.shape.volume() * size_of(t.dtype));
    return made_.emplace_back(View::dense(data, t.dtype, t.shape, t.layout));
  }
  Chance chance;

 private:
  std::span<const View> values_;
  std::vector<Block>& blocks_;
  std::vector<View>& made_;
  Arena& scratch_;
  TensorType type_;
};

// Asks any other operator for the types of a sample's outputs. It can read inputs that are values.
class Inference {
 public:
  std::span<const TensorType> inputs;
  std::span<const View> values;  // data is null where the input was not computed yet
  std::vector<TensorType>& outputs;
  Chance chance;
  Kept& kept;
  Origin origin = {};
  // Set where input 0 is a picture as a reader gives it, and something uses its annotated places.
  std::optional<AnnotatedPicture> annotated = {};
  std::vector<Remark> remarks = {};
  EntropyIndexes* jpeg_indexes = nullptr;  // JpegOptions::indexes, for decoders; it outlives kept

  bool has(size_t i) const { return i < inputs.size(); }
  void out(const TensorType& t) { outputs.push_back(t); }
};

// Asks which windows of inputs the wanted windows of outputs need; at first everything is needed.
class Demand {
 public:
  std::span<const TensorType> inputs;
  std::span<const Window> wanted;  // by output
  std::span<Window> needed;  // by input
};

// The work on one sample. `outputs` cover just the wanted windows, and are dense except for gaps of
// kRowRoom between their rows. `inputs` cover at least what demand() needed of them, and often
// more, as other operators read them too. They may be strided, as behind a decoder: never count
// through one from its `data` on. kernels/elements/ has loops for both.
class Run {
 public:
  std::span<const View> inputs;
  std::span<View> outputs;
  Chance chance;
  Arena& scratch;
  const Kept& kept;
  // How many bytes before and behind each row of the outputs may be overwritten: kRowRoom or 0.
  int64_t row_room = 0;
  // By output: the window that later operators need, whatever is rewritten. Damaged data outside of
  // it does not fail the sample. Empty: all that is made is needed.
  std::span<const Window> judged = {};
  Origin origin = {};

  bool has(size_t i) const { return i < inputs.size() && inputs[i].data; }
  // For an operator without `infer`, which calls it for every output once it knows the type: gives
  // output k its memory.
  const View& make(size_t k, const TensorType& t) {
    void* data = scratch.allocate(t.shape.volume() * size_of(t.dtype));
    return outputs[k] = View::dense(data, t.dtype, t.shape, t.layout);
  }
};

struct BatchItem {
  std::vector<View> inputs, outputs;
  Chance chance;
  Origin origin = {};
};

// Asks an operator that sees whole batches for all types of outputs.
class BatchInference {
 public:
  struct Item {
    std::vector<TensorType> inputs;
    std::vector<View> values;  // by input; data is null but where the port is a value
    Chance chance;
    Origin origin = {};
    std::vector<TensorType> outputs = {};  // to be set
  };
  // The samples made so far, in order; at least one.
  std::span<Item> items;
};

// The work on a whole batch on the CPU. The views are whole and dense.
class BatchRun {
 public:
  std::span<const BatchItem> items;  // as in BatchInference
  Arena& scratch;
};

// Asks a mixed operator which part of which picture a device must decode for a window of the
// output.
class Asking {
 public:
  const Kept& kept;
  const Window& wanted;
  const Window& judged;  // as in Run
};

class SampleStore;

// Asks a reader for the outputs of one sample, once its bytes are there. All of them have to be
// given, each with a type that `check` has announced.
class Reading {
 public:
  const SampleStore& store;
  int64_t index;  // of the sample in the store
  // What was read: a part for each extent, or what the block or the store gave. It stays until the
  // sample is made. Behind each part io::kReadPadding bytes can be read, and hold anything.
  std::span<const io::Part> parts;
  std::span<View> outputs;
  Arena& scratch;
  std::span<const char> asked = {};  // by output, whether something reads it; empty: all are read
  std::optional<AnnotatedPicture> annotated = {};  // to be set where decoders are to compare it
  std::vector<Remark> remarks = {};

  // Whether something reads output k. Else what fails that output alone must not fail the sample.
  bool asks(size_t k) const { return k >= asked.size() || asked[k]; }
  const View& make(size_t k, const TensorType& t) {
    void* data = scratch.allocate(static_cast<size_t>(t.shape.volume() * size_of(t.dtype)));
    return outputs[k] = View::dense(data, t.dtype, t.shape, t.layout);
  }
  // Output k is these bytes of a part. They are copied only if elements of this type may not lie
  // there. Requires: bytes.size() is that of the type.
  void share(size_t k, const TensorType& t, io::Part bytes);
  // Output k is these bytes, as uint8 of shape (size,).
  void share(size_t k, io::Part bytes) {
    share(k, {DType::kUint8, {}, {static_cast<int64_t>(bytes.size())}}, bytes);
  }
  template <class T>
  void give(size_t k, const TensorType& t, T value) {
    *make(k, t).as<T>() = value;
  }
};

// What a reader reads from; io::ByteStore says how a sample is had. Thread-safe: immutable once
// opened.
class SampleStore : public Provenance, public io::ByteStore {
 public:
  virtual int64_t size() const = 0;
  // A path, or an entry of an archive; also for messages.
  std::string name(int64_t index) const override = 0;
  // A hash of which samples these are, for saved states. It does not depend on where the set lies.
  virtual uint64_t fingerprint() const = 0;
  // What a user should know of it before the first sample is read; empty if there is nothing.
  virtual std::string warning() const { return ""; }
  // Makes the outputs of a sample, unless the operator has a `read` of its own for arguments that
  // vary from sample to sample. Throws SampleError, with an offset in what name() names.
  virtual void read(Reading& r) const;

  // For shuffling by blocks: the first sample of each block, from 0 on. Empty: runs of samples
  // serve.
  virtual std::vector<int64_t> block_begins() const { return {}; }
  // Whether samples are shuffled by blocks unless the user says otherwise.
  virtual bool is_read_by_block() const { return false; }
};

}  // namespace stoker
