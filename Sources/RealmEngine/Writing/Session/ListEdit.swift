// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One change of a list, as an element operation of a request asks for it. Indexes count from 0.
package enum ListEdit: Sendable {
    /// Adds an element at the end.
    case add(InputValue)
    /// Inserts an element before the one at an index; the number of elements inserts at the end.
    case insert(Int, InputValue)
    /// Replaces the element at an index.
    case set(Int, InputValue)
    /// Removes the element at an index.
    case remove(Int)
    /// Moves the element at the first index. The second index is the one that the element has after the
    /// move.
    case move(Int, Int)
    /// Exchanges the elements at two indexes.
    case swap(Int, Int)
    /// Removes all elements. Objects that they link to remain.
    case clear
    /// Deletes the objects that the elements of a list of links refer to, and empties the list.
    case deleteAll
}
