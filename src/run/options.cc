// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/options.h"

namespace stoker {

void check(const PipelineOptions& o) {
  check_settings(o);
  if (o.shard_id >= o.num_shards)
    throw GraphError("Pipeline: shard_id is " + std::to_string(o.shard_id) +
                     ", but there are num_shards=" + std::to_string(o.num_shards));
}

}  // namespace stoker
