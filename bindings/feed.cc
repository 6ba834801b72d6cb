// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Turns Python's arrays into batches to feed, by the buffer protocol or DLPack, without a copy.
#include "run/feed/feed.h"

#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "tensor.h"
#include "text.h"

namespace stoker::python {

namespace {

struct Fed {
  FedBatch batch;
};

[[noreturn]] void refuse_feed(const std::string& what) { throw GraphError("what is fed " + what); }

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

void add_samples(FedBatch& batch, const Array& a, const Layout& layout) {
  for (int64_t i = 0; i < a.count; ++i) {
    View v = a.sample;
    v.layout = layout;
    v.data = v.as<char>() + i * a.stride;
    batch.samples.push_back(v);
  }
}

void need_at_most(int64_t most, int64_t count, const char* advice = "") {
  if (count > most)
    throw GraphError("a batch of " + std::to_string(count) + " samples was fed; batch_size is " +
                     std::to_string(most) + advice);
}

Fed fed_of(nb::handle data, const std::string& layout, int64_t most) try {
  Lent* lent = new Lent;
  const std::shared_ptr<Lent> owner = released_with_lock<Lent>(lent, [](Lent* l) { delete l; });
  Fed fed{{{}, owner, {}}};
  if (layout.size() > kMaxRank)
    refuse_feed("has a layout of more than 6 letters, '" + layout + "'");
  if (nb::isinstance<nb::list>(data) || nb::isinstance<nb::tuple>(data)) {
    need_at_most(most, static_cast<int64_t>(nb::len(data)));
    for (nb::handle sample : data)
      add_samples(fed.batch, array_of(sample, false, *lent), Layout(layout));
  } else {
    const Array batch = array_of(data, true, *lent);
    need_at_most(most, batch.count,
                 ". The first axis of an array is the batch; if it is one sample, set batch=False");
    add_samples(fed.batch, batch, Layout(layout));
  }
  if (fed.batch.samples.empty()) refuse_feed("is a batch of no samples");
  fed.batch.names = names_of(data);
  return fed;
} catch (const NotAnArray& e) {
  refuse_feed(e.what());
}

bool feed_batch(Pipeline& p, const std::string& name, const Fed& fed, bool copy, int wait_ms) {
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
      .def("feed", &feed_batch, nb::arg("name"), nb::arg("fed"), nb::arg("copy"),
           nb::arg("wait_ms"),
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
