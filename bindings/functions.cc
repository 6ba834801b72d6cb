// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "arrays.h"
#include "base/mutex.h"
#include "kernels/strided_copy.h"
#include "tensor.h"
#include "text.h"

namespace stoker::python {

namespace {

// Note [Functions at the exit]
// Python before 3.14 ends any thread but the main one that takes its lock while the interpreter
// ends. It unwinds the thread's stack, which crashes in functions that nanobind bound, as they take
// that for an exception, and frees objects without the lock. So the exit first waits until no call
// is running, and lets none begin. Threads of calls that last longer are ended by Python all the
// same; they are safe where they wait for the lock in or_sleep().
class RunningCall {
 public:
  RunningCall() {
    ++count_;
    if (!is_exit_) return;
    --count_;
    throw SampleError("the function is not called any more, as Python is about to exit");
  }
  ~RunningCall() { --count_; }
  RunningCall(const RunningCall&) = delete;

  // Lets no more begin, and waits a short while for those that run. Those that are left keep their
  // objects for ever.
  static void end_all() {
    is_exit_ = true;
    const Unlocked unlocked;
    for (int i = 0; i < 1000 && count_ > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (count_ > 0) nb::set_leak_warnings(false);
  }
  // In a forked process, which has no other thread.
  static void forget_all() {
    if (count_.exchange(0) > 0) nb::set_leak_warnings(false);
  }

 private:
  static inline std::atomic<bool> is_exit_ = false;
  static inline std::atomic<int> count_ = 0;
};

// Python's state of this thread. It stays for as long as the thread does, so that values that
// belong to a thread last from call to call.
class KnownThread {
 public:
  KnownThread() : is_new_(!PyGILState_GetThisThreadState()) {
    if (!is_new_) return;
    or_sleep([] { return PyGILState_Ensure(); });
    PyEval_SaveThread();
  }
  ~KnownThread() {
    if (!is_new_ || !may_use_python()) return;
    or_sleep([] { return PyGILState_Ensure(); });
    PyGILState_Release(PyGILState_LOCKED);
    PyGILState_Release(PyGILState_UNLOCKED);
  }
  KnownThread(const KnownThread&) = delete;

 private:
  const bool is_new_;
};

// The inputs of a call in one output of the engine, which arrays of NumPy are made on. As a buffer
// it is read-only and begins at the first of their bytes. It may span memory of others, which no
// array is on.
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

// What is needed of NumPy, looked up once.
struct NumPy {
  nb::object array;  // the type
  nb::object dtypes[static_cast<int>(DType::kNone) + 1];
};

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

// The samples as arrays of NumPy on the engine's memory.
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

// The samples as tensors in memory of their own, which may be written into.
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

// Whether nobody but its `holders` can write into the memory of an array of NumPy.
bool is_ours(nb::handle array, Py_ssize_t holders) {
  const nb::object base = array.attr("base");
  if (nb::isinstance<Memory>(base) || PyBytes_CheckExact(base.ptr())) return true;  // read-only
  if (Py_REFCNT(array.ptr()) > holders) return false;
  if (base.is_none()) return nb::cast<bool>(array.attr("flags").attr("owndata"));
  return base.type().is(numpy().array) && is_ours(base, 2);  // the array and this function
}

// Of a list that nobody else has: replaces its last element by a copy if it is an array that others
// can write into, as the function may do when it is called for the next sample.
void settle(const nb::list& made) {
  const auto last = PyList_GET_SIZE(made.ptr()) - 1;
  const nb::handle value(PyList_GET_ITEM(made.ptr(), last));
  if (value.type().is(numpy().array) && !is_ours(value, 1))
    made[last] = or_sleep([&] { return value.attr("copy")(); });
}

// What a function returned as one output, on its way to the engine.
struct Returned {
  std::vector<View> samples;
  std::vector<size_t> foreign;  // the numbers of those that are to be copied
  std::unique_ptr<Lent> kept = std::make_unique<Lent>(), lent = std::make_unique<Lent>();
};

}  // namespace

// Calls `target`, an object of Python. One thread at a time calls it.
class PyFunction final : public UserFunction {
 public:
  PyFunction(nb::handle target, bool is_stateful, bool gives_tensors, bool learns)
      : target_(released_with_lock<PyObject>(PyWeakref_NewRef(target.ptr(), nullptr),
                                             [](PyObject* o) { Py_DECREF(o); })),
        is_stateful_(is_stateful),
        gives_tensors_(gives_tensors),
        learns_(learns) {
    if (!target_) throw nb::python_error();
  }
  ~PyFunction() override { drop(); }

