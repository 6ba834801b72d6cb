// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy_window.h"
#include "io/paths/path_list.h"
#include "kernels/fused/fused.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "op/window/slice_window.h"

namespace stoker::ops::read {

namespace {

// Note [Windows of arrays]
// Of a large file, only the header and what the window needs are read, both ahead where the window
// is the same for all samples. A window that other nodes compute is not known then: only the header
// is read ahead, and the rest when the sample is made.
class NumpyStore final : public SampleStore {
 public:
  using PlaceOf = std::function<io::Place(std::string path)>;
  NumpyStore(std::shared_ptr<const io::PathList> list, PlaceOf place, std::string warning)
      : list_(std::move(list)), place_(std::move(place)), warning_(std::move(warning)) {}
  int64_t size() const override { return list_->size(); }
  io::Place place(int64_t index) const override { return place_(list_->path(index)); }
  std::string name(int64_t index) const override { return list_->path(index); }
  uint64_t fingerprint() const override { return list_->fingerprint(); }
  std::string warning() const override { return warning_; }

 private:
  std::shared_ptr<const io::PathList> list_;
  PlaceOf place_;
  std::string warning_;
};

// Throws SampleError.
NpyHeader header_of(const io::Object& file) {
  constexpr int64_t kUsual = 4096;
  io::ByteBuffer bytes;
  const auto read = [&](int64_t most) {
    file.read(bytes, 0, std::min(file.size(), most));
    return EncodedSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  };
  const EncodedSpan front = read(kUsual);
  const auto all = static_cast<int64_t>(npy_header_bytes(front));
  return read_npy_header(all <= kUsual ? front : read(all));
}

}  // namespace

struct Numpy : ReaderArguments {
  std::optional<std::string> file_root, file_list;
  std::optional<std::vector<std::string>> files;
  std::string file_filter = "*.npy";
  std::optional<DType> dtype;
  std::optional<Small<int64_t>> roi_start, roi_end, roi_shape;
  std::optional<Small<float>> rel_roi_start, rel_roi_end, rel_roi_shape;
  Small<int> roi_axes;
  OutOfBounds out_of_bounds_policy = OutOfBounds::kError;
  float fill_value = 0;

  static constexpr auto kIgnored =
      joined(kIgnoredReaderArguments,
             std::array{"cache_header_information", "register_buffers", "use_o_direct"});
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.numpy",
      "Reads arrays that NumPy has saved, one of each .npy file.\n\n"
      "The files come from a folder and the folders below it (file_root), from a text file with a "
      "name in each line (file_list) or from a list (files). Gives the array with its shape, also "
      "where its elements lie in Fortran's order or in the other byte order, or a window of it "
      "(roi_ arguments). All arrays have the dtype of the first file that can be read, unless "
      "dtype says another. Arrays of objects, texts, complex numbers and structures fail the "
      "sample.",
      ports(), ports({.name = "array", .help = "The array, or the window of it."}),
      arg(&Numpy::file_root, "file_root",
          "The folder. Relative names in file_list and files start from it."),
      arg(&Numpy::files, "files", "The files. Excludes file_list."),
      arg(&Numpy::file_list, "file_list",
          "Path of a text file, one name per line. Names are relative to file_root, or else to the "
          "text file's folder. Excludes files."),
      arg(&Numpy::file_filter, "file_filter", "Pattern for the names of files in file_root."),
      arg(&Numpy::dtype, "dtype",
          "Output dtype. Values of files with another dtype are rounded and saturate. Default: "
          "that of the first file, and files with another one fail their samples."),
      arg(&Numpy::roi_start, "roi_start", "Where the window starts, in elements. Default: 0.",
          kPerSample),
      arg(&Numpy::rel_roi_start, "rel_roi_start",
          "Where the window starts, as a fraction of the extent.", kPerSample),
      arg(&Numpy::roi_end, "roi_end",
          "Where the window ends, in elements. Default: the end of the axis.", kPerSample),
      arg(&Numpy::rel_roi_end, "rel_roi_end", "Where the window ends, as a fraction of the extent.",
          kPerSample),
      arg(&Numpy::roi_shape, "roi_shape", "Size of the window, in elements.", at_least(0),
          kPerSample),
      arg(&Numpy::rel_roi_shape, "rel_roi_shape",
          "Size of the window, as a fraction of the extent.", at_least(0), kPerSample),
      arg(&Numpy::roi_axes, "roi_axes",
          "The axes that the window is about, by number; negative ones count from the end. The "
          "others stay whole. Default: all of them."),
      arg(&Numpy::out_of_bounds_policy, "out_of_bounds_policy",
          "What to do with a window that reaches outside the array: 'error' refuses it, 'pad' "
          "fills with fill_value, 'trim_to_shape' cuts off the part outside."),
      arg(&Numpy::fill_value, "fill_value", "The value for what lies outside."), kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(!(files && file_list), "arguments 'files' and 'file_list' exclude each other");
    require(!files || !files->empty(), "argument 'files' is empty");
    const auto is_given = [&](const char* name, bool is_constant) {
      return is_constant || c.is_computed(name);
    };
    require(is_given("roi_start", roi_start.has_value()) +
                    is_given("rel_roi_start", rel_roi_start.has_value()) <=
                1,
            "arguments 'roi_start' and 'rel_roi_start' exclude each other");
    require(is_given("roi_end", roi_end.has_value()) +
                    is_given("rel_roi_end", rel_roi_end.has_value()) +
                    is_given("roi_shape", roi_shape.has_value()) +
                    is_given("rel_roi_shape", rel_roi_shape.has_value()) <=
                1,
            "only one of 'roi_end', 'rel_roi_end', 'roi_shape' and 'rel_roi_shape' may be given");
    for (const char* name :
         {"roi_start", "rel_roi_start", "roi_end", "rel_roi_end", "roi_shape", "rel_roi_shape"})
      computes_window_ = computes_window_ || c.is_computed(name);
    list_ = std::make_shared<const io::PathList>(listed());
    type_ = dtype ? *dtype : dtype_of(*list_);
    TensorType t{type_, {}, {}};
    t.shape.rank = -1;
    c.out(t);
  }

