"""Records."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock import _native
from penstock._native import Table

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.summary import Summary


class Record:
    """The summary, the tables and the scenario of one run, in memory or on disk.

    ``penstock.run`` makes one and ``Record.open`` reads one. Readers of Arrow take each table as it is:
    ``polars.DataFrame(record.links)``, ``pyarrow.table(record.flows)``, ``pandas.DataFrame.from_arrow(record.links)``.
    """

    def __init__(self, native: _native.Record) -> None:
        if not isinstance(native, _native.Record):
            raise TypeError("a record comes from penstock.run or from penstock.Record.open")
        self._held: _native.Record | None = native

    @property
    def _native(self) -> _native.Record:
        """The native record, until this one is closed."""
        if self._held is None:
            raise ValueError("the record is closed: run the scenario again, or open its directory with Record.open")
        return self._held

    def close(self) -> None:
        """Let go of the tables, whose memory is free once nothing else has them.

        A table that was taken before stays usable, and so does the record's directory. All else that a closed record
        is asked for raises ValueError. A record is a context manager, which closes it at the end of ``with``.
        """
        self._held = None
        self.__dict__.pop("summary", None)

    def __reduce__(self) -> tuple[type[Record], tuple[object]]:
        """Pickle a record on disk by its directory, and one in memory by its content."""
        return Record, (self._native,)

    @property
    def closed(self) -> bool:
        """Whether the record was closed."""
        return self._held is None

    def __enter__(self) -> Record:
        """Return the record."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the record."""
        self.close()

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> Record:
        """Read the record in a directory, if its files are as they were written.

        Raises:
            ScenarioError: There is no record, or one of its files is missing, damaged or of another format.
        """
        return cls(_native.Record.open(directory))

    @cached_property
    def summary(self) -> Summary:
        """The measurements: numbers with the unit at the end of the name."""
        # Its classes take as long to import as all else: a program that reads no summary does without.
        from penstock.summary import summary_of

        return summary_of(self._native.summary_dict())

    @property
    def flows(self) -> Table:
        """One row a flow, over the measured span [flows rows]."""
        return self._native.table("flows")

    @property
    def links(self) -> Table:
        """Series of the links: one row for each link and sample."""
        return self._native.table("links")

    @property
    def groups(self) -> Table:
        """Series of the groups of flows: one row for each group and sample."""
        return self._native.table("groups")

    @property
    def flow_series(self) -> Table:
        """Series of the flows of those groups that have ``series = true``."""
        return self._native.table("flows-series")

    @property
    def transfers(self) -> Table:
        """One row a transfer, where flows have more than one."""
        return self._native.table("transfers")

    @property
    def packets(self) -> Table:
        """One row for each packet at either end of its flow, after ``run(..., packets=True)``.

        Raises:
            KeyError: The run did not record its packets, or the record was read from disk.
        """
        return self._native.table("packets")

    @property
    def tables(self) -> dict[str, Table]:
        """Each table by the name of its Parquet file without the ending, and ``packets`` if recorded."""
        return self._native.tables

    def table(self, name: str) -> Table:
        """Return the table of that name.

        Raises:
            KeyError: The record has no such table. The message lists those that it has.
        """
        return self._native.table(name)

    @property
    def scenario(self) -> str:
        """The resolved scenario, as the text of a scenario file."""
        return self._native.scenario

    @property
    def id(self) -> str:
        """The identity of the resolved scenario: 16 hexadecimal digits."""
        return self._native.id

    @property
    def seed(self) -> int:
        """The seed."""
        return self._native.seed

    @property
    def world(self) -> str:
        """The world that it ran in."""
        return self._native.world

    @property
    def changes(self) -> list[str]:
        """The differences from the scenario's file, ``KEY=VALUE``."""
        return self._native.changes

    @property
    def path(self) -> Path | None:
        """The directory on disk, if there is one."""
        return self._native.path

    @property
    def cost(self) -> dict[str, Any] | None:
        """Wall time and processor time of the run [s]. It is None for a record that was opened."""
        return self._native.cost

    def html(self) -> str:
        """Return the report as one HTML page, with its figures."""
        return self._native.html()

    def _repr_html_(self) -> str:
        """Show the report in a notebook, in a frame of its own."""
        import html

        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def __repr__(self) -> str:
        """Name title, world, seed and tables."""
        if self.closed:
            return "<penstock.Record, closed>"
        tables = ", ".join(f"{name} ({len(table)} rows)" for name, table in self.tables.items())
        return f"<penstock.Record {self.summary.title!r}, {self.world} world, seed {self.seed}: {tables}>"
