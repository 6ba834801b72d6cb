# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The signature and docstring of ``Pipeline`` as the table of settings has them."""

from __future__ import annotations

import textwrap

from stoker._describe.signatures import entry, python_definition, wrapped
from stoker._settings.table import POSITIONAL, Setting, settings


def init_text(body: str, *further: str) -> str:
    """The definition of ``__init__`` as Python writes it; ``further`` parameters stand last."""
    first = [_parameter(settings()[name]) for name in POSITIONAL]
    rest = [_parameter(s) for s in settings().values() if s.name not in POSITIONAL]
    return python_definition("__init__", ["self", *first, "*", *rest, *further], "None", body)


def _parameter(setting: Setting) -> str:
    return f"{setting.name}: {setting.annotation} = {setting.default!r}"


def with_settings(doc: str) -> str:
    """The docstring of a class, with all settings in words behind it."""
    return f"{doc.rstrip()}\n\n{textwrap.indent(_in_words(), '    ')}\n"


def _in_words() -> str:
    lines = ["Settings:"]
    for s in settings().values():
        if s.help:
            lines.append(entry(f"{s.name} ({', '.join(s.facts)}): {s.help}"))
    ignored = [s.name for s in settings().values() if not s.help]
    return "\n".join([*lines, "", wrapped(f"Accepted without effect: {', '.join(ignored)}.")])