  std::unique_ptr<SampleStore> open() const {
    return std::make_unique<NumpyStore>(
        list_, [op = *this](std::string path) { return op.place(std::move(path)); }, warning_);
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }

  void read(Reading& r) const {
    const EncodedSpan bytes = r.parts[0];
    const NpyHeader h = read_npy_header(bytes);
    require(dtype || h.dtype == type_, "the array is of ", h.dtype, ", the first file is of ",
            type_, "; argument 'dtype' makes them one");
    const Block block = last_block(h);
    const TensorType whole{h.dtype, {}, h.shape}, t = after(block, whole);
    if (!is_part(r.parts, h)) {
      const View stored = npy_array(bytes, h, r.scratch);
      if (!has_window() && h.dtype == type_ && stored.is_dense()) {
        r.outputs[0] = stored;
        return;
      }
      const View& out = r.make(0, t);
      if (t.shape.volume() > 0) run_blocks({&block, 1}, stored, out, r.scratch);
      return;
    }
    // Where nothing but the header was read, that may be all there is.
    std::shared_ptr<const io::Object> file;
    if (r.parts.size() == 1) {
      file = io::open(r.store.name(r.index));
      if (file->size() != static_cast<int64_t>(h.data_at) + h.data_bytes())
        check_npy_size(bytes, h);
    }
    const View& out = r.make(0, t);
    if (t.shape.volume() > 0)
      run_blocks({&block, 1}, stored_part(r, h, needed(block, h), file), out, r.scratch);
  }

 private:
  // Note [Windows of arrays].
  io::Place place(std::string path) const {
    if (!has_window() && !computes_window_) return io::Place::at({std::move(path)});
    constexpr int64_t kSmall = 64 << 10;
    const auto file = io::open(path);
    std::vector<io::Extent> extents = {{"", 0, -1, file}};
    if (file->size() <= kSmall) return io::Place::at(std::move(extents));
    try {
      const NpyHeader h = header_of(*file);
      if (file->size() != static_cast<int64_t>(h.data_at) + h.data_bytes())
        return io::Place::at(std::move(extents));
      extents[0].length = static_cast<int64_t>(h.data_at);
      if (computes_window_) return io::Place::at(std::move(extents));
      if (const Window w = needed(last_block(h), h); w.shape().volume() > 0) {
        const NpyWindow window(h, w);
        for (int64_t i = 0; i < window.runs(); ++i)
          extents.push_back({"", window.offset(i), window.run_bytes(), file});
      }
    } catch (const Error&) {
      // read() throws it again, and needs no more than a header for that.
      constexpr int64_t kLongest = 2 << 20;
      extents[0].length = std::min(file->size(), kLongest);
    }
    return io::Place::at(std::move(extents));
  }
  // Whether only a window's bytes were read, or nothing but the header.
  static bool is_part(std::span<const io::Part> parts, const NpyHeader& h) {
    return parts.size() > 1 || (parts[0].size() == h.data_at && h.data_bytes() > 0);
  }

