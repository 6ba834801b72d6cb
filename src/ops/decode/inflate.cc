// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/inflate/inflate.h"
#include "kernels/fused/fused.h"
#include "op/decode/encoded_bytes.h"
#include "op/type_of.h"

namespace stoker {

template <>
struct EnumNames<Compression> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"LZ4", "zstd", "zlib", "gzip", "deflate"};
};

namespace ops::decode {

struct Inflate {
  Small<int64_t> shape;
  DType dtype = DType::kUint8;
  Compression algorithm = Compression::kLz4;
  std::optional<Small<int64_t>> chunk_offsets, chunk_sizes;
  Layout layout, sequence_axis_name = "F";

  static constexpr std::array kIgnored = {"check_output_size"};
  static constexpr auto schema = describe(
      "decoders.inflate",
      "Decompresses bytes into an array.\n\n"
      "The data is one compressed stream or, with chunk_offsets or chunk_sizes, several, each of "
      "which becomes an array of the given shape; these are put along a new first axis. LZ4 may be "
      "a block or a frame. Data that is damaged, or holds more or fewer bytes than the shape asks "
      "for, fails the sample.",
      ports(encoded_port("The compressed bytes: uint8 of shape (size,).")),
      ports({.name = "array", .help = "The array, or the arrays of all chunks."}),
      arg(&Inflate::shape, "shape", "Shape of the array, or of that of a chunk.", at_least(0),
          kRequiredPerSample),
      arg(&Inflate::dtype, "dtype", "What the bytes are elements of, in little-endian order."),
      arg(&Inflate::algorithm, "algorithm", "How the bytes are compressed."),
      arg(&Inflate::chunk_offsets, "chunk_offsets",
          "Where each chunk begins, in bytes. Default: where the one before ends.", at_least(0),
          kPerSample),
      arg(&Inflate::chunk_sizes, "chunk_sizes",
          "Size of each chunk in bytes. Default: up to the next one.", at_least(0), kPerSample),
      arg(&Inflate::layout, "layout", "Layout of the array, or of that of a chunk."),
      arg(&Inflate::sequence_axis_name, "sequence_axis_name",
          "The letter of the chunks' axis in the layout."));

  void check(Checker& c) const {
    require_encoded(c);
    require(sequence_axis_name.rank() == 1, "argument 'sequence_axis_name' is ", sequence_axis_name,
            ", expected one letter");
    const bool chunked = chunk_offsets || chunk_sizes || c.is_computed("chunk_offsets") ||
                         c.is_computed("chunk_sizes");
    TensorType t{dtype, whole_layout(chunked), {}};
    if (c.is_computed("shape")) t.shape.rank = t.layout.empty() ? -1 : t.layout.rank();
    else t.shape = whole_shape(chunked ? -1 : 0, chunked);
    for (int a = 0; c.is_computed("shape") && a < t.shape.rank; ++a) t.shape[a] = -1;
    c.out(t);
  }

  void infer(Inference& i) const {
    const auto& chunks = i.kept.set(chunks_of(std::ssize(bytes_of(i.values[0]))));
    const bool chunked = chunk_offsets || chunk_sizes;
    i.out(
        {dtype, whole_layout(chunked), whole_shape(static_cast<int64_t>(chunks.size()), chunked)});
  }

