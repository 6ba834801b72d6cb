# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow: pipelines as ``tf.data.Dataset``. Use ``stoker.tensorflow``."""
