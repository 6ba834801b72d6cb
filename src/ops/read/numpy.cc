// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy.h"
#include "io/file_list.h"
#include "kernels/fused/fused.h"
#include "op/op.h"
#include "op/reader.h"
#include "op/window/slice_window.h"

namespace stoker::ops::read {

namespace {

class NumpyStore final : public SampleStore {
 public:
  explicit NumpyStore(std::shared_ptr<const io::FileList> list) : list_(std::move(list)) {}
  int64_t size() const override { return list_->size(); }
  io::Place place(int64_t index) const override { return io::Place::at({list_->path(index)}); }
  std::string name(int64_t index) const override { return list_->path(index); }
  uint64_t fingerprint() const override { return list_->fingerprint(); }

 private:
  std::shared_ptr<const io::FileList> list_;
};

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
    list_ = std::make_shared<const io::FileList>(listed());
    type_ = dtype ? *dtype : dtype_of(*list_);
    TensorType t{type_, {}, {}};
    t.shape.rank = -1;
    c.out(t);
  }

  std::unique_ptr<SampleStore> open() const { return std::make_unique<NumpyStore>(list_); }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }

  void read(Reading& r) const {
    const EncodedSpan bytes = r.parts[0];
    const NpyHeader h = read_npy_header(bytes);
    require(dtype || h.dtype == type_, "the array is of ", h.dtype, ", the first file is of ",
            type_, "; argument 'dtype' makes them one");
    const View stored = npy_array(bytes, h, r.scratch);
    const TensorType whole{h.dtype, {}, h.shape};
    Block block{Convert{}, type_};
    TensorType t{type_, {}, h.shape};
    if (has_window()) {
      const Window w = settle(window(whole), whole, out_of_bounds_policy);
      block.kind = cut(w, whole, {fill_value});
      t = after(block, whole);
    } else if (h.dtype == type_ && stored.is_dense()) {
      r.outputs[0] = stored;
      return;
    }
    const View& out = r.make(0, t);
    if (t.shape.volume() > 0) run_blocks({&block, 1}, stored, out, r.scratch);
  }

 private:
  io::FileListSpec listed() const {
    io::FileListSpec s;
    s.file_root = file_root.value_or("");
    if (files) {
      s.files = *files;
    } else if (file_list) {
      s.files = io::names_listed(*file_list);
      if (!file_root) s.file_root = file_list->substr(0, file_list->rfind('/') + 1);
    } else {
      require(file_root.has_value(), "one of 'file_root', 'file_list' and 'files' is needed");
      s.files = io::names_found(*file_root, {file_filter});
    }
    return s;
  }

  // A file that is damaged says nothing of the others.
  static DType dtype_of(const io::FileList& list) {
    constexpr int64_t kTried = 100, kHeader = 4096;
    std::string first;
    for (int64_t i = 0; i < std::min(list.size(), kTried); ++i) try {
        const io::File file(list.path(i));
        io::ByteBuffer bytes;
        const auto read = [&](int64_t most) {
          file.read(bytes, 0, std::min(file.size(), most));
          return read_npy_header({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
        };
        try {
          return read(kHeader).dtype;
        } catch (const SampleError&) {
          return read(file.size()).dtype;  // the header may be longer
        }
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

  // Found by check(), as the type of the output follows from the first file.
  mutable std::shared_ptr<const io::FileList> list_;
  mutable DType type_ = DType::kNone;
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Numpy)
