# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines as ``tf.data.Dataset``. Users import ``stoker.tensorflow``."""
