// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// The pipeline as Python sees it. Waiting for steps and opening readers release Python's lock.
#include "run/pipeline.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "kernels/levels.h"
#include "text.h"

namespace stoker::python {

namespace {

PipelineOptions options_of(const nb::dict& given) {
  PipelineOptions o;
  Arguments arguments;
  try {
    arguments = to_arguments(given);
  } catch (const GraphError& e) {
    throw_like<GraphError>(e, std::string("Pipeline: ") + e.what());
  }
  set_settings(o, arguments);
  return o;
}

std::string cpu_level_in_words() {
  switch (cpu_level()) {
    case CpuLevel::kAvx512: return "AVX-512";
    case CpuLevel::kAvx2: return "AVX2";
    default: return "the least that this build needs";
  }
}

nb::list described_settings() {
  nb::list all;
  for (const ArgumentInfo& a : describe_settings<PipelineOptions>())
    all.append(python::describe(a));
  return all;
}

nb::dict checked_settings(const nb::dict& given) {
  const PipelineOptions o = options_of(given);
  check_options(o);
  nb::dict values;
  for (const auto& [name, value] : values_of(o)) values[name.c_str()] = to_python(value);
  return values;
}

// The parts of memory: see Note [Shares of the budget] in run/memory_shares.h.
nb::dict memory(const Pipeline::Stats& s) {
  nb::dict batches, scratch, read_ahead, jpeg_indexes, device, d;
  batches["limit"] = s.batches.limit;
  batches["in_use"] = s.batches.in_use;
  batches["high_water"] = s.batches.high_water;
  batches["cached"] = s.batches.cached;
  scratch["limit"] = s.scratch_limit;
  scratch["in_use"] = s.executor.scratch;
  // Fed batches count here, too, as they wait for their step like what is read ahead.
  read_ahead["limit"] = s.read_ahead_limit + s.fed_limit;
  read_ahead["in_use"] = s.executor.read_ahead + s.fed.in_use;
  read_ahead["high_water"] = s.executor.read_ahead_high_water + s.fed.high_water;
  jpeg_indexes["limit"] = s.jpeg_indexes.budget;
  jpeg_indexes["in_use"] = s.jpeg_indexes.bytes;
  device["limit"] = s.executor.device.limit;
  device["in_use"] = s.executor.device.in_use;
  device["high_water"] = s.executor.device.high_water;
  d["limit"] = s.memory_limit;
  d["batches"] = batches;
  d["scratch"] = scratch;
  d["read_ahead"] = read_ahead;
  d["jpeg_indexes"] = jpeg_indexes;
  d["device"] = device;
  return d;
}

nb::object run(Pipeline& p) {
  std::optional<Outputs> out;
  {
    Unlocked unlocked;
    out = p.run([&] { return unlocked.locked([] { return PyErr_CheckSignals() != 0; }); });
  }
  if (!out) throw nb::python_error();
  if (out->is_end) return nb::none();
  nb::list batches;
  for (Batch& b : out->batches) batches.append(nb::cast(std::move(b)));
  return nb::make_tuple(nb::tuple(batches), out->ends_epoch);
}

// How often windows were decoded with an index of the file and without, how often one was wrong,
// of how many files there is one, and for every so many MCUs in a row it has a place; 0: for each
// row.
nb::dict jpeg_indexes(const EntropyIndexes::Statistics& s) {
  nb::dict d;
  d["hits"] = s.hits;
  d["misses"] = s.misses;
  d["wrong"] = s.wrong;
  d["files"] = s.files;
  d["every"] = s.every;
  return d;
}

nb::bytes saved_jpeg_indexes(const Pipeline& p) {
  const auto saved = [&] {
    const Unlocked unlocked;
    return p.jpeg_indexes() ? p.jpeg_indexes()->saved() : EntropyIndexes(0).saved();
  }();
  return nb::bytes(saved.data(), saved.size());
}

void add_jpeg_indexes(const Pipeline& p, const nb::bytes& saved) {
  const Unlocked unlocked;
  if (p.jpeg_indexes())
    p.jpeg_indexes()->add_saved({static_cast<const uint8_t*>(saved.data()), saved.size()});
}

nb::dict stats(const Pipeline& p) {
  const Pipeline::Stats s = p.stats();
  nb::dict d;
  d["jpeg_indexes"] = jpeg_indexes(s.jpeg_indexes);
  nb::list nodes;
  for (const auto& n : s.nodes) {
    nb::dict one;
    one["operator"] = n.op;
    one["name"] = n.name;
    one["seconds"] = static_cast<double>(n.ns) * 1e-9;
    nodes.append(one);
  }
  d["operators"] = nodes;
  d["steps"] = s.executor.steps;
  d["steps_waited"] = s.executor.steps_waited;
  d["samples"] = s.executor.samples;
  d["bytes_read"] = s.executor.bytes_read;
  d["failures"] = s.failures;
  d["steps_dropped"] = s.dropped;
  d["decoder"] = s.decoder.empty() ? nb::object(nb::none()) : nb::cast(s.decoder);
  d["user_wait_seconds"] = static_cast<double>(s.executor.user_wait_ns) * 1e-9;
  d["worker_idle_seconds"] = static_cast<double>(s.executor.worker_idle_ns) * 1e-9;
  d["read_wait_seconds"] = static_cast<double>(s.executor.read_wait_ns) * 1e-9;
  d["memory"] = memory(s);
  return d;
}

nb::dict meta(const Pipeline& p, std::optional<std::string> name) {
  const ReaderMeta m = p.reader_meta(name.value_or(""));
  nb::dict d;
  d["epoch_size"] = m.epoch_size;
  d["epoch_size_padded"] = m.epoch_size_padded;
  d["number_of_shards"] = m.number_of_shards;
  d["shard_id"] = m.shard_id;
  d["pad_last_batch"] = m.pad_last_batch;
  d["stick_to_shard"] = m.stick_to_shard;
  return d;
}

}  // namespace

nb::dict describe_failure(const SampleFailure& f) {
  nb::dict d;
  d["index_in_batch"] = f.in_batch;
  d["epoch"] = f.who.epoch;
  d["position"] = f.who.position;
  d["index"] = f.index;
  d["source"] = path_to_python(f.source);
  d["offset"] = f.offset >= 0 ? nb::cast(f.offset) : nb::none();
  d["operator"] = f.op;
  d["instance"] = f.instance;
  d["where"] = f.where;
  d["message"] = f.message;
  return d;
}

namespace {

void bind_error_policy(nb::module_& m) {
  nb::class_<ErrorPolicy>(m, "ErrorPolicy",
                          "What becomes of bad samples, by a pipeline's on_error.")
      .def(
          "__init__",
          [](ErrorPolicy* self, const std::string& on_error) {
            ErrorPolicy policy;
            from_value(Value(on_error), policy.on_error);
            new (self) ErrorPolicy(policy);
          },
          nb::arg("on_error"))
      .def_prop_ro("on_error", &ErrorPolicy::name)
      .def_prop_ro("leaves_samples_out", &ErrorPolicy::leaves_samples_out,
                   "Whether a batch may lack samples.")
      .def_prop_ro("replaces_samples", &ErrorPolicy::replaces_samples,
                   "Whether other samples take the place of bad ones.")
      .def_prop_ro("drops_empty_steps", &ErrorPolicy::drops_empty_steps,
                   "Whether a step without a good sample is left out. Otherwise it is an error.")
      .def("without_dropping", &ErrorPolicy::without_dropping,
           "The same for all samples, but a step without a good one is an error.");
}

}  // namespace

void bind_pipeline(nb::module_& m) {
  bind_error_policy(m);
  m.def("settings", &described_settings, "The descriptions of a pipeline's settings.");
  m.def("checked_settings", &checked_settings, nb::arg("given"),
        "All settings: those that are given, and the defaults of the others.");
  m.def("usable_cpus", [] { return usable_cpus().size(); }, "How many CPUs this thread may use.");
  m.def("cpu_level", &cpu_level_in_words, "The instructions that plain loops use on this CPU.");
  nb::class_<Pipeline> pipeline(m, "Pipeline", "Runs a graph.");
  bind_feeding(pipeline);
  pipeline
      .def(
          "__init__",
          [](Pipeline* self, const Graph& g, const nb::dict& options,
             std::optional<int64_t> drawn_seed) {
            Graph graph = g;  // other threads may change theirs meanwhile
            const PipelineOptions o = options_of(options);
            const Unlocked unlocked;  // listing files may take long
            new (self) Pipeline(graph, o, drawn_seed);
          },
          nb::arg("graph"), nb::arg("options"), nb::arg("drawn_seed") = nb::none(),
          "``drawn_seed`` is the one to take where the options have none.")
      .def("run", &run,
           "The (batches, ends_epoch) of the next step; no batches where on_error='drop' drops it, "
           "and None at an end that end_epoch() marked.")
      .def("schedule", &Pipeline::schedule, nb::call_guard<Unlocked>())
      .def("skip", &Pipeline::skip, nb::arg("steps"), nb::call_guard<Unlocked>())
      .def("state", &Pipeline::state)
      .def(
          "restore",
          [](Pipeline& p, const nb::bytes& state, bool force) {
            const std::string text(state.c_str(), state.size());
            const Unlocked unlocked;
            return p.restore(text, force);
          },
          nb::arg("state"), nb::arg("force") = false)
      .def("steps_left", &Pipeline::steps_left)
      .def("begins_epoch", &Pipeline::begins_epoch)
      .def("reader_meta", &meta, nb::arg("name") = nb::none())
      .def("stats", &stats)
      .def("jpeg_indexes", &saved_jpeg_indexes)
      .def("add_jpeg_indexes", &add_jpeg_indexes, nb::arg("saved"))
      .def("plan", &Pipeline::plan_in_words)
      .def("warnings", [](const Pipeline& p) { return p.plan().warnings(); })
      .def("quarantine",
           [](const Pipeline& p) {
             nb::list l;
             for (const auto& [last, times] : p.quarantine()) {
               nb::dict d = describe_failure(last);
               d["times"] = times;
               l.append(d);
             }
             return l;
           })
      .def("take_notice", &Pipeline::take_notice)
      .def("take_remarks", &Pipeline::take_remarks)
      .def("trim", &Pipeline::trim, nb::call_guard<Unlocked>())
      .def("close", &Pipeline::stop, nb::call_guard<Unlocked>(),
           "Joins the threads and frees the steps made ahead; run() starts again.")
      .def_prop_ro("seed", &Pipeline::seed);
}

}  // namespace stoker::python
