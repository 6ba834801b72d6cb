// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Calls as Python sees them: what is given becomes views without a copy, and the work is done
// without Python's lock.
#include "run/call/call.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "arrays.h"
#include "arrow.h"
#include "bindings.h"
#include "codec/codec.h"
#include "tensor.h"
#include "text.h"

namespace stoker::python {

namespace {

// A file that was read, or whose bytes somebody had.
struct FileBytes {
  std::string path;
  std::shared_ptr<const io::ByteBuffer> bytes;

  View view() const {
    return View::dense(const_cast<std::byte*>(bytes->data()), DType::kUint8,
                       Shape{static_cast<int64_t>(bytes->size())});
  }
};

// A picture of PIL where it lies: one byte a pixel, or four, of which the last means nothing.
struct PilPixels {
  PilPixels(nb::object given, int64_t height, int64_t width, int64_t channels)
      : capsule(std::move(given)) {
    const auto* array =
        static_cast<const arrow::Array*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array"));
    if (!array) throw nb::python_error();
    const bool has_pixels = array->n_children == 1;
    const int64_t step = has_pixels ? 4 : 1;
    const arrow::Array& bytes = has_pixels ? *array->children[0] : *array;
    if (channels > step || bytes.n_buffers != 2 || bytes.offset != 0 ||
        bytes.length < height * width * step)
      throw GraphError("the picture does not lie in memory as one of its size and mode does");
    view = View::dense(const_cast<void*>(bytes.buffers[1]), DType::kUint8,
                       Shape{height, width, channels});
    view.strides = Shape{width * step, step, 1};
  }

  nb::object capsule;  // keeps the memory
  View view;
};

struct NamesOfFiles final : Provenance {
  std::vector<std::string> of;
  std::string name(int64_t i) const override { return of[static_cast<size_t>(i)]; }
};

// What is given for one run, until it is over.
struct Given {
  Lent lent;
  std::vector<std::unique_ptr<HeapBuffer>> numbers;
  std::vector<FedBatch> inputs;
};

void put_number(std::byte* to, DType dtype, nb::handle number) {
  switch (dtype) {
    case DType::kFloat32: *reinterpret_cast<float*>(to) = nb::cast<float>(number); return;
    case DType::kInt32: *reinterpret_cast<int32_t*>(to) = nb::cast<int32_t>(number); return;
    case DType::kInt64: *reinterpret_cast<int64_t*>(to) = nb::cast<int64_t>(number); return;
    default:
      throw GraphError(std::string("numbers can be given as float32, int32 or int64, not ") +
                       name_of(dtype));
  }
}

// A number, or a tuple of them for an input of one axis.
View view_of_numbers(nb::handle value, const TensorType& want, Given& given) {
  const bool is_tuple = PyTuple_CheckExact(value.ptr());
  const auto count = is_tuple ? PyTuple_GET_SIZE(value.ptr()) : 1;
  const int64_t size = size_of(want.dtype);
  auto& memory =
      given.numbers.emplace_back(std::make_unique<HeapBuffer>(static_cast<size_t>(count * size)));
  for (Py_ssize_t i = 0; i < count; ++i)
    put_number(memory->data() + i * size, want.dtype,
               is_tuple ? nb::handle(PyTuple_GET_ITEM(value.ptr(), i)) : value);
  return View::dense(memory->data(), want.dtype, is_tuple ? Shape{count} : Shape{});
}

View view_of_tensor(const PyTensor& t) {
  if (t.on_device) throw NotAnArray("lies on a device; bring it to the CPU before: as_cpu()");
  Shape shape;
  for (int64_t n : t.shape) shape.push_back(n);
  View v = View::dense(t.data, t.dtype, shape, {});
  for (size_t a = 0; a < t.strides.size(); ++a) v.strides[a] = t.strides[a] * size_of(t.dtype);
  return v;
}

View view_of_given(nb::handle value, const TensorType& want, Given& given, std::string& name) {
  if (PyFloat_CheckExact(value.ptr()) || PyLong_CheckExact(value.ptr()) ||
      PyTuple_CheckExact(value.ptr()))
    return view_of_numbers(value, want, given);
  if (const FileBytes* file; nb::try_cast<const FileBytes*>(value, file) && file) {
    name = file->path;
    return file->view();
  }
  if (const PilPixels* picture; nb::try_cast<const PilPixels*>(value, picture) && picture)
    return picture->view;
  if (const PyTensor* tensor; nb::try_cast<const PyTensor*>(value, tensor) && tensor) {
    name = tensor->source;
    return view_of_tensor(*tensor);
  }
  return array_of(value, false, given.lent).sample;
}

void add_sample(const Call& call, size_t input, nb::handle value, Given& given) try {
  FedBatch& batch = given.inputs[input];
  std::string name;
  batch.samples.push_back(view_of_given(value, call.input_type(input), given, name));
  if (name.empty()) return;
  if (!batch.names) batch.names = std::make_shared<NamesOfFiles>();
  // Nobody else has it yet.
  auto& of = static_cast<NamesOfFiles&>(const_cast<Provenance&>(*batch.names)).of;
  of.resize(batch.samples.size());
  of.back() = std::move(name);
} catch (const NotAnArray& e) {
  throw GraphError(node_in_words(call.plan().node(call.inputs()[input])) + ": what is given " +
                   e.what());
}

void complete_names(Given& given) {
  for (FedBatch& b : given.inputs)
    if (b.names)
      static_cast<NamesOfFiles&>(const_cast<Provenance&>(*b.names)).of.resize(b.samples.size());
}

void require_inputs(const Call& call, size_t count) {
  if (count != call.inputs().size())
    throw GraphError("the call has " + std::to_string(call.inputs().size()) + " inputs, got " +
                     std::to_string(count));
}

nb::tuple run_one(const Call& call, const nb::tuple& inputs, uint64_t key, int64_t position) {
  Given given;
  require_inputs(call, nb::len(inputs));
  given.inputs.resize(nb::len(inputs));
  for (size_t k = 0; k < given.inputs.size(); ++k) add_sample(call, k, inputs[k], given);
  Outputs out;
  {
    const Unlocked unlocked;
    out = call.run(std::move(given.inputs), 1, {key, position});
  }
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(out.batches.size())));
  for (size_t k = 0; k < out.batches.size(); ++k)
    PyTuple_SET_ITEM(
        made.ptr(), static_cast<Py_ssize_t>(k),
        nb::cast(tensor_of(out.batches[k], out.batches[k].samples[0])).release().ptr());
  return nb::borrow<nb::tuple>(made);
}

