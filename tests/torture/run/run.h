// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a trial in one way, with pipelines as users have them.
#pragma once
#include "record.h"

namespace stoker::torture {

// `folder` has the trial's files. Not thread-safe: it decides what devices this process has.
Record run(const Trial& trial, const Way& way, const std::string& folder);

}  // namespace stoker::torture
