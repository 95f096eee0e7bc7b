// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change of a dictionary.
package enum DictionaryEdit: Sendable {
    /// Sets an entry, new or not.
    case set(String, InputValue)
    /// Removes an entry, if it is there.
    case remove(String)
    /// Removes all entries.
    case clear
}