// `inputs`: of each input a list, with a value for each sample.
nb::tuple run_batch(const Call& call, const nb::tuple& inputs, int64_t size, uint64_t key,
                    int64_t position, Crew* crew) {
  Given given;
  require_inputs(call, nb::len(inputs));
  given.inputs.resize(nb::len(inputs));
  for (size_t k = 0; k < given.inputs.size(); ++k)
    for (nb::handle value : inputs[k]) add_sample(call, k, value, given);
  complete_names(given);
  Outputs out;
  {
    const Unlocked unlocked;
    out = call.run(std::move(given.inputs), size, {key, position}, crew);
  }
  nb::list batches;
  for (Batch& b : out.batches) batches.append(nb::cast(std::move(b)));
  return nb::tuple(batches);
}

// Reads files, in the threads of a crew if there is one. The first failure is thrown.
nb::list read_files(const std::shared_ptr<CallMemory>& memory, const nb::list& paths, Crew* crew) {
  std::vector<FileBytes> files;
  for (nb::handle path : paths) files.push_back({to_path(path), {}});
  {
    const Unlocked unlocked;
    std::atomic<size_t> next{0};
    std::vector<std::exception_ptr> failures(files.size());
    const auto work = [&] {
      for (size_t i; (i = next++) < files.size();) try {
          files[i].bytes = memory->read(files[i].path);
        } catch (...) {
          failures[i] = std::current_exception();
        }
    };
    if (crew) crew->run(static_cast<int>(files.size()) - 1, work);
    else work();
    for (const auto& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }
  nb::list read;
  for (FileBytes& f : files) read.append(nb::cast(std::move(f)));
  return read;
}

// The (height, width, channels) that decoding without turning gives, of the header.
nb::tuple picture_shape(nb::handle data) {
  Lent lent;
  const FileBytes* file = nullptr;
  const View v = nb::try_cast<const FileBytes*>(data, file) && file
                     ? file->view()
                     : array_of(data, false, lent).sample;
  if (v.dtype != DType::kUint8 || v.shape.rank != 1 || !v.is_dense())
    throw GraphError("expected the bytes of an encoded picture, got another array");
  ImageInfo info;
  {
    const Unlocked unlocked;
    DecodeOptions options;
    options.adjust_orientation = false;
    try {
      info = peek({v.as<const uint8_t>(), static_cast<size_t>(v.bytes())}, options).info;
    } catch (const SampleError& e) {
      if (!file) throw;
      throw SampleError("'" + file->path + "': " + e.what(), e.offset);
    }
  }
  return nb::make_tuple(info.height, info.width, info.channels);
}

nb::list input_types(const Call& call) {
  nb::list all;
  for (size_t k = 0; k < call.inputs().size(); ++k) {
    const TensorType& t = call.input_type(k);
    all.append(nb::make_tuple(name_of(t.dtype), t.shape.rank, std::string(t.layout.str())));
  }
  return all;
}

void bind_parts_of_calls(nb::module_& m) {
  nb::class_<CallMemory>(m, "CallMemory", "The memory that calls have in common.")
      .def(nb::init<int64_t>(), nb::arg("limit") = 0, "0 is half of what the process may take.")
      .def_prop_ro("kept", &CallMemory::kept, "Bytes of scratch memory kept between calls.")
      .def_prop_ro(
          "in_use", [](CallMemory& c) { return c.pool().usage().in_use; },
          "Bytes of results that somebody holds.")
      .def_prop_ro(
          "jpeg_index_hits", [](CallMemory& c) { return c.jpeg_indexes().hits; },
          "How many windows were decoded from where they begin in the file.")
      .def("read", &read_files, nb::arg("paths"), nb::arg("crew") = nb::none(),
           "Reads files, in the order of their paths.");
  nb::class_<Crew>(m, "Crew", "Threads that make the samples of batches.")
      .def(nb::init<int>(), nb::arg("threads"))
      .def_prop_ro("threads", &Crew::threads);
  nb::class_<PilPixels>(m, "PilPixels", "A picture of PIL, where it lies.")
      .def(nb::init<nb::object, int64_t, int64_t, int64_t>(), nb::arg("capsule"), nb::arg("height"),
           nb::arg("width"), nb::arg("channels"),
           "Of the array that the picture gives by Arrow's protocol.");
  nb::class_<FileBytes>(m, "FileBytes", "A file that was read.")
      .def("__len__", [](const FileBytes& f) { return f.bytes->size(); })
      .def_prop_ro("path", [](const FileBytes& f) { return path_to_python(f.path); });
  m.def(
      "keep_for_ever",
      [](nb::handle object) {
        object.inc_ref();
        nb::set_leak_warnings(false);
      },
      nb::arg("object"), "Keeps an object until the process is gone.");
  m.def("picture_shape", &picture_shape, nb::arg("data"),
        "The (height, width, channels) of an encoded picture, of its header, before it is turned.");
}

}  // namespace

void bind_calls(nb::module_& m) {
  bind_parts_of_calls(m);
  nb::class_<Call>(m, "Call", "A graph that is run at once, in the calling thread.")
      .def(
          "__init__",
          [](Call* self, const Graph& g, const std::shared_ptr<CallMemory>& memory) {
            new (self) Call(g, memory);
          },
          nb::arg("graph"), nb::arg("memory"))
      .def("run", &run_one, nb::arg("inputs"), nb::arg("key"), nb::arg("position") = 0,
           "The tensors that one sample becomes.")
      .def("run_batch", &run_batch, nb::arg("inputs"), nb::arg("size"), nb::arg("key"),
           nb::arg("position") = 0, nb::arg("crew") = nb::none(),
           "The batches that so many samples become; of each input a list is given.")
      .def("input_types", &input_types, "The (dtype, number of axes, layout) of each input.");
}

}  // namespace stoker::python
