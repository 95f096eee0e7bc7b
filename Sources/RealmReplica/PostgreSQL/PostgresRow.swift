// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One row of an answer, with columns in their binary form; a null has no bytes.
struct PostgresRow: Sendable, Equatable {
    let columns: [[UInt8]]

    /// The bytes of a column; nil when the row has not so many.
    func bytes(_ index: Int) -> [UInt8]? { columns.indices.contains(index) ? columns[index] : nil }

    /// The text of a column.
    func text(_ index: Int) -> String? { bytes(index).map { String(decoding: $0, as: UTF8.self) } }

    /// The number of a column that is a `bigint`.
    func number(_ index: Int) -> UInt64? {
        guard let bytes = bytes(index), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The answer to a statement.
struct PostgresAnswer: Sendable, Equatable {
    /// The command tag, such as `INSERT 0 1`.
    let tag: String
    let rows: [PostgresRow]

    var changedCount: Int { tag.split(separator: " ").last.flatMap { Int($0) } ?? 0 }
}
