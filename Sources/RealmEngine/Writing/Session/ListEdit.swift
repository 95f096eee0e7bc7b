// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change of a list.
package enum ListEdit: Sendable {
    case add(InputValue)
    case insert(Int, InputValue)
    case set(Int, InputValue)
    case remove(Int)
    /// The second index is the one that the element has afterwards.
    case move(Int, Int)
    case swap(Int, Int)
    case clear
    /// Deletes the objects that a list of links points to.
    case deleteAll
}
