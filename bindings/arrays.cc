// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <cstring>

#include "dlpack.h"
#include "text.h"

namespace stoker::python {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw NotAnArray(what); }

// `format`: a character of Python's struct module, as buffers name their element type.
DType dtype_of_format(const char* format, Py_ssize_t size) {
  std::string f = format ? format : "B";
  if (!f.empty() && std::strchr("@=<|", f[0])) f.erase(0, 1);
  const char kind = f.size() == 1 ? f[0] : '\0';
  const std::string bits = std::to_string(size * 8);
  DType t = DType::kNone;
  if (kind == '?') t = DType::kBool;
  else if (kind && std::strchr("bhilqn", kind)) t = dtype_named("int" + bits);
  else if (kind && std::strchr("cBHILQN", kind)) t = dtype_named("uint" + bits);
  else if (kind && std::strchr("efd", kind)) t = dtype_named("float" + bits);
  if (t == DType::kNone)
    refuse("has elements of format '" + std::string(format ? format : "") + "', " +
           std::to_string(size) + " bytes each; no dtype of types.* is that");
  return t;
}

DType dtype_of(const dlpack::DataType& d) {
  const std::string bits = std::to_string(d.bits);
  DType t = DType::kNone;
  if (d.lanes == 1 && d.code == dlpack::kBool) t = DType::kBool;
  else if (d.lanes == 1 && d.code == dlpack::kInt) t = dtype_named("int" + bits);
  else if (d.lanes == 1 && d.code == dlpack::kUint) t = dtype_named("uint" + bits);
  else if (d.lanes == 1 && d.code == dlpack::kFloat) t = dtype_named("float" + bits);
  if (t == DType::kNone)
    refuse("has elements of DLPack code " + std::to_string(d.code) + ", " + bits +
           " bits; no dtype of types.* is that");
  return t;
}

// `axes` is how many axes the array may have besides those of a sample.
View view_of(void* data, DType dtype, int rank, int axes) {
  static std::byte nothing[64];  // an address for arrays without elements
  if (rank > kMaxRank + axes)
    refuse("has samples of " + std::to_string(rank - axes) + " axes; there may be " +
           std::to_string(kMaxRank));
  View v;
  v.data = data ? data : nothing;
  v.dtype = dtype;
  return v;
}

void add_axis(Array& a, int axis, bool is_batch, int64_t extent, int64_t stride) {
  if (is_batch && axis == 0) {
    a.count = extent;
    a.stride = stride;
    return;
  }
  a.sample.shape.push_back(extent);
  a.sample.strides.push_back(stride);
}

Array finished(Array a) {
  a.sample.origin = Shape::filled(a.sample.shape.rank, 0);
  a.sample.full = a.sample.shape;
  return a;
}

void need_axis(int rank, bool is_batch) {
  if (is_batch && rank == 0)
    refuse("is a scalar; a batch is a list, or an array with an axis for it");
}

Array from_buffer(nb::handle h, bool is_batch, Lent& lent) {
  Py_buffer b;
  if (PyObject_GetBuffer(h.ptr(), &b, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0)
    throw nb::python_error();
  lent.buffers.push_back(b);
  need_axis(b.ndim, is_batch);
  Array a{view_of(b.buf, dtype_of_format(b.format, b.itemsize), b.ndim, is_batch)};
  for (int i = 0; i < b.ndim; ++i) add_axis(a, i, is_batch, b.shape[i], b.strides[i]);
  return finished(a);
}

template <class M>
const dlpack::Tensor* tensor_in(nb::handle capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule.ptr(), name)) return nullptr;
  return &static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), name))->tensor;
}

void need_cpu(int64_t device_type) {
  if (device_type != dlpack::kCpu)
    refuse("lies on a device (DLPack type " + std::to_string(device_type) +
           "); bring it to the CPU before");
}

// The capsule keeps its name, so it frees the tensor itself when it is dropped.
Array from_capsule(const nb::object& capsule, bool is_batch, Lent& lent) {
  const dlpack::Tensor* t = tensor_in<dlpack::Managed>(capsule, "dltensor");
  if (!t) t = tensor_in<dlpack::ManagedVersioned>(capsule, "dltensor_versioned");
  if (!t) refuse("gave a DLPack capsule of an unknown kind, or one that was taken already");
  need_cpu(t->device.type);
  lent.objects.push_back(capsule);
  need_axis(t->ndim, is_batch);
  const DType dtype = dtype_of(t->dtype);
  Array a{view_of(t->data ? static_cast<char*>(t->data) + t->byte_offset : nullptr, dtype, t->ndim,
                  is_batch)};
  std::vector<int64_t> strides(t->ndim, 1);
  for (int i = t->ndim - 2; i >= 0; --i) strides[i] = strides[i + 1] * t->shape[i + 1];
  for (int i = 0; i < t->ndim; ++i)
    add_axis(a, i, is_batch, t->shape[i],
             (t->strides ? t->strides[i] : strides[i]) * size_of(dtype));
  return finished(a);
}

Array from_dlpack(nb::handle h, bool is_batch, Lent& lent) {
  const nb::object place = h.attr("__dlpack_device__")();
  need_cpu(nb::cast<int64_t>(nb::object(place[0])));
  return from_capsule(nb::object(h.attr("__dlpack__")()), is_batch, lent);
}

}  // namespace

Array array_of(nb::handle h, bool is_batch, Lent& lent) {
  if (PyObject_CheckBuffer(h.ptr())) return from_buffer(h, is_batch, lent);
  if (PyCapsule_CheckExact(h.ptr())) return from_capsule(nb::borrow(h), is_batch, lent);
  if (PyObject_HasAttrString(h.ptr(), "__dlpack__")) return from_dlpack(h, is_batch, lent);
  refuse("is of type " + nb::cast<std::string>(h.type().attr("__name__")) +
         ", not an array (buffer protocol, DLPack)");
}

}  // namespace stoker::python
