// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Writes established indexes of stores.
#include "bindings.h"
#include "io/file.h"
#include "stores/recordio.h"
#include "stores/tfrecord.h"
#include "stores/webdataset.h"
#include "text.h"

namespace stoker::python {

namespace {

std::string index_text(const std::string& path, bool is_tfrecord) {
  const stores::ObjectRanges file(std::make_shared<const io::File>(path));
  const std::vector<stores::RecordPlace> places =
      is_tfrecord ? stores::find_tfrecords(file) : stores::find_recordio(file);
  // Of a damaged file, the last place is what could not be read.
  if (!places.empty()) {
    const stores::RecordPlace last = places.back();
    std::vector<uint8_t> bytes(static_cast<size_t>(last.size)), joined;
    file.read(last.offset, bytes);
    if (is_tfrecord) stores::tfrecord_payload(bytes, path, last.offset, false);
    else stores::recordio_payload(bytes, path, last.offset, joined);
  }
  return is_tfrecord ? stores::tfrecord_index(places) : stores::recordio_index(places);
}

std::string webdataset_index(const std::string& path) {
  return stores::webdataset_index(stores::ObjectRanges(std::make_shared<const io::File>(path)));
}

}  // namespace

void bind_index(nb::module_& m) {
  m.def(
      "tfrecord_index",
      [](const std::string& path) {
        const nb::gil_scoped_release release;
        return index_text(path, true);
      },
      "The text of the index of a TFRecord file. Raises SampleError where it is damaged.");
  m.def(
      "recordio_index",
      [](const std::string& path) {
        const nb::gil_scoped_release release;
        return index_text(path, false);
      },
      "The text of the index of a RecordIO file. Raises SampleError where it is damaged.");
  m.def(
      "webdataset_index",
      [](const std::string& path) {
        const nb::gil_scoped_release release;
        return webdataset_index(path);
      },
      "The text of the index of a tar archive. Raises SampleError where it is damaged.");
}

}  // namespace stoker::python
