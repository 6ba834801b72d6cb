# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An object with the settings of a pipeline. ``tools/make_stubs.py`` writes the stub of this."""

from __future__ import annotations

from typing import Any

from stoker._settings.signature import init_text
from stoker._settings.table import checked, unknown


class Configured:
    """Takes a pipeline's settings as arguments; they can be read under the same names."""

    _settings: dict[str, Any]

    def _take(self, given: dict[str, Any]) -> None:
        """Checks what ``__init__`` was given."""
        del given["self"]
        for name in given.pop("unknown"):
            raise unknown(name)
        self._settings = checked(given)
        self._begin()

    def _begin(self) -> None:
        """Called when the settings are there."""

    def __getattr__(self, name: str) -> Any:
        settings = self.__dict__.get("_settings", {})
        if name in settings:
            return settings[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _make_init() -> Any:
    """``__init__`` with the signature that the table of settings gives it.

    It is compiled from text, so that Python itself reads the arguments, and ``inspect``, which is
    slow to import, is not needed. Its file is this one, so that messages find the user's line.
    """
    text = init_text("self._take(locals())", "**unknown: object")
    made: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, __file__, "exec"), made)
    made["__init__"].__qualname__ = "Pipeline.__init__"
    return made["__init__"]


Configured.__init__ = _make_init()  # type: ignore[method-assign]
