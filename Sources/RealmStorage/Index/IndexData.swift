// SPDX-License-Identifier: Apache-2.0

/// The byte string under which a search index files a value; nil stands for null, which is not the empty string.
///
/// The bytes are consumed in steps of four; each step is one key of a node. Source: docs/format.md, "Search indexes".
package struct IndexData: Sendable, Equatable {
    /// General indexes open no level past this offset.
    package static let maximumOffset = 200
    /// Marks the end of the data inside a key of fewer than four bytes.
    private static let endMark: UInt8 = 0x58

    package let bytes: [UInt8]?

    package init(bytes: [UInt8]?) { self.bytes = bytes }

    /// The data of `value`. Nested collections and links are filed too; see the table in the format notes.
    package init(_ value: Value) {
        switch value {
        case .null: bytes = nil
        case .int(let number): bytes = IndexData.littleEndian(number)
        case .bool(let flag): bytes = IndexData.littleEndian(Int64(flag ? 1 : 0))
        case .string(let text): bytes = text.array
        case .binary(let data): bytes = data.array
        case .timestamp(let date): bytes = IndexData.littleEndian(date.seconds) + IndexData.littleEndian(date.nanoseconds)
        case .objectID(let id): bytes = IndexData.bigEndian(id.first) + IndexData.bigEndian(id.last)
        case .uuid(let id): bytes = IndexData.bigEndian(id.first) + IndexData.bigEndian(id.last)
        case .float(let number):
            bytes = Int32(exactly: number).map { IndexData.littleEndian(Int64($0)) }
                ?? IndexData.littleEndian(number.bitPattern)
        case .double(let number):
            bytes = Int32(exactly: number).map { IndexData.littleEndian(Int64($0)) }
                ?? IndexData.littleEndian(number.bitPattern)
        case .decimal(let number):
            bytes = number.truncatedInt64.map { IndexData.littleEndian($0) }
                ?? IndexData.littleEndian(number.low) + IndexData.littleEndian(number.high)
        case .link(let table, let key):
            bytes = IndexData.littleEndian(table.rawValue) + IndexData.littleEndian(key.rawValue)
        case .list: bytes = Array("__List__".utf8)
        case .dictionary: bytes = Array("__Dictionary__".utf8)
        }
    }

    /// The key at `offset`: four bytes big endian, or what is left of them, the end mark and zeros.
    package func key(at offset: Int) -> Int32 {
        guard let bytes, offset <= bytes.count else { return 0 }
        var key: UInt32 = 0
        for step in 0..<4 {
            let index = offset + step
            let byte = index < bytes.count ? bytes[index] : (index == bytes.count ? IndexData.endMark : 0)
            key = key << 8 | UInt32(byte)
        }
        return Int32(bitPattern: key)
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number(8 * $0)) }
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        littleEndian(number).reversed()
    }
}
