// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy.h"
#include "kernels/fused/fused.h"
#include "op/decode/encoded_bytes.h"
#include "op/type_of.h"

namespace stoker::ops::decode {

struct Numpy {
  std::optional<DType> dtype;
  bool same_dtype = false;

  static constexpr auto schema = describe(
      "decoders.numpy",
      "Decodes an array that NumPy has saved, the bytes of a .npy file.\n\n"
      "Gives the array with its shape, also where its elements lie in Fortran's order or in the "
      "other byte order. Arrays of objects, texts, complex numbers and structures fail the sample. "
      "The number of axes may differ from sample to sample only where later operators allow it.",
      ports(encoded_port("The bytes of a .npy file: uint8 of shape (size,).")),
      ports({.name = "array", .help = "The array."}),
      arg(&Numpy::dtype, "dtype",
          "Output dtype. Values of arrays with another dtype are rounded and saturate. Default: "
          "that of the first array, and arrays with another one fail their samples."),
      arg(&Numpy::same_dtype, "same_dtype",
          "Whether arrays with another dtype fail their samples. Without dtype they always do."));

  void check(Checker& c) const {
    require_encoded(c);
    require(dtype.has_value(),
            "its type is not known before a file is read: declare it, such as dtype=types.FLOAT, "
            "or run the pipeline first");
    TensorType t{*dtype, {}, {}};
    t.shape.rank = -1;
    c.out(t);
  }

  void infer(Inference& i) const {
    const EncodedSpan bytes = bytes_of(i.values[0]);
    const NpyHeader& h = i.kept.set(read_npy_header(bytes));
    check_npy_size(bytes, h);
    require(!same_dtype || h.dtype == *dtype, "the array is of ", h.dtype, ", expected ", *dtype,
            "; with argument 'dtype' and without 'same_dtype' it is converted");
    i.out({*dtype, {}, h.shape});
  }

  void run_cpu(Run& r) const {
    const auto& h = r.kept.get<NpyHeader>();
    if (r.outputs[0].shape.volume() == 0) return;
    const View stored = npy_array(bytes_of(r.inputs[0]), h, r.scratch);
    const Block block{Convert{}, *dtype};
    run_blocks({&block, 1}, stored, r.outputs[0], r.scratch);
  }

  static std::vector<Case> cases() {
    return {{"dtype=types.INT16", {kTinyNpy}, {"int16 [[1, 2], [-3, 4]]"}},
            {"dtype=types.FLOAT", {kTinyNpy}, {"float32 [[1, 2], [-3, 4]]"}},
            {"dtype=types.INT16, same_dtype=True", {kTinyNpy}, {"int16 [[1, 2], [-3, 4]]"}}};
  }

 private:
  // np.array([[1, 2], [-3, 4]], '<i2'), with the shortest header.
  static constexpr const char* kTinyNpy =
      "uint8 [147, 78, 85, 77, 80, 89, 1, 0, 53, 0, 123, 39, 100, 101, 115, 99, 114, 39, 58, 39, "
      "60, 105, 50, 39, 44, 39, 102, 111, 114, 116, 114, 97, 110, 95, 111, 114, 100, 101, 114, 39, "
      "58, 70, 97, 108, 115, 101, 44, 39, 115, 104, 97, 112, 101, 39, 58, 40, 50, 44, 50, 41, 125, "
      "10, 10, 1, 0, 2, 0, 253, 255, 4, 0]";
};

}  // namespace stoker::ops::decode

STOKER_OPERATOR(stoker::ops::decode::Numpy)
