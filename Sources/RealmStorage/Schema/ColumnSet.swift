// SPDX-License-Identifier: Apache-2.0

/// The columns of a table between two changes of its schema.
final class ColumnSet: Sendable {
    let columns: [Column]
    let backlinks: [Column]
    /// Where the public column of a name stands in `columns`.
    let positions: [String: Int]

    init(columns: [Column], backlinks: [Column]) {
        self.columns = columns
        self.backlinks = backlinks
        positions = Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
