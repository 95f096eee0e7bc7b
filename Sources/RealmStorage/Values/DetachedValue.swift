// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A value with bytes of its own, for the time in which the node that it came from changes.
///
/// Values borrow texts and bytes from the snapshot or the leaf they were read from. A transaction
/// that changes the leaf detaches the old value first when it still needs it.
package struct DetachedValue: Sendable {
    /// The value, whose bytes are valid as long as this struct is alive.
    package let value: Value
    /// The bytes of a text or binary; nil for other values, which borrow nothing.
    private let storage: ByteStorage?

    /// Makes a copy of `value` and of the bytes that it borrows.
    package init(_ value: Value) {
        switch value {
        case .string(let bytes):
            let storage = ByteStorage(bytes.array)
            self.storage = storage
            self.value = .string(storage.view)
        case .binary(let bytes):
            let storage = ByteStorage(bytes.array)
            self.storage = storage
            self.value = .binary(storage.view)
        default:
            storage = nil
            self.value = value
        }
    }
}
