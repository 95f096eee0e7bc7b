// SPDX-License-Identifier: Apache-2.0

/// The key of a dictionary entry. No SDK writes integer keys, but the format has them.
package enum DictionaryKey: Sendable, Equatable {
    case text(ByteView)
    case integer(Int64)

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
