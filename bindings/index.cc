// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Writes established indexes of stores, and tells what is in folders of classes.
#include "bindings.h"
#include "io/origin.h"
#include "io/paths/path_list.h"
#include "stores/records/recordio.h"
#include "stores/records/tfrecord.h"
#include "stores/webdataset.h"
#include "text.h"

namespace stoker::python {

namespace {

std::string index_text(const std::string& path, bool is_tfrecord) {
  const stores::ObjectRanges file(io::open(path));
  const std::vector<stores::RecordPlace> places =
      is_tfrecord ? stores::find_tfrecords(file) : stores::find_recordio(file);
  // The last place of a damaged file is what could not be read.
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
  return stores::webdataset_index(stores::ObjectRanges(io::open(path)));
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
  m.def(
      "class_folders",
      [](const std::string& root, const std::vector<std::string>& filters, bool case_sensitive) {
        io::PathListSpec spec;
        spec.file_root = root;
        spec.dir_filters = filters;
        spec.case_sensitive_filter = case_sensitive;
        nb::list all;
        for (const std::string& name : io::class_folders(spec)) all.append(nb::cast(name));
        return all;
      },
      nb::arg("root"), nb::arg("filters"), nb::arg("case_sensitive"),
      "The names of the folders of which readers.file makes classes, by label.");
  m.def(
      "surprises_of",
      [](const std::string& root) {
        const nb::gil_scoped_release release;
        io::PathListSpec spec;
        spec.file_root = root;
        return io::PathList(spec).warning();
      },
      nb::arg("root"), "What readers.file warns of where it reads a folder of classes.");
}

}  // namespace stoker::python
