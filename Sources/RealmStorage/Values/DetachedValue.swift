// SPDX-License-Identifier: Apache-2.0

/// A value with bytes of its own, for when the node it came from is going to change.
///
/// Values borrow texts and bytes from the snapshot or the leaf they were read from. A transaction that changes the leaf detaches
/// the old value first when it still needs it.
package struct DetachedValue: Sendable {
    /// Valid as long as this struct is.
    package let value: Value
    /// The bytes of a text or binary; nil for other values, which borrow nothing.
    private let storage: ByteStorage?

    /// Copies what `value` borrows.
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
