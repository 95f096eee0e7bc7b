"""Writes that are shown before the server has confirmed them."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .changes import reached
from .values import Object


class Edit:
    """One write: what it shows, and from which version on the server's rows show it by themselves."""

    def __init__(self, kind: str, key: str | None, values: Mapping[str, Any] | None, shown: Object | None) -> None:
        self.kind = kind
        self.key = key
        self.values = values or {}
        self.shown = shown
        self.version: str | None = None
        self._merged: tuple[Object, Object] | None = None

    @staticmethod
    def creating(shown: Object) -> Edit:
        return Edit("create", None, None, shown)

    @staticmethod
    def changing(key: str, values: Mapping[str, Any]) -> Edit:
        return Edit("change", key, values, None)

    @staticmethod
    def deleting(key: str) -> Edit:
        return Edit("delete", key, None, None)

    def confirm(self, written: Object | None) -> None:
        """The server has written it; a new object has its key and defaults now."""
        if written is not None:
            self.version = written.meta.get("version")
            if self.kind == "create":
                self.key, self.shown = written.key, written

    def merged(self, row: Object) -> Object:
        """The row with the written values; the same object for the same row, so that it counts as changed once."""
        if self._merged is None or self._merged[0] is not row:
            self._merged = (row, Object(row.class_name, row.key, {**row, **self.values}, row.etag, row.meta))
        return self._merged[1]


class EditedRows:
    """The writes on top of the server's rows, in the order in which they were made."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []

    def __bool__(self) -> bool:
        return bool(self._edits)

    def __contains__(self, edit: Edit) -> bool:
        return edit in self._edits

    def add(self, edit: Edit) -> None:
        self._edits.append(edit)

    def drop(self, edit: Edit) -> bool:
        """Takes a write away; whether it was still there."""
        if edit not in self._edits:
            return False
        self._edits.remove(edit)
        return True

    def settle(self, position: str) -> bool:
        """Drops the writes that the server's rows include; whether there were any."""
        left = [edit for edit in self._edits if edit.version is None or not reached(position, edit.version)]
        settled = len(left) != len(self._edits)
        self._edits = left
        return settled

    def applied(self, rows: list[Any]) -> list[Any]:
        """What is shown for these rows of the server."""
        for edit in self._edits:
            rows = _edited(rows, edit)
        return rows


def _edited(rows: Sequence[Any], edit: Edit) -> list[Any]:
    if edit.kind == "delete":
        return [row for row in rows if row.key != edit.key]
    if edit.kind == "change":
        return [edit.merged(row) if row.key == edit.key else row for row in rows]
    if edit.key is not None and any(row.key == edit.key for row in rows):
        return list(rows)
    return [*rows, edit.shown]
