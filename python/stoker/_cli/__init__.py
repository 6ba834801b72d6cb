# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``stoker``: ``main.py`` knows the verbs, and each verb is a module beside it."""
