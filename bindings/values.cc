// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Arguments between Python and C++. Texts among them may be names of files.
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "text.h"

namespace stoker::python {

namespace {

bool is_string(nb::handle h) { return PyUnicode_Check(h.ptr()); }

[[noreturn]] void refuse_value(nb::handle h) {
  throw_fault<GraphError>(
      Fault::kType, "an argument is of type " + nb::cast<std::string>(h.type().attr("__name__")) +
                        ", expected None, bool, int, float, str or a list of them");
}

Value number(nb::handle h) {
  if (PyBool_Check(h.ptr())) return h.ptr() == Py_True;
  if (PyFloat_Check(h.ptr())) return PyFloat_AsDouble(h.ptr());
  if (PyIndex_Check(h.ptr())) {
    nb::object i = nb::steal(PyNumber_Index(h.ptr()));
    int64_t v = 0;
    if (!i.is_valid() || !nb::try_cast(i, v)) {
      PyErr_Clear();
      throw GraphError("an argument is an int that int64 cannot hold");
    }
    return v;
  }
  if (PyObject_HasAttrString(h.ptr(), "__bool__") &&
      nb::cast<std::string>(h.type().attr("__name__")).starts_with("bool"))
    return PyObject_IsTrue(h.ptr()) == 1;
  if (PyObject_HasAttrString(h.ptr(), "__float__")) {
    const double d = PyFloat_AsDouble(h.ptr());
    if (d == -1 && PyErr_Occurred()) throw nb::python_error();
    return d;
  }
  refuse_value(h);
}

Value list(nb::handle h) {
  std::vector<std::string> strings;
  std::vector<int64_t> integers;
  std::vector<double> doubles;
  bool all_integers = true;
  for (nb::handle e : h) {
    if (is_string(e)) {
      strings.push_back(to_path(e));
      continue;
    }
    const Value v = number(e);
    doubles.push_back(detail::number(v));
    if (std::holds_alternative<double>(v)) all_integers = false;
    else integers.push_back(detail::integer(v));
  }
  if (!strings.empty() && !doubles.empty())
    throw_fault<GraphError>(Fault::kType, "a list argument mixes str and numbers");
  if (!strings.empty()) return strings;
  if (all_integers) return integers;
  return doubles;
}

}  // namespace

Value to_value(nb::handle h) {
  if (h.is_none()) return {};
  if (is_string(h)) return to_path(h);
  const bool is_array =
      PyObject_HasAttrString(h.ptr(), "ravel") && PyObject_HasAttrString(h.ptr(), "ndim");
  if (is_array) {
    if (nb::cast<int>(h.attr("ndim")) == 0) return number(h.attr("item")());
    return list(h.attr("ravel")().attr("tolist")());
  }
  if (nb::isinstance<nb::list>(h) || nb::isinstance<nb::tuple>(h)) return list(h);
  if (PyBytes_Check(h.ptr()) || PyDict_Check(h.ptr())) refuse_value(h);
  if (PyObject_HasAttrString(h.ptr(), "__iter__")) return list(h);
  return number(h);
}

std::string to_path(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!bytes.is_valid()) {
    PyErr_Clear();
    throw GraphError("a text is " + nb::cast<std::string>(nb::repr(text)) +
                     ", which the encoding of file names cannot hold");
  }
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(Py_SIZE(bytes.ptr()))};
}

nb::object path_to_python(const std::string& path) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

Arguments to_arguments(const nb::dict& d) {
  Arguments arguments;
  for (auto [key, value] : d) {
    const auto name = nb::cast<std::string>(key);
    try {
      arguments[name] = to_value(value);
    } catch (const GraphError& e) {
      throw_like<GraphError>(e, "argument '" + name + "': " + e.what());
    }
  }
  return arguments;
}

nb::object to_python(const Value& v) {
  return std::visit(
      [](const auto& x) -> nb::object {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, std::string>) {
          return path_to_python(x);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          nb::list texts;
          for (const std::string& text : x) texts.append(path_to_python(text));
          return texts;
        } else {
          return nb::cast(x);
        }
      },
      v);
}

}  // namespace stoker::python
