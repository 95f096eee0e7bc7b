// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A value that is sent to a server, or came from one in its binary form.
enum PostgresValue: Sendable, Equatable {
    case text(String)
    /// A number with eight bytes (`bigint`).
    case number(Int64)
    /// Bytes (`bytea`).
    case bytes([UInt8])
    /// Several texts (`text[]`).
    case texts([String])

    /// Makes a number of a version or an epoch, which are far below 2^63.
    static func number(_ value: UInt64) -> PostgresValue { .number(Int64(clamping: value)) }

    /// The bytes that are sent: numbers with their highest byte first.
    var sent: [UInt8] {
        switch self {
        case .text(let text): return Array(text.utf8)
        case .number(let number): return (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
        case .bytes(let bytes): return bytes
        case .texts(let texts): return PostgresValue.array(of: texts)
        }
    }

    /// The number that PostgreSQL has for the type `text`.
    private static let textType: Int32 = 25

    /// Returns an array in its binary form: one dimension, no nulls, the type, the count, the lower bound, and each text with its
    /// length.
    private static func array(of texts: [String]) -> [UInt8] {
        func word(_ value: Int32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> Int32(24 - 8 * $0)) } }
        let head = [1, 0, textType, Int32(clamping: texts.count), 1].flatMap(word)
        return texts.reduce(into: head) { bytes, text in
            bytes += word(Int32(clamping: text.utf8.count))
            bytes += text.utf8
        }
    }
}