  // What makes the output of the array.
  Block last_block(const NpyHeader& h) const {
    const TensorType whole{h.dtype, {}, h.shape};
    if (!has_window()) return {Convert{}, type_};
    const Window w = settle(window(whole), whole, out_of_bounds_policy);
    return {cut(w, whole, {fill_value}), type_};
  }
  // The part of the array that the block needs.
  static Window needed(const Block& block, const NpyHeader& h) {
    const TensorType whole{h.dtype, {}, h.shape};
    return demand({&block, 1}, whole, Window::all(after(block, whole).shape));
  }
  // The file may be another one by now, so the sizes of its parts are checked. Without parts it is
  // read from `file`.
  static View stored_part(Reading& r, const NpyHeader& h, const Window& w,
                          const std::shared_ptr<const io::Object>& file) {
    if (w.shape().volume() == 0) return View::window(nullptr, h.dtype, w, h.shape);
    const NpyWindow window(h, w);
    const auto size = static_cast<size_t>(window.run_bytes());
    auto* const data =
        static_cast<uint8_t*>(r.scratch.allocate(static_cast<size_t>(window.runs()) * size));
    uint8_t* to = data;
    if (const auto runs = r.parts.subspan(1); !runs.empty()) {
      const auto has_size = [&](const io::Part& p) { return p.size() == size; };
      require(static_cast<int64_t>(runs.size()) == window.runs() &&
                  std::all_of(runs.begin(), runs.end(), has_size),
              "the file changed while it was read");
      for (const io::Part& p : runs) to = std::copy(p.begin(), p.end(), to);
    } else {
      for (int64_t i = 0; i < window.runs(); ++i, to += size)
        file->read_to({reinterpret_cast<std::byte*>(to), size}, window.offset(i));
    }
    return window.view(data);
  }

  io::PathListSpec listed() const {
    io::PathListSpec s;
    s.file_root = file_root.value_or("");
    if (files) {
      s.files = *files;
    } else if (file_list) {
      s.files = io::names_listed(*file_list);
      if (!file_root) s.file_root = file_list->substr(0, file_list->rfind('/') + 1);
    } else {
      require(file_root.has_value(), "one of 'file_root', 'file_list' and 'files' is needed");
      io::FoundNames found = io::names_found(*file_root, {file_filter}, "file_filter",
                                             file_filter != Numpy().file_filter);
      s.files = std::move(found.names);
      warning_ = std::move(found.warning);
    }
    return s;
  }

  // A damaged file says nothing of the others.
  static DType dtype_of(const io::PathList& list) {
    constexpr int64_t kTried = 100;
    std::string first;
    for (int64_t i = 0; i < std::min(list.size(), kTried); ++i) try {
        return header_of(*io::open(list.path(i))).dtype;
      } catch (const SampleError& e) {
        if (first.empty()) first = list.path(i) + ": " + e.what();
      }
    throw GraphError("no dtype is known, as none of the first files can be read: " + first +
                     "; argument 'dtype' can say it");
  }

  bool has_window() const {
    return roi_start || roi_end || roi_shape || rel_roi_start || rel_roi_end || rel_roi_shape;
  }
  Window window(const TensorType& whole) const {
    SliceArguments s;
    s.axes = roi_axes;
    if (roi_axes.empty())
      for (int a = 0; a < whole.shape.rank; ++a) s.axes->push_back(a);
    s.start = roi_start;
    s.end = roi_end;
    s.shape = roi_shape;
    s.rel_start = rel_roi_start;
    s.rel_end = rel_roi_end;
    s.rel_shape = rel_roi_shape;
    return slice_window(s, whole, nullptr, nullptr);
  }

  // Set by check(), as the output's type follows from the first file.
  mutable std::shared_ptr<const io::PathList> list_;
  mutable std::string warning_;
  mutable DType type_ = DType::kNone;
  mutable bool computes_window_ = false;
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Numpy)