  void run_cpu(Run& r) const {
    const auto& chunks = r.kept.get<std::vector<Chunk>>();
    const View& out = r.outputs[0];
    const bool chunked = chunk_offsets || chunk_sizes;
    // Whole chunks are made, even where less is wanted.
    Window w = Window::all(out.full);
    if (chunked) {
      w.begin[0] = out.origin[0];
      w.end[0] = out.origin[0] + out.shape[0];
    }
    View made = View::window(out.data, dtype, w, out.full, out.layout);
    const bool in_place = made.shape == out.shape && out.is_dense();
    if (!in_place) made.data = r.scratch.allocate(static_cast<size_t>(made.bytes()));
    const auto count = static_cast<size_t>(chunked ? made.shape[0] : 1);
    const size_t size = count ? static_cast<size_t>(made.bytes()) / count : 0;
    const auto is_judged = [&](size_t chunk) {
      const auto at = static_cast<int64_t>(chunk);
      return !chunked || r.judged.empty() ||
             (at >= r.judged[0].begin[0] && at < r.judged[0].end[0]);
    };
    for (size_t k = 0; k < count; ++k) {
      const size_t chunk = k + static_cast<size_t>(chunked ? out.origin[0] : 0);
      const std::span<uint8_t> to(made.as<uint8_t>() + k * size, size);
      try {
        inflate(r, chunks[chunk], to);
      } catch (const SampleError&) {
        if (is_judged(chunk)) throw;
        std::fill(to.begin(), to.end(), uint8_t{0});  // nobody looks at it
      }
    }
    if (in_place || out.shape.volume() == 0) return;
    const Block block{Convert{}, dtype};
    run_blocks({&block, 1}, made, out, r.scratch);
  }

  static std::vector<Case> cases() {
    return {
        {"shape=[2, 3]", {"uint8 [96, 1, 2, 3, 4, 5, 6]"}, {"uint8 [[1, 2, 3], [4, 5, 6]]"}},
        {"shape=2, chunk_sizes=[3, 3], dtype=types.UINT8",
         {"uint8 [32, 1, 2, 32, 3, 4]"},
         {"uint8 [[1, 2], [3, 4]]"}},
    };
  }

 private:
  struct Chunk {
    int64_t begin, size;
  };

  Layout whole_layout(bool chunked) const {
    if (!chunked || layout.empty()) return layout;
    return std::string(sequence_axis_name.str()) + std::string(layout.str());
  }
  Shape whole_shape(int64_t chunks, bool chunked) const {
    require(static_cast<int>(shape.size()) + chunked <= kMaxRank, "argument 'shape' has ",
            shape.size(), " axes, expected ", kMaxRank - chunked, " at most");
    require(layout.empty() || layout.rank() == static_cast<int>(shape.size()),
            "argument 'layout' is ", layout, ", but argument 'shape' has ", shape.size(), " axes");
    Shape s;
    if (chunked) s.push_back(chunks);
    for (const int64_t extent : shape) s.push_back(extent);
    require(s.is_possible(), "argument 'shape' asks for ", s);
    return s;
  }

  std::vector<Chunk> chunks_of(int64_t bytes) const {
    if (!chunk_offsets && !chunk_sizes) return {{0, bytes}};
    const size_t count = chunk_offsets ? chunk_offsets->size() : chunk_sizes->size();
    if (chunk_sizes)
      require_count("argument 'chunk_sizes'", chunk_sizes->size(), {static_cast<int64_t>(count)},
                    "one per chunk");
    std::vector<Chunk> chunks;
    for (size_t k = 0; k < count; ++k) {
      const int64_t before = k ? chunks[k - 1].begin + chunks[k - 1].size : 0;
      const int64_t begin = chunk_offsets ? (*chunk_offsets)[k] : before;
      const int64_t next = chunk_offsets && k + 1 < count ? (*chunk_offsets)[k + 1] : bytes;
      const int64_t size = chunk_sizes ? (*chunk_sizes)[k] : next - begin;
      require(begin <= bytes && size >= 0 && size <= bytes - begin, "chunk ", k, " has ", size,
              " bytes from ", begin, " on, but the data has ", bytes);
      chunks.push_back({begin, size});
    }
    return chunks;
  }

  void inflate(Run& r, const Chunk& chunk, std::span<uint8_t> out) const {
    const EncodedSpan bytes =
        bytes_of(r.inputs[0])
            .subspan(static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.size));
    const size_t made = inflater_of(algorithm).inflate(algorithm, bytes, out, r.scratch);
    require(made == out.size(), "the data holds ",
            made > out.size() ? "more than " + std::to_string(out.size())
                              : "only " + std::to_string(made),
            " bytes, expected ", out.size(), " for the shape ", Shape(whole_shape(0, false)));
  }
};

}  // namespace ops::decode
}  // namespace stoker

STOKER_OPERATOR(stoker::ops::decode::Inflate)
