// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The key of a dictionary entry. No SDK writes integer keys, but the format has them.
///
/// Text keys are compared by their bytes. They borrow from the snapshot, as values do.
package enum DictionaryKey: Sendable, Hashable {
    /// A text, as SDKs write keys.
    case text(ByteView)
    /// A number, which only the format provides for.
    case integer(Int64)

    /// Makes a key from an element of the tree of keys at `tree`.
    ///
    /// - Throws: `.corrupt` for null.
    init(_ value: Value, _ tree: Ref) throws(StorageError) {
        switch value {
        case .string(let bytes): self = .text(bytes)
        case .int(let number): self = .integer(number)
        default: throw .corrupt(ref: tree, reason: "a dictionary key is null")
        }
    }

    /// The bytes of a text key; empty for an integer.
    package var bytes: ByteView {
        if case .text(let bytes) = self { return bytes }
        return .empty
    }
}
