// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Turns each C++ error into a Python exception. The exception of a failed batch lists its samples.
#include <array>

#include "base/graph_fault.h"
#include "bindings.h"
#include "run/pipeline.h"

namespace stoker::python {

namespace {

// An error and those of its kinds of fault, by Fault. Where a kind has none, the first stands.
using OfFaults = std::array<PyObject*, 4>;
struct Types {
  PyObject *error, *budget, *device, *state;
  OfFaults graph, sample, source;
};
Types types;

PyObject* type_of(const OfFaults& all, Fault fault) { return all[static_cast<size_t>(fault)]; }

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

void raise_samples(const SampleError& e, Fault fault, const nb::list& samples) {
  PyObject* type = type_of(types.sample, fault);
  nb::object error = nb::borrow(type)(e.what());
  error.attr("samples") = samples;
  PyErr_SetObject(type, error.ptr());
}

void raise_batch(const BatchError& e) {
  nb::list samples;
  for (const SampleFailure& f : e.samples) samples.append(describe_failure(f));
  raise_samples(e, e.samples.empty() ? Fault::kValue : e.samples[0].fault, samples);
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const BatchError& e) {
    raise_batch(e);
  } catch (const GraphError& e) {
    PyErr_SetString(type_of(types.graph, fault_of(e)), e.what());
  } catch (const SampleError& e) {
    raise_samples(e, fault_of(e), nb::list());
  } catch (const BudgetError& e) {
    PyErr_SetString(types.budget, e.what());
  } catch (const DeviceError& e) {
    PyErr_SetString(types.device, e.what());
  } catch (const PyFailure& f) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(f.exception.get())), f.exception.get());
  } catch (const SourceError& e) {
    PyErr_SetString(type_of(types.source, fault_of(e)), e.what());
  } catch (const StateError& e) {
    PyErr_SetString(types.state, e.what());
  } catch (const Error& e) {
    PyErr_SetString(types.error, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(types.budget, "the system has no memory left for what was asked for");
  }
}

// KeyError would show its message in quotes.
PyObject* make_key_error(nb::module_& m, PyObject* graph) {
  PyObject* t = make_type(m, "GraphKeyError", "A name that nothing has.", {graph, PyExc_KeyError});
  nb::borrow(t).attr("__str__") = nb::borrow(PyExc_Exception).attr("__str__");
  return t;
}

void bind_graph_errors(nb::module_& m) {
  PyObject* graph = make_type(
      m, "GraphError",
      "A wrong graph: an unknown operator or argument, a bad value, types that do not fit.",
      {types.error, PyExc_ValueError});
  types.graph = {
      graph,
      make_type(m, "GraphTypeError", "What was given is of a type that cannot be right there.",
                {graph, PyExc_TypeError}),
      make_type(m, "GraphIndexError", "An axis that is not there, by its number.",
                {graph, PyExc_IndexError}),
      make_key_error(m, graph)};
}

void bind_sample_errors(nb::module_& m) {
  PyObject* sample = make_type(
      m, "SampleError",
      "Samples that could not be delivered. `samples` lists each with source, offset, operator and "
      "line.",
      {types.error, PyExc_ValueError});
  PyObject* index = make_type(m, "SampleIndexError",
                              "The first of the samples has no axis of a number that was given.",
                              {sample, PyExc_IndexError});
  types.sample = {sample, sample, index, sample};
}

void bind_source_errors(nb::module_& m) {
  PyObject* source = make_type(m, "SourceError",
                               "Data that was to be fed did not come: nothing was fed, or a source "
                               "failed; then __cause__ is what it raised.",
                               {types.error});
  PyObject* index =
      make_type(m, "SourceIndexError", "Nothing was fed for a step.", {source, PyExc_IndexError});
  types.source = {source, source, index, source};
}

}  // namespace

void bind_errors(nb::module_& m) {
  types.error = make_type(m, "Error", "Anything that Stoker raises.", {PyExc_RuntimeError});
  types.budget = make_type(m, "BudgetError", "A memory budget does not suffice.",
                           {types.error, PyExc_MemoryError});
  types.device =
      make_type(m, "DeviceError", "A device is missing, or work on it failed.", {types.error});
  types.state = make_type(m, "StateError",
                          "A state that does not fit or that a source cannot give; a pipeline used "
                          "after a fork or from two threads at once.",
                          {types.error});
  bind_graph_errors(m);
  bind_sample_errors(m);
  bind_source_errors(m);
  nb::register_exception_translator(translate);
}

}  // namespace stoker::python
