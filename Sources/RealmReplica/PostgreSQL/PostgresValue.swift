// SPDX-License-Identifier: Apache-2.0

/// A value that is sent to a server, or came from one in its binary form.
enum PostgresValue: Sendable, Equatable {
    /// A text.
    case text(String)
    /// A number with eight bytes (`bigint`).
    case number(Int64)
    /// Bytes (`bytea`).
    case bytes([UInt8])

    /// Makes a number of a version or an epoch, which are far below 2^63.
    static func number(_ value: UInt64) -> PostgresValue { .number(Int64(clamping: value)) }

    /// The bytes that are sent: numbers with their highest byte first.
    var sent: [UInt8] {
        switch self {
        case .text(let text): return Array(text.utf8)
        case .number(let number): return (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(56 - 8 * $0)) }
        case .bytes(let bytes): return bytes
        }
    }
}
