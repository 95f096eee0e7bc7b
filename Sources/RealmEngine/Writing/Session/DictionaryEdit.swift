// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One change of a dictionary, as an element operation of a request asks for it.
package enum DictionaryEdit: Sendable {
    /// Sets the value of an entry, whether the key exists or not.
    case set(String, InputValue)
    /// Removes an entry; a missing key is no error.
    case remove(String)
    /// Removes all entries.
    case clear
}
