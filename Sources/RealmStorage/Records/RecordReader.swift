// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Reads the bytes of a `RecordWriter`. They are not trusted, and may be damaged.
struct RecordReader {
    private let bytes: ArraySlice<UInt8>
    /// The place of the next byte.
    private(set) var position: Int

    /// Makes a reader of some bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The number of bytes that were not read yet.
    var rest: Int { bytes.endIndex - position }

    /// Reads bytes as they are.
    ///
    /// - Throws: `.corrupt` when there are not so many.
    mutating func raw(_ count: Int) throws(StorageError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest else { throw RecordReader.cut }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func byte() throws(StorageError) -> UInt8 {
        guard rest > 0 else { throw RecordReader.cut }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number of four bytes.
    mutating func word() throws(StorageError) -> UInt32 { UInt32(truncatingIfNeeded: try little(4)) }

    /// Reads a number of eight bytes.
    mutating func long() throws(StorageError) -> UInt64 { try little(8) }

    /// Reads a number of eight bytes that counts or places bytes.
    mutating func size() throws(StorageError) -> Int {
        guard let value = Int(exactly: try long()) else { throw RecordReader.damaged("a size is out of range") }
        return value
    }

    /// Reads a number of so many bytes, the lowest first.
    private mutating func little(_ count: Int) throws(StorageError) -> UInt64 {
        var value: UInt64 = 0
        for (index, byte) in try raw(count).enumerated() { value |= UInt64(byte) << UInt64(8 * index) }
        return value
    }

    /// Reads a number of seven bits a byte.
    mutating func number() throws(StorageError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw RecordReader.damaged("a number is too long")
    }

    mutating func signed() throws(StorageError) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads a number that counts what follows, each of which has at least one byte.
    mutating func count() throws(StorageError) -> Int {
        guard let value = Int(exactly: try number()), value <= rest else { throw RecordReader.cut }
        return value
    }

    mutating func text() throws(StorageError) -> String {
        let count = try count()
        return String(decoding: try raw(count), as: UTF8.self)
    }

    /// The error for a record that ends too early.
    static let cut = damaged("it is cut short")

    /// Makes the error for a record that cannot be used.
    static func damaged(_ reason: String) -> StorageError { .corrupt(ref: .none, reason: "a record of commits: \(reason)") }
}
