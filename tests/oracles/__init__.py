# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""By operator: `expected`, an independent answer, `generate`, odd calls of it, and `TOLERANCE`
where the answer is not exact.

Answers of random operators take a further `chance`: the draws that the sample is to have.
"""
