# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lets scripts written for the established library, NVIDIA DALI, run on Stoker.

    import stoker.compat
    stoker.compat.install()
    from nvidia.dali import fn, pipeline_def  # Stoker's

After ``install()``, ``nvidia.dali`` and all modules below it are Stoker's; the real library is
never imported. ``python -m stoker.run SCRIPT`` does this for a script that stays unchanged. Two
things differ from ``stoker`` itself: batches are ``TensorListCPU`` with DALI's methods, and saved
graphs and checkpoints are ``bytes``.
"""

from __future__ import annotations

from stoker.compat._finder import install, is_installed, module
from stoker.compat._report import Report, report

__all__ = ["Report", "install", "is_installed", "module", "report"]
