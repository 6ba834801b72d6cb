// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Batches and tensors as Python sees them, with their shapes and the owners of their memory.
#include "batch/batch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "bindings.h"
#include "tensor.h"
#include "text.h"

namespace stoker::python {

PyTensor tensor_of(const Batch& b, const Sample& s) {
  PyTensor t{s.view.data, s.view.dtype, std::string(s.view.layout.str()), {}, {}, s.owner, ""};
  t.on_device = b.on_device;
  t.shape.assign(s.view.shape.extent, s.view.shape.extent + s.view.shape.rank);
  for (int a = 0; a < s.view.shape.rank; ++a)
    t.strides.push_back(s.view.strides[a] / size_of(s.view.dtype));
  if (b.provenance) t.source = b.provenance->name(s.index);
  return t;
}

namespace {

nb::object to_array(const PyTensor& t, nb::handle dtype, nb::handle copy) {
  if (t.on_device)
    throw DeviceError("this is in the memory of " + device_name(t.on_device) +
                      ", which NumPy cannot see; copy it: as_cpu()");
  const nb::object self = nb::cast(t);
  nb::object numpy = nb::module_::import_("numpy");
  nb::object a = numpy.attr("asarray")(self);
  if (!dtype.is_none()) a = a.attr("astype")(dtype, nb::arg("copy") = false);
  if (!copy.is_none() && nb::cast<bool>(copy)) a = a.attr("copy")();
  return a;
}

PyTensor sample(const Batch& b, int64_t i) {
  const auto n = static_cast<int64_t>(b.samples.size());
  if (i < -n || i >= n)
    throw nb::index_error(
        ("sample " + std::to_string(i) + " of a batch of " + std::to_string(n)).c_str());
  return tensor_of(b, b.samples[i < 0 ? i + n : i]);
}

std::string shapes_of(const Batch& b) {
  std::string s;
  for (size_t i = 0; i < b.samples.size() && i < 4; ++i)
    s += (i ? ", " : "") + b.samples[i].view.shape.str();
  return s + (b.samples.size() > 4 ? ", ..." : "");
}

Pieces pieces_of(const Batch& b) {
  Pieces pieces;
  for (const Sample& s : b.samples)
    pieces.emplace_back(s.view.as<std::byte>(), static_cast<size_t>(s.view.bytes()));
  return pieces;
}

// All samples as one tensor, with the batch as its first axis. Copied only if it is not dense.
PyTensor whole(const Batch& b) {
  if (b.samples.empty()) throw GraphError("an empty batch has no tensor");
  const Shape shape = b.samples[0].view.shape;
  for (const Sample& s : b.samples)
    if (!(s.view.shape == shape))
      throw GraphError(
          "the samples of this batch differ in shape (" + shapes_of(b) +
          "), so they are no single tensor; use .at(i), or make them equal with resize or crop");
  PyTensor t = tensor_of(b, b.samples[0]);
  const int64_t bytes = b.samples[0].view.bytes();
  t.source.clear();
  t.shape.insert(t.shape.begin(), static_cast<int64_t>(b.samples.size()));
  t.strides.insert(t.strides.begin(), shape.volume());
  if (!t.layout.empty()) t.layout = "N" + t.layout;
  if (b.is_dense()) return t;
  if (b.on_device) {
    Pieces pieces = pieces_of(b);
    const Unlocked unlocked;
    DeviceCopy copy = copy_on_device(*b.on_device, pieces);
    t.owner = std::move(copy.owner);
    t.on_device = std::move(copy.on_device);
    t.data = t.owner->data();
    return t;
  }
  t.owner = std::make_shared<HeapBuffer>(static_cast<size_t>(bytes * t.shape[0]));
  for (size_t i = 0; i < b.samples.size(); ++i)
    std::memcpy(t.owner->data() + i * bytes, b.samples[i].view.data, bytes);
  t.data = t.owner->data();
  return t;
}

// Waits until the device is done with the batch.
Batch to_cpu(const Batch& b) {
  if (!b.on_device) return b;
  const Unlocked unlocked;
  Batch host = b;
  host.on_device.reset();
  int64_t bytes = 0;
  for (const Sample& s : b.samples) bytes += s.view.bytes();
  auto owner = std::make_shared<HeapBuffer>(static_cast<size_t>(bytes));
  copy_to_host(*b.on_device, pieces_of(b), owner->data());
  std::byte* to = owner->data();
  for (Sample& s : host.samples) {
    s.view.data = to;
    s.owner = owner;
    to += s.view.bytes();
  }
  host.whole = b.whole ? owner : nullptr;
  return host;
}

// An element type for the same bytes; "" keeps what is there.
DType type_as_large(const std::string& dtype, DType now) {
  const DType wanted = dtype.empty() ? now : dtype_named(dtype);
  if (size_of(wanted) != size_of(now))
    throw GraphError("dtype expects a type of " + std::to_string(size_of(now)) + " bytes, as " +
                     name_of(now) + " is, got '" + dtype + "'");
  return wanted;
}

// How many elements there are; -1 if no memory holds so many.
int64_t volume_of(const std::vector<int64_t>& shape) {
  int64_t volume = 1;
  for (int64_t n : shape) {
    if (n < 0 || volume > (int64_t{1} << 40) / std::max<int64_t>(n, 1)) return -1;
    volume *= n;
  }
  return volume;
}

PyTensor tensor_viewed(PyTensor t, const std::string& dtype,
                       const std::optional<std::vector<int64_t>>& shape) {
  t.dtype = type_as_large(dtype, t.dtype);
  if (!shape) return t;
  const int64_t count = volume_of(t.shape);
  if (volume_of(*shape) != count)
    throw GraphError("shape expects " + std::to_string(count) +
                     " elements, as the tensor has, got " +
                     nb::cast<std::string>(nb::str(tuple_of(*shape))));
  t.shape = *shape;
  t.strides.assign(shape->size(), 1);
  for (size_t a = shape->size(); a-- > 1;) t.strides[a - 1] = t.strides[a] * t.shape[a];
  t.layout.clear();
  return t;
}

Batch batch_viewed(Batch b, const std::string& dtype, const std::optional<std::string>& layout) {
  b.dtype = type_as_large(dtype, b.dtype);
  if (layout) b.layout = Layout(*layout);
  for (Sample& s : b.samples) {
    if (layout && !layout->empty() && std::cmp_not_equal(layout->size(), s.view.shape.rank))
      throw GraphError("layout expects " + std::to_string(s.view.shape.rank) +
                       " letters, as a sample has axes, got '" + *layout + "'");
    s.view.dtype = b.dtype;
    s.view.layout = b.layout;
  }
  return b;
}

nb::list shapes(const Batch& b) {
  nb::list l;
  for (const Sample& s : b.samples)
    l.append(tuple_of({s.view.shape.extent, s.view.shape.extent + s.view.shape.rank}));
  return l;
}

std::string describe(const PyTensor& t) {
  std::string s = "<stoker.Tensor " + std::string(name_of(t.dtype)) +
                  (t.layout.empty() ? "" : " " + t.layout) + " (";
  for (size_t i = 0; i < t.shape.size(); ++i) s += (i ? ", " : "") + std::to_string(t.shape[i]);
  return s + ")" + (t.on_device ? " on " + device_name(t.on_device) : "") + ">";
}

void bind_tensor(nb::module_& m) {
  nb::class_<PyTensor>(
      m, "Tensor", "An n-d array. Its memory lives as long as the array or anything made from it.")
      .def_prop_ro("shape", [](const PyTensor& t) { return tuple_of(t.shape); })
      .def_prop_ro("dtype", [](const PyTensor& t) { return name_of(t.dtype); })
      .def_ro("layout", &PyTensor::layout)
      .def_prop_ro("ndim", [](const PyTensor& t) { return t.shape.size(); })
      .def_prop_ro(
          "source_info", [](const PyTensor& t) { return path_to_python(t.source); },
          "Where the sample came from: a path or an archive entry.")
      .def_prop_ro("data_ptr",
                   [](const PyTensor& t) { return reinterpret_cast<uintptr_t>(t.data); })
      .def_prop_ro("device", [](const PyTensor& t) { return device_name(t.on_device); })
      .def("as_cpu", &to_host, "A copy in host memory; the tensor itself if it is in host memory.")
      .def("__dlpack__", &to_dlpack, nb::arg("options"))
      .def("__dlpack_device__", [](const PyTensor& t) { return dlpack_device(t.on_device); })
      .def_prop_ro("__array_interface__", &array_interface)
      .def_prop_ro("__cuda_array_interface__",
                   [](nb::handle self) {
                     const nb::ft_object_guard guard(self);
                     return cuda_array_interface(nb::cast<PyTensor&>(self));
                   })
      .def("__array__", &to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def(
          "as_array", [](const PyTensor& t) { return to_array(t, nb::none(), nb::none()); },
          "A NumPy array on the same memory.")
      .def("viewed", &tensor_viewed, nb::arg("dtype") = "", nb::arg("shape") = nb::none(),
           "The same memory as another element type that is as large, or in another shape of as "
           "many elements, which has no layout. Raises GraphError for any other.")
      .def("__len__", [](const PyTensor& t) { return t.shape.empty() ? 0 : t.shape[0]; })
      .def("__repr__", [](const PyTensor& t) { return describe(t); });
}

nb::object sample_at(const Batch& b, int64_t i) {
  PyTensor t = sample(b, i);
  return t.on_device ? nb::cast(std::move(t)) : to_array(t, nb::none(), nb::none());
}

nb::object shape_of(const Batch& b) {
  return nb::module_::import_("stoker._batch_shape").attr("BatchShape")(shapes(b));
}

int64_t index_in_batch(const Batch& b, int64_t i) {
  (void)sample(b, i);  // checks i
  return b.samples[i < 0 ? i + static_cast<int64_t>(b.samples.size()) : i].in_batch;
}

[[noreturn]] nb::object refuse_attribute(const Batch&, const std::string& name) {
  throw nb::attribute_error(("a Batch has no '" + name +
                             "': as_array() makes a NumPy array of it, and "
                             "torch.from_dlpack() a tensor")
                                .c_str());
}

std::string describe(const Batch& b) {
  return "<stoker.Batch of " + std::to_string(b.samples.size()) + " " + name_of(b.dtype) + " " +
         std::string(b.layout.str()) + " samples " + shapes_of(b) + ">";
}

void bind_samples(nb::class_<Batch>& batch) {
  batch.def("__len__", [](const Batch& b) { return b.samples.size(); })
      .def("__getitem__", &sample)
      .def("at", &sample_at, nb::arg("i"),
           "Sample i on the same memory: a NumPy array, or a Tensor if it is on a device.")
      .def_prop_ro("shape", &shape_of,
                   "The shape of the whole batch; called, the shape of each sample.")
      .def_prop_ro("dtype", [](const Batch& b) { return name_of(b.dtype); })
      .def_prop_ro("layout", [](const Batch& b) { return std::string(b.layout.str()); })
      .def_prop_ro("device", [](const Batch& b) { return device_name(b.on_device); })
      .def_prop_ro("is_dense", &Batch::is_dense,
                   "Whether all samples have one shape and lie one behind the other.")
      .def("index_in_batch", &index_in_batch, nb::arg("i"),
           "The place of sample i in the whole batch; not i if on_error= left samples out.")
      .def(
          "source_info",
          [](const Batch& b, int64_t i) { return path_to_python(sample(b, i).source); },
          nb::arg("i"))
      .def("__getattr__", &refuse_attribute)
      .def("__repr__", [](const Batch& b) { return describe(b); });
}

void bind_conversions(nb::class_<Batch>& batch) {
  batch
      .def("as_tensor", &whole,
           "All samples as one tensor, with the batch as the first axis; no copy if is_dense.")
      .def(
          "as_array", [](const Batch& b) { return to_array(whole(b), nb::none(), nb::none()); },
          "The tensor of as_tensor() as a NumPy array.")
      .def(
          "__array__",
          [](const Batch& b, nb::handle dtype, nb::handle copy) {
            return to_array(whole(b), dtype, copy);
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__",
           [](const Batch& b, const nb::kwargs& options) { return to_dlpack(whole(b), options); })
      .def("__dlpack_device__", [](const Batch& b) { return dlpack_device(b.on_device); })
      .def("as_cpu", &to_cpu, "A copy in host memory; the batch itself if it is in host memory.")
      .def("viewed", &batch_viewed, nb::arg("dtype") = "", nb::arg("layout") = nb::none(),
           "The same memory as another element type that is as large, or with another layout of a "
           "sample, which has a letter for each axis. Raises GraphError for any other.");
}

}  // namespace

void bind_batch(nb::module_& m) {
  bind_tensor(m);
  nb::class_<Batch> batch(
      m, "Batch", "The samples of one output. Their memory belongs to the holder of the batch.");
  bind_samples(batch);
  bind_conversions(batch);
}

}  // namespace stoker::python
