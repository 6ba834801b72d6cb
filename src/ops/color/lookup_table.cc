// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::color {

struct LookupTable {
  Small<int> keys;
  Small<float> values;
  float default_value = 0;
  DType dtype = DType::kFloat32;
  std::shared_ptr<const TableLists> lists;

  Classes class_rule() const { return is_class_dtype(dtype) ? Classes::kRenamed : Classes::kRead; }

  static constexpr auto schema = describe(
      "lookup_table",
      "Replaces each number by the value of its key.\n\n"
      "The input holds whole numbers of any shape. A number that is no key gives default_value. Of "
      "a key that is there twice the last value counts.",
      ports({.name = "input",
             .help = "Whole numbers.",
             .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64"}),
      ports({.name = "output", .help = "The values, in the input's shape."}),
      arg(&LookupTable::keys, "keys", "Numbers from 0 to 65535.", between(0, 65535)),
      arg(&LookupTable::values, "values", "The value of each key."),
      arg(&LookupTable::default_value, "default_value", "What all other numbers give."),
      arg(&LookupTable::dtype, "dtype", "Output dtype. Values are rounded and saturate."));

  void prepare() {
    std::vector<float> list;
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto key = static_cast<size_t>(keys[i]);
      if (key >= list.size()) list.resize(key + 1, default_value);
      list[key] = values[i];
    }
    lists = table_lists(list, 1, default_value, dtype);
  }

  void check(Checker& c) const {
    require(keys.size() == values.size(), "argument 'values' has ", values.size(),
            " values, expected ", keys.size(), ", one for each of the argument 'keys'");
    c.out({dtype, c.in().layout, c.in().shape});
  }

  void lower(Lowering& l) const { l.add(Table{lists}, dtype); }

  static std::vector<Case> cases() {
    return {
        {"keys=[1, 3, 1], values=[10.0, 0.5, 11.0], default_value=-1.0",
         {"uint8 [0, 1, 2, 3, 255]"},
         {"float32 [-1.0, 11.0, -1.0, 0.5, -1.0]"}},
        {"keys=[0, 65535], values=[2.5, 300.0], dtype=types.UINT8, default_value=7.0",
         {"int32 HW [[0, 65535], [65536, -1]]"},
         {"uint8 [[3, 255], [7, 7]]"}},
        {"", {"int64 [5]"}, {"float32 [0.0]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::LookupTable)
