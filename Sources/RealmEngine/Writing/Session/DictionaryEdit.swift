// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change of a dictionary.
package enum DictionaryEdit: Sendable {
    case set(String, InputValue)
    case remove(String)
    case clear
}
