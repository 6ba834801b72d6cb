// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Turns each C++ error into a Python exception. The exception of a failed batch lists its samples.
#include "bindings.h"
#include "run/pipeline.h"

namespace stoker::python {

namespace {

struct Types {
  PyObject *error, *graph, *sample, *budget, *device, *state, *source;
};
Types types;

PyObject* make_type(nb::module_& m, const char* name, const char* doc,
                    std::initializer_list<PyObject*> bases) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(bases.size()));
  Py_ssize_t i = 0;
  for (PyObject* b : bases) {
    Py_INCREF(b);
    PyTuple_SetItem(tuple, i++, b);
  }
  PyObject* t = PyErr_NewExceptionWithDoc((std::string("stoker.errors.") + name).c_str(), doc,
                                          tuple, nullptr);
  Py_DECREF(tuple);
  if (!t) throw nb::python_error();
  m.attr(name) = nb::borrow(t);
  return t;
}

void raise_batch(const BatchError& e) {
  nb::list samples;
  for (const SampleFailure& f : e.samples) samples.append(describe_failure(f));
  nb::object error = nb::borrow(types.sample)(e.what());
  error.attr("samples") = samples;
  PyErr_SetObject(types.sample, error.ptr());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const BatchError& e) {
    raise_batch(e);
  } catch (const GraphError& e) {
    PyErr_SetString(types.graph, e.what());
  } catch (const SampleError& e) {
    nb::object error = nb::borrow(types.sample)(e.what());
    error.attr("samples") = nb::list();
    PyErr_SetObject(types.sample, error.ptr());
  } catch (const BudgetError& e) {
    PyErr_SetString(types.budget, e.what());
  } catch (const DeviceError& e) {
    PyErr_SetString(types.device, e.what());
  } catch (const PyFailure& f) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(f.exception.get())), f.exception.get());
  } catch (const SourceError& e) {
    PyErr_SetString(types.source, e.what());
  } catch (const StateError& e) {
    PyErr_SetString(types.state, e.what());
  } catch (const Error& e) {
    PyErr_SetString(types.error, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(types.budget, "the system has no memory left for what was asked for");
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  types.error = make_type(m, "Error", "Anything that Stoker raises.", {PyExc_RuntimeError});
  types.graph = make_type(
      m, "GraphError",
      "A wrong graph: an unknown operator or argument, a bad value, types that do not fit.",
      {types.error, PyExc_ValueError});
  types.sample = make_type(m, "SampleError",
                           "Samples that could not be delivered. `samples` lists each with source, "
                           "offset, operator and line.",
                           {types.error});
  types.budget = make_type(m, "BudgetError", "A memory budget does not suffice.",
                           {types.error, PyExc_MemoryError});
  types.device =
      make_type(m, "DeviceError", "A device is missing, or work on it failed.", {types.error});
  types.state = make_type(m, "StateError",
                          "A state that does not fit or that a source cannot give; a pipeline used "
                          "after a fork or from two threads at once.",
                          {types.error});
  types.source = make_type(m, "SourceError",
                           "Data that was to be fed did not come: nothing was fed, or a source "
                           "failed; then __cause__ is what it raised.",
                           {types.error});
  nb::register_exception_translator(translate);
}

}  // namespace stoker::python
