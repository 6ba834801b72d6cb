// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Batches and tensors as Python sees them: zero-copy by DLPack and by the array interface, both ways of holding the memory.
#include "batch/batch.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "base/error.h"
#include "dlpack.h"
#include "parts.h"
#include "tensor.h"

namespace stoker::python {

namespace {

dlpack::DataType dlpack_type(DType t) {
  const DTypeInfo& i = info(t);
  const uint8_t code = t == DType::kBool ? dlpack::kBool
                       : i.is_float      ? dlpack::kFloat
                       : i.is_signed     ? dlpack::kInt
                                         : dlpack::kUint;
  return {code, static_cast<uint8_t>(i.size * 8), 1};
}

// Keeps a tensor's memory for as long as a consumer holds the capsule.
template <class M>
struct Export {
  M managed;
  std::vector<int64_t> shape, strides;
  std::shared_ptr<Buffer> owner;
};

template <class M>
M* make_export(const PyTensor& t) {
  auto* e = new Export<M>{{}, t.shape, t.strides, t.owner};
  e->managed.tensor = {t.data,
                       {dlpack::kCpu, 0},
                       static_cast<int32_t>(t.shape.size()),
                       dlpack_type(t.dtype),
                       e->shape.data(),
                       e->strides.data(),
                       0};
  e->managed.context = e;
  e->managed.deleter = [](M* m) { delete static_cast<Export<M>*>(m->context); };
  return &e->managed;
}

// Frees what nobody took: a consumer renames the capsule.
template <class M>
void drop_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  m->deleter(m);
}

nb::object to_dlpack(const PyTensor& t, const nb::kwargs& options) {
  bool versioned = false;
  if (options.contains("max_version") && !nb::object(options["max_version"]).is_none())
    versioned = nb::cast<int>(options["max_version"][0]) >= 1;
  if (!versioned) {
    auto* m = make_export<dlpack::Managed>(t);
    return nb::steal(PyCapsule_New(
        m, "dltensor", [](PyObject* c) { drop_capsule<dlpack::Managed>(c, "dltensor"); }));
  }
  auto* m = make_export<dlpack::ManagedVersioned>(t);
  m->major = 1;
  m->minor = 0;
  m->flags = 0;
  return nb::steal(PyCapsule_New(m, "dltensor_versioned", [](PyObject* c) {
    drop_capsule<dlpack::ManagedVersioned>(c, "dltensor_versioned");
  }));
}

std::string type_string(DType t) {
  const DTypeInfo& i = info(t);
  const char kind = t == DType::kBool ? 'b' : i.is_float ? 'f' : i.is_signed ? 'i' : 'u';
  return std::string(i.size == 1 ? "|" : "<") + kind + std::to_string(i.size);
}

nb::tuple tuple_of(const std::vector<int64_t>& v, int64_t factor = 1) {
  nb::list l;
  for (int64_t x : v) l.append(x * factor);
  return nb::tuple(l);
}

nb::dict array_interface(const PyTensor& t) {
  nb::dict d;
  d["version"] = 3;
  d["typestr"] = type_string(t.dtype);
  d["shape"] = tuple_of(t.shape);
  d["strides"] = tuple_of(t.strides, size_of(t.dtype));
  d["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(t.data), false);
  return d;
}

nb::object to_array(nb::handle self, nb::handle dtype, nb::handle copy) {
  nb::object numpy = nb::module_::import_("numpy");
  nb::object a = numpy.attr("asarray")(self);
  if (!dtype.is_none()) a = a.attr("astype")(dtype, nb::arg("copy") = false);
  if (!copy.is_none() && nb::cast<bool>(copy)) a = a.attr("copy")();
  return a;
}

// A copy that Python asked for; of no pool.
class HeapBuffer final : public Buffer {
 public:
  explicit HeapBuffer(size_t size) : Buffer(new std::byte[size + 1], size) {}
  ~HeapBuffer() override { delete[] data(); }
};

std::string device_of(const Batch& b) { return b.on_device ? b.on_device->device->name() : "cpu"; }

PyTensor tensor_of(const Batch& b, const Sample& s) {
  if (b.on_device)
    throw DeviceError("this batch is in the memory of " + device_of(b) + "; take batch.as_cpu()");
  PyTensor t{s.view.data, s.view.dtype, std::string(s.view.layout.str()), {}, {}, s.owner, ""};
  t.shape.assign(s.view.shape.extent, s.view.shape.extent + s.view.shape.rank);
  for (int a = 0; a < s.view.shape.rank; ++a)
    t.strides.push_back(s.view.strides[a] / size_of(s.view.dtype));
  if (b.provenance) t.source = b.provenance->name(s.index);
  return t;
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

// All samples as one tensor with the batch as first axis: the bytes themselves when dense, else one copy.
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
  t.owner = std::make_shared<HeapBuffer>(static_cast<size_t>(bytes * t.shape[0]));
  for (size_t i = 0; i < b.samples.size(); ++i)
    std::memcpy(t.owner->data() + i * bytes, b.samples[i].view.data, bytes);
  t.data = t.owner->data();
  return t;
}

// The samples in host memory, once the device is done with them.
Batch to_cpu(const Batch& b) {
  if (!b.on_device) return b;
  const Unlocked unlocked;
  Batch host = b;
  host.on_device.reset();
  int64_t bytes = 0;
  for (const Sample& s : b.samples) bytes += s.view.bytes();
  auto owner = std::make_shared<HeapBuffer>(static_cast<size_t>(bytes));
  const std::unique_ptr<Stream> stream = b.on_device->device->make_stream("as_cpu");
  stream->wait(*b.on_device->ready);
  std::byte* to = owner->data();
  for (Sample& s : host.samples) {
    stream->copy(to, s.view.data, static_cast<size_t>(s.view.bytes()), Copy::kToHost, "as_cpu");
    s.view.data = to;
    s.owner = owner;
    to += s.view.bytes();
  }
  stream->synchronize();
  host.whole = b.whole ? owner : nullptr;
  return host;
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
  return s + ")>";
}

void bind_tensor(nb::module_& m) {
  nb::class_<PyTensor>(
      m, "Tensor",
      "An n-d array. It keeps its memory for as long as it, or anything made from it, lives.")
      .def_prop_ro("shape", [](const PyTensor& t) { return tuple_of(t.shape); })
      .def_prop_ro("dtype", [](const PyTensor& t) { return name_of(t.dtype); })
      .def_ro("layout", &PyTensor::layout)
      .def_prop_ro("ndim", [](const PyTensor& t) { return t.shape.size(); })
      .def_ro("source_info", &PyTensor::source,
              "Where the sample came from: a path, an archive entry.")
      .def_prop_ro("data_ptr",
                   [](const PyTensor& t) { return reinterpret_cast<uintptr_t>(t.data); })
      .def("__dlpack__", &to_dlpack, nb::arg("options"))
      .def("__dlpack_device__", [](const PyTensor&) { return nb::make_tuple(dlpack::kCpu, 0); })
      .def_prop_ro("__array_interface__", &array_interface)
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            return to_array(self, dtype, copy);
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def(
          "as_array", [](nb::handle self) { return to_array(self, nb::none(), nb::none()); },
          "A NumPy array on the same memory.")
      .def("__len__", [](const PyTensor& t) { return t.shape.empty() ? 0 : t.shape[0]; })
      .def("__repr__", &describe);
}

}  // namespace

void bind_batch(nb::module_& m) {
  bind_tensor(m);
  nb::class_<Batch>(m, "Batch", "The samples of one output. They belong to whoever holds them.")
      .def("__len__", [](const Batch& b) { return b.samples.size(); })
      .def("__getitem__", &sample)
      .def(
          "at",
          [](const Batch& b, int64_t i) {
            return to_array(nb::cast(sample(b, i)), nb::none(), nb::none());
          },
          nb::arg("i"), "Sample i as a NumPy array on the same memory.")
      .def("shape", &shapes, "The shape of each sample.")
      .def_prop_ro("dtype", [](const Batch& b) { return name_of(b.dtype); })
      .def_prop_ro("layout", [](const Batch& b) { return std::string(b.layout.str()); })
      .def_prop_ro("device", &device_of)
      .def_prop_ro("is_dense", &Batch::is_dense,
                   "Whether the samples lie one behind the other, all of one shape.")
      .def("as_tensor", &whole,
           "All samples as one tensor, the batch as first axis: no copy if is_dense.")
      .def(
          "as_array",
          [](const Batch& b) { return to_array(nb::cast(whole(b)), nb::none(), nb::none()); },
          "as_tensor() as a NumPy array.")
      .def(
          "__array__",
          [](const Batch& b, nb::handle dtype, nb::handle copy) {
            return to_array(nb::cast(whole(b)), dtype, copy);
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__",
           [](const Batch& b, const nb::kwargs& options) { return to_dlpack(whole(b), options); })
      .def("__dlpack_device__", [](const Batch&) { return nb::make_tuple(dlpack::kCpu, 0); })
      .def("as_cpu", &to_cpu, "This batch in host memory; itself if it is there.")
      .def(
          "index_in_batch",
          [](const Batch& b, int64_t i) {
            sample(b, i);  // checks i
            return b.samples[i < 0 ? i + static_cast<int64_t>(b.samples.size()) : i].in_batch;
          },
          nb::arg("i"),
          "Sample i's place in the whole batch: not i where on_error='skip' left samples out.")
      .def(
          "source_info", [](const Batch& b, int64_t i) { return sample(b, i).source; },
          nb::arg("i"))
      .def("__repr__", [](const Batch& b) {
        return "<stoker.Batch of " + std::to_string(b.samples.size()) + " " + name_of(b.dtype) +
               " " + std::string(b.layout.str()) + " samples " + shapes_of(b) + ">";
      });
}

}  // namespace stoker::python
