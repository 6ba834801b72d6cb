// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "given_samples.h"

#include <algorithm>
#include <cstring>

#include "tensor.h"
#include "text.h"

namespace stoker::python {

namespace {

// The inputs of a call in one output of the engine, on which NumPy arrays are made. As a buffer it
// is read-only and begins at their first byte. It may span other memory, on which no array lies.
struct Memory {
  std::shared_ptr<const void> owner;
  std::byte* begin = nullptr;
  Py_ssize_t size = 0;
};

int memory_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Memory* m = nb::inst_ptr<Memory>(self);
  return PyBuffer_FillInfo(view, self, m->begin, m->size, 1, flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(memory_buffer)},
                              {0, nullptr}};

// Requires: nobody else has the list. Copies its last element if it is an array that others can
// write into, as the function may do when it is called for the next sample.
void settle(const nb::list& made) {
  const auto last = PyList_GET_SIZE(made.ptr()) - 1;
  const nb::handle value(PyList_GET_ITEM(made.ptr(), last));
  if (value.type().is(numpy().array) && !is_ours(value, 1))
    made[last] = or_sleep([&] { return value.attr("copy")(); });
}

}  // namespace

const NumPy& numpy() {
  static const NumPy* const found = [] {
    auto* n = new NumPy;  // for ever: objects of Python cannot be freed at the exit
    const nb::module_ module = nb::module_::import_("numpy");
    n->array = module.attr("ndarray");
    for (int t = 0; t < static_cast<int>(DType::kNone); ++t)
      n->dtypes[t] = module.attr("dtype")(name_of(static_cast<DType>(t)));
    return n;
  }();
  return *found;
}

nb::list arrays_of(const HostBatch& batch) {
  nb::list arrays;
  std::byte *low = nullptr, *high = nullptr;
  for (const View& v : batch.samples) {
    if (v.shape.volume() == 0) continue;
    if (!low || v.as<std::byte>() < low) low = v.as<std::byte>();
    high = std::max(high, v.as<std::byte>() + v.bytes());
  }
  const nb::object memory = nb::cast(Memory{batch.owner, low, high - low});
  for (const View& v : batch.samples) {
    nb::object shape = nb::steal(PyTuple_New(v.shape.rank));
    for (int a = 0; a < v.shape.rank; ++a)
      PyTuple_SET_ITEM(shape.ptr(), a, PyLong_FromLongLong(v.shape[a]));
    const int64_t offset = v.shape.volume() ? v.as<std::byte>() - low : 0;
    const nb::object place = nb::steal(PyLong_FromLongLong(offset));
    PyObject* arguments[] = {shape.ptr(), numpy().dtypes[static_cast<int>(v.dtype)].ptr(),
                             memory.ptr(), place.ptr()};
    const nb::object array =
        nb::steal(PyObject_Vectorcall(numpy().array.ptr(), arguments, 4, nullptr));
    if (!array.is_valid()) throw nb::python_error();
    arrays.append(array);
  }
  return arrays;
}

nb::list tensors_of(const HostBatch& batch) {
  int64_t bytes = 0;
  for (const View& v : batch.samples) bytes += v.bytes();
  const auto owner = std::make_shared<HeapBuffer>(static_cast<size_t>(bytes));
  std::byte* to = owner->data();
  nb::list tensors;
  for (const View& v : batch.samples) {
    if (v.bytes()) std::memcpy(to, v.data, static_cast<size_t>(v.bytes()));
    PyTensor t{to, v.dtype, std::string(v.layout.str()), {}, {}, owner, ""};
    t.shape.assign(v.shape.extent, v.shape.extent + v.shape.rank);
    t.strides.assign(t.shape.size(), 1);
    for (int a = v.shape.rank - 2; a >= 0; --a) t.strides[a] = t.strides[a + 1] * t.shape[a + 1];
    tensors.append(nb::cast(std::move(t)));
    to += v.bytes();
  }
  return tensors;
}

bool is_ours(nb::handle array, Py_ssize_t holders) {
  const nb::object base = array.attr("base");
  if (nb::isinstance<Memory>(base) || PyBytes_CheckExact(base.ptr())) return true;  // read-only
  if (Py_REFCNT(array.ptr()) > holders) return false;
  if (base.is_none()) return nb::cast<bool>(array.attr("flags").attr("owndata"));
  return base.type().is(numpy().array) && is_ours(base, 2);  // the array and this function
}

void bind_given_samples(nb::module_& m) {
  nb::class_<Memory>(m, "Memory", nb::type_slots(memory_slots),
                     "The memory of samples that a function of the user's gets.");
  m.def("settle", &settle, nb::arg("made"),
        "Replaces the last element of a list by a copy if it is an array of NumPy that others can "
        "write into.");
}

}  // namespace stoker::python
