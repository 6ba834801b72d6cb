# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Saves a pipeline's graph and settings as text, and loads them; and saves what was bad."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stoker import _core
from stoker._messages import shown
from stoker._settings.table import for_file
from stoker.errors import GraphError


def save(graph: _core.Graph, settings: Mapping[str, Any]) -> str:
    """The graph and the settings as JSON."""
    return graph.save(json.dumps(for_file(settings)))


def load(
    text: str | bytes | None, filename: str | os.PathLike[str] | None = None
) -> tuple[_core.Graph, dict[str, Any]]:
    """The graph and the settings of a saved pipeline, from a text or a file."""
    if (text is None) == (filename is None):
        raise GraphError("deserialize expects either the text or filename=")
    saved = text if filename is None else Path(filename).read_bytes()
    if isinstance(saved, str):
        saved = saved.encode(errors="surrogatepass")  # the engine refuses what is no UTF-8
    if not isinstance(saved, bytes):
        raise GraphError(f"deserialize expects the text as str or bytes, got {shown(text)}")
    try:
        graph, options = _core.Graph.load(saved)
    except GraphError as e:
        if filename is None and os.path.exists(saved):
            raise GraphError(f"{e}; a file is given by name: deserialize(filename=...)") from None
        raise
    return graph, json.loads(options)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes under a name of its own first, so that nobody sees half of it. Raises OSError."""
    file = Path(path)
    handle, part = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with open(handle, "wb") as out:
            out.write(data)
            os.fchmod(out.fileno(), 0o644)
        os.replace(part, file)
    except BaseException:
        os.unlink(part)
        raise


def quarantine_line(entry: dict[str, Any]) -> str:
    """An entry of the quarantine as a line of JSON, which only has UTF-8."""
    source = os.fsencode(entry["source"])
    try:
        entry = {**entry, "source": source.decode()}
    except UnicodeDecodeError:
        escaped = source.decode(errors="backslashreplace")
        entry = {**entry, "source": escaped, "source_bytes": source.hex()}
    return json.dumps(entry) + "\n"
