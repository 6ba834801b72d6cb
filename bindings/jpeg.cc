// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// JPEG files without a pipeline: stoker.jpeg.
#include <array>
#include <optional>
#include <string>

#include "bindings.h"
#include "codec/plain_jpeg/entropy_indexes.h"
#include "op/decode/encoded_picture.h"
#include "op/decode/jpeg_file.h"
#include "op/rules.h"
#include "run/options.h"
#include "text.h"

namespace stoker::python {

namespace {

// The memory of an object of Python's, while this lives. Requires: Python's lock is held.
class FileMemory {
 public:
  FileMemory(const nb::object& o, int flags) {
    if (PyObject_GetBuffer(o.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  }
  ~FileMemory() { PyBuffer_Release(&buffer_); }
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;
  std::span<uint8_t> bytes() const {
    return {static_cast<uint8_t*>(buffer_.buf), static_cast<size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_;
};

template <size_t kCount>
std::optional<std::array<int64_t, kCount>> numbers(const nb::object& o) {
  if (o.is_none()) return std::nullopt;
  std::array<int64_t, kCount> all;
  for (size_t i = 0; i < kCount; ++i) all[i] = nb::cast<int64_t>(o[i]);
  return all;
}

// A dict with the fields of stoker.jpeg's requests.
JpegRequest request_of(const nb::dict& d) {
  JpegRequest r;
  const auto wanted = nb::cast<std::string>(d["output_type"]);
  for (size_t i = 0; i < std::size(EnumNames<ImageType>::kNames); ++i)
    if (wanted == EnumNames<ImageType>::kNames[i]) r.output_type = static_cast<ImageType>(i);
  r.adjust_orientation = nb::cast<bool>(d["adjust_orientation"]);
  r.window = numbers<4>(nb::borrow(d["window"]));
  r.size = numbers<2>(nb::borrow(d["size"]));
  return r;
}

// What is wrong with a call is a ValueError, and what is wrong with a file names the byte.
template <class F>
auto told(const F& f) {
  try {
    return f();
  } catch (const WrongCall& e) {
    throw nb::value_error(e.what());
  } catch (const SampleError& e) {
    if (e.offset < 0) throw;
    throw SampleError(std::string(e.what()) + ", at byte " + std::to_string(e.offset), e.offset);
  }
}

nb::dict describe_jpeg(const nb::object& data, const nb::dict& request) {
  const FileMemory file(data, PyBUF_SIMPLE);
  const JpegInfo info = told([&] { return peek_jpeg(file.bytes(), request_of(request)); });
  nb::dict d;
  d["height"] = info.image.height;
  d["width"] = info.image.width;
  d["channels"] = info.image.channels;
  d["orientation"] = info.image.orientation;
  d["dtype"] = name_of(info.image.dtype);
  d["is_progressive"] = info.image.is_progressive;
  d["is_plain"] = info.is_plain;
  return d;
}

nb::object output_type(const nb::object& data, const nb::dict& request) {
  const FileMemory file(data, PyBUF_SIMPLE);
  const TensorType t = told([&] { return jpeg_output(file.bytes(), request_of(request)).type; });
  return nb::make_tuple(nb::make_tuple(t.shape[0], t.shape[1], t.shape[2]), name_of(t.dtype));
}

bool decode_file(const nb::object& data, const nb::dict& request, const nb::object& index,
                 const nb::object& out) {
  const FileMemory file(data, PyBUF_SIMPLE), pixels(out, PyBUF_WRITABLE);
  JpegRequest r = request_of(request);
  std::optional<FileMemory> saved;
  if (!index.is_none()) {
    saved.emplace(index, PyBUF_SIMPLE);
    r.index = saved->bytes();
  }
  return told([&] {
    const Unlocked unlocked;
    return decode_jpeg(file.bytes(), r, pixels.bytes());
  });
}

nb::bytes build(const nb::object& data, int every) {
  const FileMemory file(data, PyBUF_SIMPLE);
  const auto index = told([&] {
    const Unlocked unlocked;
    return build_jpeg_index(file.bytes(), every);
  });
  return nb::bytes(index.data(), index.size());
}

// One file of many indexes. They are thinned, if they would take more than pipelines give them.
nb::bytes join(const nb::list& indexes) {
  EntropyIndexes all(SIZE_MAX);
  for (const nb::handle one : indexes) {
    const auto saved = nb::cast<nb::bytes>(one);
    told([&] {
      all.keep(EntropyIndex::of_saved({static_cast<const uint8_t*>(saved.data()), saved.size()}));
    });
  }
  const int64_t usual = PipelineOptions().jpeg_index_limit;
  while (all.statistics().bytes > usual && all.thin()) {
  }
  const std::vector<uint8_t> joined = all.saved();
  return nb::bytes(joined.data(), joined.size());
}

}  // namespace

void bind_jpeg(nb::module_& m) {
  m.def("jpeg_info", describe_jpeg, nb::arg("data"), nb::arg("request"),
        "What stoker.jpeg.Info holds.");
  m.def("jpeg_output", output_type, nb::arg("data"), nb::arg("request"),
        "The shape and the dtype that jpeg_decode() fills.");
  m.def("jpeg_decode", decode_file, nb::arg("data"), nb::arg("request"), nb::arg("index").none(),
        nb::arg("out"), "Fills dense memory with pixels. Whether the index was used.");
  m.def("join_jpeg_indexes", join, nb::arg("indexes"),
        "The bytes of a .sti file, of the indexes of many files, thinned to what pipelines take.");
  m.def("jpeg_index", build, nb::arg("data"), nb::arg("every"), "The index of a file.");
}

}  // namespace stoker::python
