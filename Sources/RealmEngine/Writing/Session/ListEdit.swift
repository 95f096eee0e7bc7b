// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

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
    /// Moves the element at the first index. The second index is the one that the element has after the move.
    case move(Int, Int)
    /// Exchanges the elements at two indexes.
    case swap(Int, Int)
    /// Removes all elements. Objects that they link to remain.
    case clear
    /// Deletes the objects that the elements of a list of links refer to, and empties the list.
    case deleteAll
}

/// One change of a set, as an element operation of a request asks for it.
package enum SetEdit: Sendable {
    /// Adds a member; an equal member is no error.
    case insert(InputValue)
    /// Removes a member; a missing one is no error.
    case remove(InputValue)
    /// Removes all members.
    case clear
    /// Adds all given members that are missing.
    case union([InputValue])
    /// Removes all members that are not among those given.
    case intersect([InputValue])
    /// Removes all members that are among those given.
    case minus([InputValue])
}

/// One change of a dictionary, as an element operation of a request asks for it.
package enum DictionaryEdit: Sendable {
    /// Sets the value of an entry, whether the key exists or not.
    case set(String, InputValue)
    /// Removes an entry; a missing key is no error.
    case remove(String)
    /// Removes all entries.
    case clear
}
