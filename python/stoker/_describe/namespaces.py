# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Modules whose contents are made from the table of operators, each when it is first used.

``stoker.fn`` and ``stoker.ops`` are such modules; a dotted name such as ``readers.file`` makes a
submodule.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Protocol

from stoker._describe import old_spellings
from stoker._describe.other_names import OTHER_NAMES, WAYS
from stoker._messages import did_you_mean


class Maker(Protocol):
    """Makes the objects of a namespace.

    All names are dotted and do not begin with the namespace's own name.
    """

    def names(self) -> Mapping[str, Any]:
        """The names that exist, as keys."""

    def old_names(self) -> Mapping[str, str]:
        """Old names, each with today's name, which need not exist."""

    def make(self, name: str) -> Any:
        """Makes the object of a name."""

    def make_old(self, name: str) -> Any:
        """Makes the object of an old name, anew each time."""


class Namespace:
    """The names of one package, ``stoker.<short>``, and of its submodules."""

    def __init__(self, short: str, maker: Maker) -> None:
        self.short = short
        self._root = f"stoker.{short}"
        self._maker = maker
        old = [name for name, today in maker.old_names().items() if today in maker.names()]
        for name in [*maker.names(), *old]:
            self._make_folders(name.split(".")[:-1])

    def find(self, module: str, name: str) -> Any:
        """The attribute ``name`` of the package or of a submodule."""
        wanted = self._prefix(module) + name
        if wanted in self._maker.names():
            made = self._maker.make(wanted)
            setattr(sys.modules[module], name, made)
            return made
        today = self._maker.old_names().get(wanted)
        if today in self._maker.names():
            made = self._maker.make_old(wanted)
            if wanted == f"experimental.{today}":  # these are as good as the others
                return made
            return old_spellings.announced(made, f"{self.short}.{wanted}", f"{self.short}.{today}")
        # With the module as obj, Python would add a guess of its own to the text.
        raise AttributeError(self._missing(wanted, name, today), name=name, obj=None)

    def names_in(self, module: str) -> list[str]:
        """What ``dir`` shows for the package or a submodule."""
        prefix = self._prefix(module)
        inside = (n[len(prefix) :] for n in self._maker.names() if n.startswith(prefix))
        return sorted({n.partition(".")[0] for n in inside})

    def _prefix(self, module: str) -> str:
        return (module + ".").removeprefix(self._root + ".")

    def _missing(self, wanted: str, name: str, today: str | None) -> str:
        if name.startswith("__"):
            return f"no attribute '{name}'"
        missing = f"there is no operator '{self.short}.{today or wanted}'"
        if today:
            return f"{missing}, as '{self.short}.{wanted}' is called now"
        names = self._maker.names()
        elsewhere = [n for n in names if n.rpartition(".")[2] == name]
        if name in OTHER_NAMES:
            elsewhere = [n for n in names if n == OTHER_NAMES[name]] or elsewhere
        way = f" {WAYS[name]}" if name in WAYS else ""
        if elsewhere:
            return f"{missing}. Did you mean '{elsewhere[0]}'?{way}"
        if way:
            return f"{missing}.{way}"
        folder = self._nearest_folder(wanted)
        return f"{missing}.{folder or did_you_mean(wanted, names) or self._all()}"

    def _nearest_folder(self, wanted: str) -> str:
        """The folder that is meant, as by ``fn.reader.file``, which Python asks for ``reader``."""
        folders = sorted({n.rpartition(".")[0] for n in self._maker.names() if "." in n})
        near = difflib.get_close_matches(wanted, folders, 1, cutoff=0.8)
        return f" Did you mean '{near[0]}'?" if near else ""

    def _all(self) -> str:
        return f" dir(stoker.{self.short}) lists all."

    def _make_folders(self, parts: list[str]) -> None:
        parent = sys.modules[self._root]
        for depth, part in enumerate(parts, start=1):
            full_name = ".".join([self._root, *parts[:depth]])
            if full_name not in sys.modules:
                sys.modules[full_name] = _Folder(full_name, self)
                setattr(parent, part, sys.modules[full_name])
            parent = sys.modules[full_name]


# What else a reader of a folder's name may look for.
_NOT_MEANT = {
    "fn.transforms": " They make the matrices of affine maps; the transforms of torchvision are in "
    "``stoker.transforms``."
}


class _Folder(ModuleType):
    """A submodule such as ``stoker.fn.readers``."""

    def __init__(self, full_name: str, namespace: Namespace) -> None:
        short = full_name.removeprefix("stoker.")
        super().__init__(full_name, f"The operators ``{short}.*``.{_NOT_MEANT.get(short, '')}")
        self.__path__: list[str] = []
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        return self._namespace.find(self.__name__, name)

    def __dir__(self) -> list[str]:
        return self._namespace.names_in(self.__name__)
