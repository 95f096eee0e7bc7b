// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A value together with the bytes that it borrows. Passed between threads like any value.
///
/// A `Value` of the storage layer borrows the bytes of strings and data, mostly from the mapped file. A value that comes from
/// an input, or has to outlive the next change, brings its own bytes.
package struct OwnedValue: Sendable {
    /// Good as long as this value, or a copy of it, is there; see `use`.
    package let value: Value
    /// The bytes that `value` borrows; nil when it borrows none.
    private let storage: ByteStorage?

    /// A value that borrows nothing.
    init(_ value: Value) {
        self.value = value
        storage = nil
    }

    /// A value of bytes that it keeps.
    private init(_ storage: ByteStorage, _ make: (ByteView) -> Value) {
        self.storage = storage
        value = make(storage.view)
    }

    /// A string of these characters.
    static func string(_ text: String) -> OwnedValue { OwnedValue(ByteStorage(text)) { .string($0) } }
    /// A string of these bytes, which need not be UTF-8.
    static func string(_ bytes: [UInt8]) -> OwnedValue { OwnedValue(ByteStorage(bytes)) { .string($0) } }
    /// Data of these bytes.
    static func binary(_ bytes: [UInt8]) -> OwnedValue { OwnedValue(ByteStorage(bytes)) { .binary($0) } }

    /// A copy with bytes of its own.
    init(copying value: Value) {
        switch value {
        case .string(let bytes): self = .string(bytes.array)
        case .binary(let bytes): self = .binary(bytes.array)
        default: self.init(value)
        }
    }

    /// Whether `value` is good only as long as this is there.
    var borrows: Bool { storage != nil }
    /// The bytes of a string or of data; 0 for everything else.
    var byteCount: Int { storage?.view.count ?? 0 }

    /// Runs `body` with the value while its bytes are kept.
    @inline(__always)
    func use<Result, Failure: Error>(_ body: (Value) throws(Failure) -> Result) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(value)
    }
}
