// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change of a list.
package enum ListEdit: Sendable {
    /// Adds an element at the end.
    case add(InputValue)
    /// Puts an element before the one at an index.
    case insert(Int, InputValue)
    /// Replaces the element at an index.
    case set(Int, InputValue)
    /// Removes the element at an index.
    case remove(Int)
    /// The second index is the one that the element has afterwards.
    case move(Int, Int)
    /// Exchanges two elements.
    case swap(Int, Int)
    /// Removes all elements.
    case clear
    /// Deletes the objects that a list of links points to.
    case deleteAll
}
