// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One operation on a collection.
///
/// Positions count stored elements, unresolved links included, and each change refers to the collection as the changes before it
/// have left it. Observers turn a run of these into insertions, deletions and moves.
package enum CollectionChange: Sendable, Equatable {
    /// An element was inserted at this position; the later ones moved up by one.
    case insert(Int)
    /// The element at this position was replaced.
    case set(Int)
    /// The element at this position was removed; the later ones moved down by one.
    case erase(Int)
    /// The element at `from` was removed and inserted again, so that its position is `to`.
    case move(from: Int, to: Int)
    /// All elements were removed; `count` is how many there were.
    case clear(count: Int)
}
