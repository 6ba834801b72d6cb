# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline counts of itself, as a dict that prints as a table."""

from __future__ import annotations

from typing import Any


class Stats(dict[str, Any]):
    """The dict that ``Pipeline.stats()`` returns. ``print`` shows it as a table."""

    def copy(self) -> Stats:
        """Another one of the same entries."""
        return Stats(self)

    def __str__(self) -> str:
        if not self:
            return "nothing was counted"
        operators = [o for o in self["operators"] if o["seconds"] > 0]
        total = sum(o["seconds"] for o in operators) or 1.0
        samples = max(1, self["samples"])
        lines = [
            f"{self['samples']} samples in {self['steps']} steps, {self['failures']} failures, "
            f"{self['bytes_read'] / 1e6:.0f} MB read"
        ]
        if self["steps_dropped"]:
            lines.append(f"{self['steps_dropped']} steps dropped, because they had no good sample")
        lines += [
            f"  {o['name']:28} {o['seconds'] / total:6.1%} "
            f"{o['seconds'] * 1e6 / samples:8.0f} us a sample"
            for o in sorted(operators, key=lambda o: -o["seconds"])
        ]
        lines.append(
            f"you waited for {self['steps_waited']} of {self['steps']} steps, "
            f"{self['user_wait_seconds']:.2f} s; workers waited "
            f"{self['worker_idle_seconds']:.2f} s for work and {self['read_wait_seconds']:.2f} s "
            "for storage"
        )
        memory = self["memory"]
        lines.append(
            f"batches took at most {memory['batches']['high_water'] / 1e6:.0f} MB, all may take "
            f"{memory['limit'] / 1e6:.0f} MB"
        )
        jpegs = self["jpeg_indexes"]
        if windows := jpegs["hits"] + jpegs["misses"]:
            lines.append(
                f"{jpegs['hits']} of {windows} windows of JPEG files were decoded with an index "
                f"of the file; {jpegs['files']} files have one"
            )
        if self["decoder"]:
            lines.append(f"decoded for the device by {self['decoder']}")
        return "\n".join(lines)
