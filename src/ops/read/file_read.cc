// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/origin.h"
#include "op/type_of.h"

namespace stoker::ops::read {

struct FileRead {
  static constexpr std::array kIgnored = {"dont_use_mmap", "use_o_direct"};
  static constexpr const char* kSkip = "reads files; tests/pipelines/test_reader.py tests it";
  static constexpr auto schema = describe(
      "io.file.read",
      "Reads files whose names other operators give.\n\n"
      "Gives the bytes of the file, uint8 of shape (size,). The file is read while the sample is "
      "made, not ahead: what is known beforehand is better read by a reader. A file that cannot be "
      "read fails its sample.",
      ports({.name = "filepaths",
             .help =
                 "The file's name as bytes: uint8 or int8 of shape (length,). Zero bytes at its "
                 "end do not count.",
             .dtypes = "uint8, int8",
             .is_value = true}),
      ports({.name = "bytes", .help = "The file's bytes, uint8 of shape (size,)."}));

  void check(Checker& c) const {
    require(c.in().shape.rank == 1 || c.in().shape.rank < 0,
            "input 'filepaths' has one axis, the bytes of a name; got ", c.in().str());
    c.out({DType::kUint8, {}, {-1}});
  }

  void run_cpu(Run& r) const {
    const View& name = r.inputs[0];
    require(name.shape.rank == 1, "a file's name has one axis, got the shape ", name.shape);
    std::string path(name.as<const char>(), static_cast<size_t>(name.shape[0]));
    path.resize(path.find_last_not_of('\0') + 1);
    require(!path.empty(), "the file's name is empty");
    const auto file = io::open(path);
    const View& out = r.make(0, {DType::kUint8, {}, {file->size()}});
    file->read_to({out.as<std::byte>(), static_cast<size_t>(file->size())}, 0);
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::FileRead)
