// SPDX-License-Identifier: Apache-2.0

/// The columns of a table between two changes of its schema.
///
/// Made from a definition when it is first asked for, and shared by all copies of the state until the definition changes.
final class ColumnSet: Sendable {
    /// Public columns in order.
    let columns: [Column]
    /// Hidden columns of incoming links.
    let backlinks: [Column]
    /// Where the public column of a name is in `columns`.
    let positions: [String: Int]

    /// Columns with a look-up by name.
    init(columns: [Column], backlinks: [Column]) {
        self.columns = columns
        self.backlinks = backlinks
        positions = Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
