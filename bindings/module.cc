// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "The engine behind stoker. Use the package; this module may change.";
  m.attr("__version__") = STOKER_VERSION;
  stoker::python::bind_errors(m);
  stoker::python::bind_codecs(m);
  stoker::python::bind_devices(m);
  stoker::python::bind_faults(m);
  stoker::python::bind_graph(m);
  stoker::python::bind_batch(m);
  stoker::python::bind_feed(m);
  stoker::python::bind_calls(m);
  stoker::python::bind_functions(m);
  stoker::python::bind_index(m);
  stoker::python::bind_jpeg(m);
  stoker::python::bind_one_caller(m);
  stoker::python::bind_pipeline(m);
  stoker::python::bind_registry(m);
}
