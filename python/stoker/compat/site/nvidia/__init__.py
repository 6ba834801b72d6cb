# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lets Python started by a script find ``nvidia.dali`` here, and other ``nvidia`` packages too."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
