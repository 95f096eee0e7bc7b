"""Change sets, and what they do to a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Generic, Hashable, Mapping, MutableSequence, Sequence, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Modification:
    """A row that changed where it is: its place before and after, and the properties that were written."""

    old_index: int
    index: int
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangeSet(Generic[T]):
    """What happened to a list from one version to another.

    `deletions` and `old_index` count in the list before, `insertions` and `index` in the list after. All are
    ascending. `rows` has the rows that were inserted or modified by their new index.
    """

    deletions: tuple[int, ...] = ()
    insertions: tuple[int, ...] = ()
    modifications: tuple[Modification, ...] = ()
    moves: tuple[tuple[int, int], ...] = ()
    rows: Mapping[int, T] = field(default_factory=dict)
    version: str | None = None
    #: The contents were read anew: everything before is deleted and everything now inserted.
    reset: bool = False
    #: The list was emptied by one operation.
    cleared: bool = False
    #: The object that owned the list is gone; nothing follows.
    deleted: bool = False
    #: The set shows a write of this client that the server has not confirmed, or takes one back.
    optimistic: bool = False

    def __bool__(self) -> bool:
        return bool(self.deletions or self.insertions or self.modifications or self.reset or self.cleared or self.deleted)

    def apply(self, target: MutableSequence[T]) -> None:
        """Makes the list before into the list after."""
        target[:] = spliced(target, self.deletions, self.insertions, self.rows)
        for row in self.modifications:
            target[row.index] = self.rows[row.index]


class Diverged(Exception):
    """A change set that does not fit the list: something was missed."""


def spliced(rows: Sequence[T], deletions: Sequence[int], insertions: Sequence[int], new: Mapping[int, T]) -> list[T]:
    """The rows without those deleted, and with those inserted, in one pass over them."""
    if not deletions and not insertions:
        return list(rows)
    if deletions and deletions[-1] >= len(rows):
        raise Diverged("a deletion beyond the end")
    gone = set(deletions)
    kept = [row for index, row in enumerate(rows) if index not in gone] if gone else rows
    result: list[T] = []
    taken = 0
    for index in insertions:
        count = index - len(result)
        if count < 0 or taken + count > len(kept):
            raise Diverged("an insertion beyond the end")
        result.extend(kept[taken:taken + count])
        taken += count
        result.append(new[index])
    result.extend(kept[taken:])
    return result


def replaced(old: Sequence[T], new: Sequence[T], version: str | None) -> ChangeSet[T]:
    """The change set of contents that were read anew."""
    return ChangeSet(tuple(range(len(old))), tuple(range(len(new))), rows=dict(enumerate(new)), version=version, reset=True)


def difference(old: Sequence[T], new: Sequence[T], key: Callable[[T], Hashable], version: str | None) -> ChangeSet[T]:
    """A change set between two lists: equal ends stay, and what is between them is compared by key where it stands.

    Rows that are the same Python object did not change.
    """
    head = 0
    while head < min(len(old), len(new)) and key(old[head]) == key(new[head]):
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and key(old[-1 - tail]) == key(new[-1 - tail]):
        tail += 1
    deletions = tuple(range(head, len(old) - tail))
    insertions = tuple(range(head, len(new) - tail))
    pairs = [(index, index) for index in range(head)]
    pairs += [(len(old) - tail + step, len(new) - tail + step) for step in range(tail)]
    modifications = tuple(Modification(before, after) for before, after in pairs if old[before] is not new[after])
    rows: dict[int, Any] = {index: new[index] for index in insertions}
    rows.update((row.index, new[row.index]) for row in modifications)
    return ChangeSet(deletions, insertions, modifications, rows=rows, version=version, optimistic=True)


def reached(position: str | None, version: str) -> bool:
    """Whether a position includes a version of the same life of the file."""
    if position is None:
        return False
    (epoch, _, count), (other, _, wanted) = position.partition("."), version.partition(".")
    return epoch == other and count.isdigit() and wanted.isdigit() and int(count) >= int(wanted)
