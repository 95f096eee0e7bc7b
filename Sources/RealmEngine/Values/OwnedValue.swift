// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A value together with the bytes that it borrows; it can be passed between threads.
///
/// A `Value` of the storage layer borrows the bytes of strings and data, mostly from the mapped file. A
/// value that comes from an input, or has to outlive the next change of the file, owns a copy of its
/// bytes. Copies of an `OwnedValue` share these bytes.
package struct OwnedValue: Sendable {
    /// The value. It is valid while this instance or a copy of it exists; use `use` to guarantee that.
    package let value: Value
    /// The bytes that `value` borrows; nil when it borrows none.
    private let storage: ByteStorage?

    /// Makes a value that borrows nothing, such as a number or null.
    package init(_ value: Value) {
        self.value = value
        storage = nil
    }

    /// Makes a value that refers to bytes which it keeps alive.
    private init(_ storage: ByteStorage, _ make: (ByteView) -> Value) {
        self.storage = storage
        value = make(storage.view)
    }

    /// Makes a string value from characters.
    static func string(_ text: String) -> OwnedValue { OwnedValue(ByteStorage(text)) { .string($0) } }
    /// Makes a string value from bytes, which need not be UTF-8.
    package static func string(_ bytes: [UInt8]) -> OwnedValue { OwnedValue(ByteStorage(bytes)) { .string($0) } }
    /// Makes a data value from bytes.
    package static func binary(_ bytes: [UInt8]) -> OwnedValue { OwnedValue(ByteStorage(bytes)) { .binary($0) } }

    /// Copies a value, including the bytes that it borrows.
    init(copying value: Value) {
        switch value {
        case .string(let bytes): self = .string(bytes.array)
        case .binary(let bytes): self = .binary(bytes.array)
        default: self.init(value)
        }
    }

    /// Whether `value` refers to bytes of this instance, and so must not outlive it.
    var borrows: Bool { storage != nil }
    /// The number of bytes of a string or of data that this instance owns; 0 for all other values.
    var byteCount: Int { storage?.view.count ?? 0 }

    /// Runs `body` with the value, and keeps its bytes alive until `body` has returned.
    @inline(__always)
    package func use<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(value)
    }
}
