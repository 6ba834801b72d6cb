// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts between Python and C++. Bytes that are not UTF-8 are lone surrogates in Python, as in its
// file names ("surrogateescape"), so that they come back as they were.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

template <>
struct nanobind::detail::type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle from, uint8_t, cleanup_list*) noexcept {
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(from.ptr())) return false;
    if (const char* text = PyUnicode_AsUTF8AndSize(from.ptr(), &size)) {
      value.assign(text, static_cast<size_t>(size));
      return true;
    }
    PyErr_Clear();
    const object bytes = steal(PyUnicode_AsEncodedString(from.ptr(), "utf-8", "surrogateescape"));
    if (bytes.is_valid())
      value.assign(PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(Py_SIZE(bytes.ptr())));
    else PyErr_Clear();
    return bytes.is_valid();
  }
  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                "surrogateescape");
  }
};

namespace stoker::python {

// File names have Python's encoding for them, which need not be UTF-8. Throws GraphError for a text
// that this encoding cannot hold.
std::string to_path(nanobind::handle text);
nanobind::object path_to_python(const std::string& path);

}  // namespace stoker::python
