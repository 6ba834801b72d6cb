// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Hands tensors to other libraries by Python's exchange protocols: DLPack and the array interfaces.
#include <cstring>

#include "base/error.h"
#include "dlpack.h"
#include "lock.h"
#include "tensor.h"
#include "text.h"

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

// Simulated devices have a type that no library mistakes for GPU memory.
dlpack::Device dlpack_device_of(const std::shared_ptr<DeviceBatch>& on_device) {
  if (!on_device) return {dlpack::kCpu, 0};
  const Device& device = *on_device->device;
  return {device.kind() == "cuda" ? dlpack::kCuda : dlpack::kExtension, device.index()};
}

// Keeps a tensor's memory alive while a consumer holds the capsule. May be destroyed in any thread
// and without Python's lock.
template <class M>
struct Export {
  M managed;
  std::vector<int64_t> shape, strides;
  std::shared_ptr<Buffer> owner;
  std::unique_ptr<Lease> lease;  // null on the CPU
};

template <class M>
M* make_export(const PyTensor& t, std::unique_ptr<Lease> lease) {
  auto* e = new Export<M>{{}, t.shape, t.strides, t.owner, std::move(lease)};
  e->managed.tensor = {t.data,
                       dlpack_device_of(t.on_device),
                       static_cast<int32_t>(t.shape.size()),
                       dlpack_type(t.dtype),
                       e->shape.data(),
                       e->strides.data(),
                       0};
  e->managed.context = e;
  e->managed.deleter = [](M* m) { delete static_cast<Export<M>*>(m->context); };
  return &e->managed;
}

// Frees the tensor of a capsule that no consumer took. A consumer renames the capsule it takes.
template <class M>
void drop_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  m->deleter(m);
}

struct Request {
  nb::object stream = nb::none(), device = nb::none(), copy = nb::none();
  bool is_versioned = false;

  explicit Request(const nb::kwargs& options) {
    if (options.contains("stream")) stream = options["stream"];
    if (options.contains("dl_device")) device = options["dl_device"];
    if (options.contains("copy")) copy = options["copy"];
    if (options.contains("max_version") && !nb::object(options["max_version"]).is_none())
      is_versioned = nb::cast<int>(options["max_version"][0]) >= 1;
  }
  bool wants_copy() const { return !copy.is_none() && nb::cast<bool>(copy); }
  bool refuses_copy() const { return !copy.is_none() && !nb::cast<bool>(copy); }
};

PyTensor copied(PyTensor t) {
  if (!t.on_device) {
    auto copy = std::make_shared<HeapBuffer>(t.bytes()[0].size());
    std::memcpy(copy->data(), t.data, copy->size());
    t.owner = std::move(copy);
  } else {
    const Unlocked unlocked;
    DeviceCopy copy = copy_on_device(*t.on_device, t.bytes());
    t.owner = std::move(copy.owner);
    t.on_device = std::move(copy.on_device);
  }
  t.data = t.owner->data();
  return t;
}

// The tensor on the device that the consumer wants: the same one or a copy.
PyTensor as_wanted(const PyTensor& t, const Request& request) {
  const dlpack::Device is = dlpack_device_of(t.on_device);
  dlpack::Device to = is;
  if (!request.device.is_none())
    to = {nb::cast<int>(request.device[0]), nb::cast<int>(request.device[1])};
  if (to.type == is.type && to.id == is.id) return request.wants_copy() ? copied(t) : t;
  const std::string wanted = "(" + std::to_string(to.type) + ", " + std::to_string(to.id) + ")";
  if (to.type != dlpack::kCpu || to.id != 0)
    throw nb::buffer_error(("dl_device expects this tensor's own, (" + std::to_string(is.type) +
                            ", " + std::to_string(is.id) + "), or that of the CPU, (1, 0), got " +
                            wanted)
                               .c_str());
  if (request.refuses_copy())
    throw nb::buffer_error(("dl_device=(1, 0) expects copy=None or True, got False: the tensor is "
                            "in the memory of " +
                            device_name(t.on_device))
                               .c_str());
  return to_host(t);
}

