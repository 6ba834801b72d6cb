// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "base/mutex.h"
#include "given_samples.h"
#include "kept_calls.h"
#include "kernels/strided_copy.h"
#include "running_call.h"
#include "tensor.h"
#include "text.h"

namespace stoker::python {

namespace {

// What a function returned as one output, on its way to the engine.
struct Returned {
  std::vector<View> samples;
  std::vector<size_t> foreign;  // the numbers of those that are to be copied
  std::unique_ptr<Lent> kept = std::make_unique<Lent>(), lent = std::make_unique<Lent>();
};

}  // namespace

// Calls `target`, an object of Python.
class PyFunction final : public UserFunction {
 public:
  PyFunction(nb::handle target, bool is_stateful, bool gives_tensors)
      : target_(released_with_lock<PyObject>(PyWeakref_NewRef(target.ptr(), nullptr),
                                             [](PyObject* o) { Py_DECREF(o); })),
        is_stateful_(is_stateful),
        gives_tensors_(gives_tensors) {
    if (!target_) throw nb::python_error();
  }
  ~PyFunction() override {
    kept_.forget();
    drop();
  }

  bool is_stateful() const override { return is_stateful_; }
  void begin(int64_t step) override { step_ = step; }

  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) override {
    if (!kept_.begin(step_)) return make_call(inputs);
    const uint64_t given = KeptCalls::hash_of(inputs, count);
    if (auto kept = kept_.at(step_, given)) return std::move(kept->result());
    KeptCall made{given, count, {}, {}};
    try {
      made.outputs = make_call(inputs);
    } catch (const SampleError& e) {
      made.failure = e.what();
    }
    kept_.keep(step_, made);
    return std::move(made.result());
  }

  // Frees what results kept alive and the engine no longer needs. Requires Python's lock.
  void let_go() {
    std::vector<std::unique_ptr<Lent>> free;
    {
      const MutexLock lock(shelf_->mutex);
      free.swap(shelf_->lent);
    }
  }

  // A later call for a step with the same inputs gives what was kept, and does not call the target.
  KeptCalls& kept_calls() { return kept_; }
  const KeptCalls& kept_calls() const { return kept_; }

 private:
  // What is no longer needed and waits for a thread with Python's lock.
  struct Shelf {
    Mutex mutex;  // nothing is called under it
    std::vector<std::unique_ptr<Lent>> lent STOKER_GUARDED_BY(mutex);
  };
  std::vector<HostBatch> make_call(std::vector<HostBatch>& inputs) {
    const RunningCall running;
    static thread_local const KnownThread known;
    const Locked locked;
    let_go();
    try {
      return make(inputs);
    } catch (nb::python_error& e) {
      PyObject* exception = e.value().inc_ref().ptr();
      throw PyFailure{released_with_lock<PyObject>(exception, [](PyObject* o) { Py_DECREF(o); })};
    }
  }

  std::vector<HostBatch> make(std::vector<HostBatch>& inputs) {
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
      // `lent` keeps it.
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
    // The last one to need it does not have Python's lock and must not wait for it.
    std::shared_ptr<Lent> kept(r.kept.release(), [shelf = shelf_](Lent* l) {
      const MutexLock lock(shelf->mutex);
      shelf->lent.emplace_back(l);
    });
    using Owners = std::pair<std::shared_ptr<HeapBuffer>, std::shared_ptr<Lent>>;
    return {std::move(r.samples), std::make_shared<Owners>(copies, std::move(kept))};
  }

  // Frees everything, whether or not this thread has Python's lock.
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
  const bool is_stateful_, gives_tensors_;
  int64_t step_ = 0;
  const std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
  KeptCalls kept_;
};

namespace {

// Gives a number for each sample in place of what the function returned.
class NumberFunction final : public UserFunction {
 public:
  explicit NumberFunction(std::shared_ptr<PyFunction> function) : function_(std::move(function)) {}

  bool is_stateful() const override { return function_->is_stateful(); }
  void begin(int64_t step) override { function_->begin(step); }

  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) override {
    const std::vector<HostBatch> returned = function_->call(std::move(inputs), count);
    for (const HostBatch& out : returned)
      if (out.samples.size() != static_cast<size_t>(count))
        throw SampleError("the function returned " + std::to_string(out.samples.size()) +
                          " samples, expected " + std::to_string(count));
    const auto numbers = std::make_shared<std::vector<int32_t>>(count);
    HostBatch batch{{}, numbers};
    for (int32_t& n : *numbers) batch.samples.push_back(View::dense(&n, DType::kInt32, {}));
    return {std::move(batch)};
  }

 private:
  const std::shared_ptr<PyFunction> function_;
};

}  // namespace

std::shared_ptr<UserFunction> user_function(const FunctionHandle& handle) {
  return handle.function;
}

std::shared_ptr<UserFunction> number_function(const FunctionHandle& handle) {
  return std::make_shared<NumberFunction>(handle.function);
}

void bind_functions(nb::module_& m) {
  bind_given_samples(m);
  pthread_atfork(nullptr, nullptr, RunningCall::forget_all);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&RunningCall::end_all));
  nb::class_<FunctionHandle>(
      m, "UserFunction",
      "A function of the user's, for a node of a graph.\n\n"
      "``target`` is held weakly. It is called with the number of steps that were received before "
      "this one, and a list of samples for each input, which are arrays that cannot be written "
      "into or, with ``gives_tensors``, tensors in memory of their "
      "own. It returns a tuple with a list for each output, or a text that says why it failed. "
      "Its ``array`` makes an array of what is none.")
      .def(
          "__init__",
          [](FunctionHandle* self, nb::handle target, bool stateful, bool gives_tensors) {
            new (self)
                FunctionHandle{std::make_shared<PyFunction>(target, stateful, gives_tensors)};
          },
          nb::arg("target"), nb::arg("stateful"), nb::arg("gives_tensors"))
      .def(
          "keep_calls",
          [](FunctionHandle& f, bool keeps) { f.function->kept_calls().keep_from_now_on(keeps); },
          nb::arg("keeps"),
          "Whether the results of calls are kept from now on. A later call for the same step with "
          "the same inputs then gives the same, and the target is not called.")
      .def(
          "forget_calls", [](FunctionHandle& f) { f.function->kept_calls().forget(); },
          "Drops what was kept.")
      .def(
          "let_go", [](FunctionHandle& f) { f.function->let_go(); },
          "Frees what was returned and is not needed any more.")
      .def_prop_ro(
          "learned", [](const FunctionHandle& f) { return f.function->kept_calls().types(); },
          "The (dtype, ndim) of each output in the first kept call that succeeded, or None.");
}

}  // namespace stoker::python