  bool is_stateful() const override { return is_stateful_; }
  void begin(int64_t step) override { step_ = step; }

  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) override {
    const RunningCall running;
    static thread_local const KnownThread known;
    const Locked locked;
    let_go();
    try {
      return make(inputs, count);
    } catch (nb::python_error& e) {
      PyObject* exception = e.value().inc_ref().ptr();
      throw PyFailure{released_with_lock<PyObject>(exception, [](PyObject* o) { Py_DECREF(o); })};
    }
  }

  // Frees what results kept alive that the engine does not need any more. Requires Python's lock.
  void let_go() {
    std::vector<std::unique_ptr<Lent>> free;
    {
      const MutexLock lock(shelf_->mutex);
      free.swap(shelf_->lent);
    }
  }

  // The dtype and the number of axes of each output, once they were returned.
  std::optional<std::vector<std::pair<std::string, int>>> learned() const {
    const MutexLock lock(shelf_->mutex);
    return learned_;
  }

 private:
  // What is not needed any more, and waits for a thread with Python's lock.
  struct Shelf {
    Mutex mutex;  // nothing is called under it
    std::vector<std::unique_ptr<Lent>> lent STOKER_GUARDED_BY(mutex);
  };

  std::vector<HostBatch> make(std::vector<HostBatch>& inputs, int64_t count) {
    const nb::object target = nb::steal(strong());
    if (!target.is_valid() || target.is_none()) throw SampleError("the pipeline is gone");
    nb::object columns;
    {
      nb::list lists;
      for (HostBatch& in : inputs) lists.append(gives_tensors_ ? tensors_of(in) : arrays_of(in));
      inputs.clear();
      lists.insert(0, nb::int_(step_));
      const nb::tuple arguments(lists);
      lists = nb::list();
      // No destructor may run where the thread is ended, as it would use Python.
      columns = nb::steal(or_sleep([call = target.ptr(), given = arguments.ptr()] {
        return PyObject_CallObject(call, given);
      }));
    }
    if (!columns.is_valid()) throw nb::python_error();
    if (PyUnicode_Check(columns.ptr())) throw SampleError(nb::cast<std::string>(columns));
    std::vector<Returned> returned;
    for (size_t k = 0; k < nb::len(columns); ++k)
      returned.push_back(taken(nb::handle(PyTuple_GET_ITEM(columns.ptr(), k)), k, target));
    columns.reset();
    if (learns_) return learn(returned, count);
    std::vector<HostBatch> outputs;
    {
      const Unlocked unlocked;
      for (Returned& r : returned) outputs.push_back(finished(r));
    }
    return outputs;  // `returned` frees what was copied
  }

  // A strong reference to the target, None if it is gone.
  PyObject* strong() const {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* o = nullptr;
    (void)PyWeakref_GetRef(target_.get(), &o);
    return o;
#else
    return Py_NewRef(PyWeakref_GetObject(target_.get()));
#endif
  }

  Returned taken(nb::handle column, size_t output, const nb::object& target) const {
    Returned r;
    const bool is_only = Py_REFCNT(column.ptr()) == 1;
    const auto count = static_cast<size_t>(PyList_GET_SIZE(column.ptr()));
    r.samples.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      nb::handle sample(PyList_GET_ITEM(column.ptr(), i));
      const bool is_array = sample.type().is(numpy().array);
      const bool is_kept = is_array && is_only && is_ours(sample, 1);
      Lent& lent = is_kept ? *r.kept : *r.lent;
      r.samples.push_back(view_of(sample, is_array, target, lent, output, i));
      if (!is_kept) r.foreign.push_back(i);
    }
    return r;
  }

  static View view_of(nb::handle sample, bool is_array, const nb::object& target, Lent& lent,
                      size_t output, size_t i) {
    try {
      if (is_array && nb::cast<bool>(sample.attr("dtype").attr("isnative")))
        return array_of(sample, false, lent).sample;
      // Kept by what it lends.
      const nb::object array = or_sleep([&] { return target.attr("array")(sample); });
      return array_of(array, false, lent).sample;
    } catch (const NotAnArray& e) {
      throw SampleError(place(output, i) + e.what());
    } catch (nb::python_error& e) {
      if (!e.matches(PyExc_Exception)) throw;
      throw SampleError(place(output, i) + "is of type " +
                        nb::cast<std::string>(sample.type().attr("__name__")) + ": " +
                        nb::cast<std::string>(nb::str(e.value())));
    }
  }

  static std::string place(size_t output, size_t i) {
    return "what the function returned as output " + std::to_string(output) + ", sample " +
           std::to_string(i) + ", ";
  }