// The stream on which the consumer works, or none if the consumer keeps the order itself. The host
// waits for a simulated device, whose memory host threads read.
std::optional<ForeignStream> consumer_of(const DeviceBatch& batch, const nb::object& stream) {
  if (stream.is_none()) {
    if (batch.device->kind() == "cuda") return ForeignStream::kDefault;
    const Unlocked unlocked;
    naming_step(batch.step, [&] { batch.ready->synchronize(); });
    return std::nullopt;
  }
  const auto number = nb::cast<int64_t>(stream);
  if (number == -1) return std::nullopt;
  if (number < 1)
    throw GraphError(
        "stream expects a CUDA stream's handle, 1 (the legacy default stream), 2 (the thread's), "
        "-1 (no order is wanted) or None, got " +
        std::to_string(number));
  return static_cast<ForeignStream>(number);
}

std::string type_string(DType t) {
  const DTypeInfo& i = info(t);
  const char kind = t == DType::kBool ? 'b' : i.is_float ? 'f' : i.is_signed ? 'i' : 'u';
  return std::string(i.size == 1 ? "|" : "<") + kind + std::to_string(i.size);
}

nb::dict interface_of(const PyTensor& t) {
  nb::dict d;
  d["version"] = 3;
  d["typestr"] = type_string(t.dtype);
  d["shape"] = tuple_of(t.shape);
  d["strides"] = tuple_of(t.strides, size_of(t.dtype));
  d["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(t.data), false);
  return d;
}

}  // namespace

Pieces PyTensor::bytes() const {
  size_t size = static_cast<size_t>(size_of(dtype));
  for (int64_t n : shape) size *= static_cast<size_t>(n);
  return {{static_cast<const std::byte*>(data), size}};
}

std::string device_name(const std::shared_ptr<DeviceBatch>& on_device) {
  return on_device ? on_device->device->name() : "cpu";
}

PyTensor to_host(const PyTensor& t) {
  if (!t.on_device) return t;
  const Unlocked unlocked;
  PyTensor host = t;
  auto copy = std::make_shared<HeapBuffer>(t.bytes()[0].size());
  copy_to_host(*t.on_device, t.bytes(), copy->data());
  host.data = copy->data();
  host.owner = std::move(copy);
  host.on_device.reset();
  host.lease.reset();
  return host;
}

nb::object to_dlpack(const PyTensor& t, const nb::kwargs& options) {
  const Request request(options);
  const PyTensor wanted = as_wanted(t, request);
  std::unique_ptr<Lease> lease;
  if (wanted.on_device)
    lease = std::make_unique<Lease>(*wanted.on_device, wanted.owner,
                                    consumer_of(*wanted.on_device, request.stream));
  if (!request.is_versioned) {
    auto* m = make_export<dlpack::Managed>(wanted, std::move(lease));
    return nb::steal(PyCapsule_New(
        m, "dltensor", [](PyObject* c) { drop_capsule<dlpack::Managed>(c, "dltensor"); }));
  }
  auto* m = make_export<dlpack::ManagedVersioned>(wanted, std::move(lease));
  m->major = 1;
  m->minor = 0;
  m->flags = wanted.data == t.data ? 0 : dlpack::kIsCopied;
  return nb::steal(PyCapsule_New(m, "dltensor_versioned", [](PyObject* c) {
    drop_capsule<dlpack::ManagedVersioned>(c, "dltensor_versioned");
  }));
}

nb::tuple dlpack_device(const std::shared_ptr<DeviceBatch>& on_device) {
  const dlpack::Device d = dlpack_device_of(on_device);
  return nb::make_tuple(d.type, d.id);
}

nb::dict array_interface(const PyTensor& t) {
  if (t.on_device)
    throw nb::attribute_error(
        ("a tensor on " + device_name(t.on_device) + " has no __array_interface__; take .as_cpu()")
            .c_str());
  return interface_of(t);
}

// Consumers of this interface never tell when they are done, so the memory is lent for as long as
// this tensor lives, and they keep the tensor. The legacy default stream is ordered with all
// streams except non-blocking ones.
nb::dict cuda_array_interface(PyTensor& t) {
  if (!t.on_device || t.on_device->device->kind() != "cuda")
    throw nb::attribute_error(
        ("a tensor on " + device_name(t.on_device) + " has no __cuda_array_interface__").c_str());
  if (!t.lease) t.lease = std::make_shared<Lease>(*t.on_device, t.owner, ForeignStream::kDefault);
  nb::dict d = interface_of(t);
  d["stream"] = static_cast<int>(ForeignStream::kDefault);
  return d;
}

nb::tuple tuple_of(const std::vector<int64_t>& v, int64_t factor) {
  nb::list l;
  for (int64_t x : v) l.append(x * factor);
  return nb::tuple(l);
}

}  // namespace stoker::python
