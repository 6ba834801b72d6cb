// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// The registry of operators, as Python sees it.
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "op/operator_type.h"

namespace stoker::python {

nb::dict describe(const ArgumentInfo& a) {
  nb::dict d;
  d["name"] = a.name;
  d["type"] = a.type;
  d["help"] = a.help;
  d["default"] = to_python(a.fallback);
  d["required"] = a.is_required;
  d["per_sample"] = a.per_sample;
  d["per_frame"] = a.per_frame;
  d["keeps_shape"] = a.keeps_shape;
  d["low"] = a.range.low;
  d["high"] = a.range.high;
  d["names"] = nb::cast(a.names);
  return d;
}

namespace {

using python::describe;

nb::dict describe(const Port& p) {
  nb::dict d;
  d["name"] = p.name;
  d["help"] = p.help;
  d["layouts"] = p.layouts;
  d["dtypes"] = p.dtypes;
  d["is_optional"] = p.is_optional;
  d["is_value"] = p.is_value;
  d["makes_frames"] = p.makes_frames;
  d["repeats"] = p.repeats;
  d["when"] = p.when;
  d["for_each"] = p.for_each;
  return d;
}

nb::dict describe(const Case& c) {
  nb::dict d;
  d["call"] = c.call;
  nb::list inputs, outputs;
  for (const char* i : c.inputs) inputs.append(i);
  for (const char* o : c.outputs) outputs.append(o);
  d["inputs"] = inputs;
  d["outputs"] = outputs;
  return d;
}

nb::dict describe(const OperatorType& t);

template <class List>
nb::list describe_all(const List& list) {
  nb::list l;
  for (const auto& x : list) l.append(describe(x));
  return l;
}

// The values that the argument `device` may have.
nb::list devices_of(const OperatorType& t) {
  nb::list l;
  l.append("cpu");
  if (t.has_gpu()) l.append("gpu");
  if (t.is_mixed()) l.append("mixed");
  return l;
}

// The ways in which it works, and what it tells beforehand: Note [Facets].
nb::list facets_of(const OperatorType& t) {
  const std::pair<const char*, bool> all[] = {{"lowers", t.lowers || t.lowers_some},
                                              {"cpu", t.runs.has_value()},
                                              {"infer", t.runs && t.runs->infer},
                                              {"demand", t.runs && t.runs->demand},
                                              {"batch", t.runs_on_batch.has_value()},
                                              {"gpu", t.runs_on_gpu.has_value()},
                                              {"mixed", t.is_mixed()},
                                              {"reads", t.reads.has_value()},
                                              {"alias", t.is_alias},
                                              {"input", t.is_input},
                                              {"user_code", t.is_user_code}};
  nb::list l;
  for (const auto& [name, has] : all)
    if (has) l.append(name);
  return l;
}

nb::dict describe(const OperatorType& t) {
  static constexpr const char* kKinds[] = {"lower", "sample", "batch",
                                           "read",  "input",  "user_code"};
  static constexpr const char* kClasses[] = {"refused", "read", "kept", "renamed", "made"};
  nb::dict d;
  d["name"] = t.name;
  d["summary"] = t.summary;
  d["kind"] = kKinds[static_cast<int>(t.kind())];
  d["is_random"] = t.is_random;
  d["classes"] = kClasses[static_cast<int>(t.classes)];
  d["sees_batch"] = !t.runs_on_batch ? "never" : t.runs_on_batch->applies ? "perhaps" : "always";
  d["devices"] = devices_of(t);
  d["facets"] = facets_of(t);
  d["version"] = t.version;
  d["inputs"] = describe_all(t.inputs);
  d["outputs"] = describe_all(t.outputs);
  d["arguments"] = describe_all(t.arguments);
  d["of_devices"] = nb::cast(t.of_devices);
  d["ignored"] = nb::cast(t.ignored);
  d["cases"] = describe_all(t.cases);
  d["skip_reason"] = t.skip_reason;
  return d;
}

}  // namespace

void bind_registry(nb::module_& m) {
  m.def(
      "operators", [] { return describe_all(all_operators()); },
      "The descriptions of all operators.");
  m.def(
      "did_you_mean",
      [](const std::string& wrong, const std::vector<std::string>& names) {
        return did_you_mean(wrong, names);
      },
      nb::arg("wrong"), nb::arg("names"),
      "The text \" Did you mean 'x'?\" with the nearest name; \"\" if none is near.");
}

}  // namespace stoker::python