  // Copies what others could write into.
  HostBatch finished(Returned& r) const {
    int64_t bytes = 0;
    for (size_t i : r.foreign) bytes += r.samples[i].bytes();
    const auto copies = std::make_shared<HeapBuffer>(static_cast<size_t>(bytes));
    std::byte* to = copies->data();
    for (size_t i : r.foreign) {
      View& v = r.samples[i];
      copy_to_dense(v, to);
      v = View::dense(to, v.dtype, v.shape, v.layout);
      to += v.bytes();
    }
    // Whoever is the last to need it has no lock of Python's and must not wait for it.
    std::shared_ptr<Lent> kept(r.kept.release(), [shelf = shelf_](Lent* l) {
      const MutexLock lock(shelf->mutex);
      shelf->lent.emplace_back(l);
    });
    using Owners = std::pair<std::shared_ptr<HeapBuffer>, std::shared_ptr<Lent>>;
    return {std::move(r.samples), std::make_shared<Owners>(copies, std::move(kept))};
  }

  // Notes the types, and gives one number for each sample in the place of what was returned.
  std::vector<HostBatch> learn(const std::vector<Returned>& returned, int64_t count) {
    std::vector<std::pair<std::string, int>> types;
    for (const Returned& r : returned) {
      if (r.samples.size() != static_cast<size_t>(count))
        throw SampleError("the function returned " + std::to_string(r.samples.size()) +
                          " samples, expected " + std::to_string(count));
      types.emplace_back(name_of(r.samples[0].dtype), r.samples[0].shape.rank);
    }
    {
      const MutexLock lock(shelf_->mutex);
      learned_ = std::move(types);
    }
    const auto numbers = std::make_shared<std::vector<int32_t>>(count);
    HostBatch batch{{}, numbers};
    for (int32_t& n : *numbers) batch.samples.push_back(View::dense(&n, DType::kInt32, {}));
    return {std::move(batch)};
  }

  // Frees all, whether or not this thread has Python's lock.
  void drop() {
    const auto none = [&] {
      const MutexLock lock(shelf_->mutex);
      return shelf_->lent.empty();
    };
    if (none()) return;
    if (!may_use_python()) {
      const MutexLock lock(shelf_->mutex);
      for (auto& lent : shelf_->lent) (void)lent.release();  // the process is ending and frees it
      return;
    }
    const Locked locked;
    let_go();
  }

  const std::shared_ptr<PyObject> target_;  // a weak reference
  const bool is_stateful_, gives_tensors_, learns_;
  int64_t step_ = 0;
  const std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
  std::optional<std::vector<std::pair<std::string, int>>> learned_;  // guarded by the shelf's mutex
};

std::shared_ptr<UserFunction> user_function(const FunctionHandle& handle) {
  return handle.function;
}

void bind_functions(nb::module_& m) {
  nb::class_<Memory>(m, "Memory", nb::type_slots(memory_slots),
                     "The memory of samples that a function of the user's gets.");
  pthread_atfork(nullptr, nullptr, RunningCall::forget_all);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&RunningCall::end_all));
  m.def("settle", &settle, nb::arg("made"),
        "Replaces the last element of a list by a copy if it is an array of NumPy that others can "
        "write into.");
  nb::class_<FunctionHandle>(
      m, "UserFunction",
      "A function of the user's, for a node of a graph.\n\n"
      "``target`` is held weakly. It is called with the number of steps that were received before "
      "this one, and a list of samples for each input, which are arrays that cannot be written "
      "into or, with ``gives_tensors``, tensors in memory of their "
      "own. It returns a tuple with a list for each output, or a text that says why it failed. "
      "Its ``array`` makes an array of what is none. With ``learns`` the types of what it returns "
      "are noted, and an int32 is the result in its place.")
      .def(
          "__init__",
          [](FunctionHandle* self, nb::handle target, bool stateful, bool gives_tensors,
             bool learns) {
            new (self) FunctionHandle{
                std::make_shared<PyFunction>(target, stateful, gives_tensors, learns)};
          },
          nb::arg("target"), nb::arg("stateful"), nb::arg("gives_tensors"),
          nb::arg("learns") = false)
      .def(
          "let_go", [](FunctionHandle& f) { f.function->let_go(); },
          "Frees what was returned and is not needed any more.")
      .def_prop_ro(
          "learned", [](const FunctionHandle& f) { return f.function->learned(); },
          "The (dtype, ndim) of each output; None until the function has returned them.");
}

}  // namespace stoker::python
