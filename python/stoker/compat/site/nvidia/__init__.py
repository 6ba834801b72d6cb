# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lets Python processes that a script starts find ``nvidia.dali`` here.

Other ``nvidia`` packages are found as well.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
