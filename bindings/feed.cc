// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Turns Python's arrays into batches to feed, by the buffer protocol or DLPack. Nothing is copied
// here.
#include "run/feed/feed.h"

#include <nanobind/stl/vector.h>

#include <cstring>

#include "bindings.h"
#include "dlpack.h"
#include "tensor.h"
#include "text.h"

namespace stoker::python {

namespace {

// The memory and objects that Python lent for a batch.
struct Lent {
  std::vector<Py_buffer> buffers;
  std::vector<nb::object> objects;
};

void give_back(Lent* lent) {
  for (Py_buffer& b : lent->buffers) PyBuffer_Release(&b);
  delete lent;
}

struct Fed {
  FedBatch batch;
};

// The names that batches and tensors of Stoker bring along.
struct Names final : Provenance {
  std::vector<std::string> of;
  std::string name(int64_t i) const override { return of[static_cast<size_t>(i)]; }
};

// Null if no sample has a name.
std::shared_ptr<const Provenance> names_of(nb::handle data) {
  auto names = std::make_shared<Names>();
  if (nb::isinstance<Batch>(data)) {
    const auto& batch = nb::cast<const Batch&>(data);
    for (const Sample& s : batch.samples)
      names->of.push_back(batch.provenance ? batch.provenance->name(s.index) : "");
  } else if (nb::isinstance<nb::list>(data) || nb::isinstance<nb::tuple>(data)) {
    for (nb::handle s : data)
      names->of.push_back(nb::isinstance<PyTensor>(s) ? nb::cast<const PyTensor&>(s).source : "");
  }
  const auto is_empty = [](const std::string& name) { return name.empty(); };
  if (std::all_of(names->of.begin(), names->of.end(), is_empty)) return nullptr;
  return names;
}

[[noreturn]] void refuse(const std::string& what) { throw GraphError("what is fed " + what); }

// `format` is a character of Python's struct module: buffers name their element type by it.
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

// An array. The batch's axis is kept apart, because a View may have no room for it besides the axes
// of a sample.
struct Array {
  View sample;  // the first one
  int64_t count = 1, stride = 0;
};

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

// The capsule keeps its name, so it frees the tensor itself when it is dropped.
Array from_dlpack(nb::handle h, bool is_batch, Lent& lent) {
  const nb::object place = h.attr("__dlpack_device__")();
  if (nb::cast<int>(nb::object(place[0])) != dlpack::kCpu)
    refuse("lies on a device (DLPack type " + nb::cast<std::string>(nb::str(nb::object(place[0]))) +
           "); bring it to the CPU before");
  nb::object capsule = h.attr("__dlpack__")();
  const dlpack::Tensor* t = tensor_in<dlpack::Managed>(capsule, "dltensor");
  if (!t) t = tensor_in<dlpack::ManagedVersioned>(capsule, "dltensor_versioned");
  if (!t) refuse("gave a DLPack capsule of an unknown kind");
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

Array array_of(nb::handle h, bool is_batch, Lent& lent) {
  if (PyObject_CheckBuffer(h.ptr())) return from_buffer(h, is_batch, lent);
  if (PyObject_HasAttrString(h.ptr(), "__dlpack__")) return from_dlpack(h, is_batch, lent);
  refuse("is of type " + nb::cast<std::string>(h.type().attr("__name__")) +
         ", not an array (buffer protocol, DLPack)");
}

void add_samples(FedBatch& batch, const Array& a, const Layout& layout) {
  for (int64_t i = 0; i < a.count; ++i) {
    View v = a.sample;
    v.layout = layout;
    v.data = v.as<char>() + i * a.stride;
    batch.samples.push_back(v);
  }
}

void need_at_most(int64_t most, int64_t count) {
  if (count > most)
    throw GraphError("a batch of " + std::to_string(count) + " samples was fed; batch_size is " +
                     std::to_string(most));
}

Fed fed_of(nb::handle data, const std::string& layout, int64_t most) {
  Lent* lent = new Lent;
  const std::shared_ptr<Lent> owner = released_with_lock(lent, &give_back);
  Fed fed{{{}, owner, {}}};
  if (layout.size() > kMaxRank) refuse("has a layout of more than 6 letters, '" + layout + "'");
  if (nb::isinstance<nb::list>(data) || nb::isinstance<nb::tuple>(data)) {
    need_at_most(most, static_cast<int64_t>(nb::len(data)));
    for (nb::handle sample : data)
      add_samples(fed.batch, array_of(sample, false, *lent), Layout(layout));
  } else {
    const Array batch = array_of(data, true, *lent);
    need_at_most(most, batch.count);
    add_samples(fed.batch, batch, Layout(layout));
  }
  if (fed.batch.samples.empty()) refuse("is a batch of no samples");
  fed.batch.names = names_of(data);
  return fed;
}

bool feed(Pipeline& p, const std::string& name, const Fed& fed, bool copy, int wait_ms) {
  const Unlocked unlocked;
  Feeds& feeds = p.feeds();
  const int input = feeds.input(name);
  if (input < 0) return true;  // no output needs it
  const auto& samples = fed.batch.samples;
  const bool is_dense =
      std::all_of(samples.begin(), samples.end(), [](const View& v) { return v.is_dense(); });
  return feeds.feed(input, fed.batch, copy || !is_dense, wait_ms);
}

void fail(Pipeline& p, const std::vector<std::string>& names, nb::handle exception) {
  const PyFailure failure{
      released_with_lock<PyObject>(exception.inc_ref().ptr(), [](PyObject* o) { Py_DECREF(o); })};
  const auto why = std::make_exception_ptr(failure);
  const Unlocked unlocked;
  Feeds& feeds = p.feeds();
  std::vector<int> inputs;
  for (const std::string& name : names) inputs.push_back(feeds.input(name));
  feeds.fail(inputs, why);
}

}  // namespace

void bind_feed(nb::module_& m) {
  m.def(
      "expect_leaks", [] { nb::set_leak_warnings(false); },
      "Turns off leak warnings at the exit, when threads that cannot be ended hold objects.");
  nb::class_<Fed>(
      m, "Fed",
      "A batch of at most `most` samples to feed, from a list of arrays or one array whose first "
      "axis is the batch.")
      .def(
          "__init__",
          [](Fed* self, nb::handle data, const std::string& layout, int64_t most) {
            new (self) Fed(fed_of(data, layout, most));
          },
          nb::arg("data"), nb::arg("layout"), nb::arg("most"))
      .def("__len__", [](const Fed& f) { return f.batch.samples.size(); })
      .def_prop_ro("dtype", [](const Fed& f) { return name_of(f.batch.samples[0].dtype); })
      .def_prop_ro("ndim", [](const Fed& f) { return f.batch.samples[0].shape.rank; })
      .def_prop_ro("layout",
                   [](const Fed& f) { return std::string(f.batch.samples[0].layout.str()); })
      .def(
          "copy", [](const Fed& f) { return Fed{f.batch.copy()}; }, nb::call_guard<Unlocked>(),
          "The same batch in memory of its own.");
}

void bind_feeding(nb::class_<Pipeline>& pipeline) {
  pipeline
      .def("feed", &feed, nb::arg("name"), nb::arg("fed"), nb::arg("copy"), nb::arg("wait_ms"),
           "Gives the input its next batch. Returns False if a copy found no room for so long.")
      .def("fail", &fail, nb::arg("names"), nb::arg("exception"),
           "Makes run() raise this exception in place of the next batch of all these inputs. "
           "Requires: an output needs each of them.")
      .def(
          "end_epoch",
          [](Pipeline& p, const std::string& name) { p.feeds().end_epoch(p.feeds().input(name)); },
          nb::arg("name"), nb::call_guard<Unlocked>(),
          "Ends an epoch before the input's next batch.")
      .def(
          "set_awaited",
          [](Pipeline& p, const std::string& name, bool awaited) {
            p.feeds().set_awaited(p.feeds().input(name), awaited);
          },
          nb::arg("name"), nb::arg("awaited"), "Sets whether run() waits until the input is fed.")
      .def(
          "is_used",
          [](Pipeline& p, const std::string& name) { return p.feeds().input(name) >= 0; },
          nb::arg("name"), "Whether an output needs this input.")
      .def_prop_ro(
          "received", [](Pipeline& p) { return p.feeds().received(); },
          "How many steps run() has returned or raised for since the pipeline was built.");
}

}  // namespace stoker::python
