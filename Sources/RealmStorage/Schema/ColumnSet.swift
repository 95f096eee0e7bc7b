// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The columns of a table between two changes of its schema, inside of a write transaction.
///
/// It is made from a definition when it is first needed, and shared by all copies of the state
/// until the definition changes. Its identity shows whether writers made for the columns are still
/// valid.
final class ColumnSet: Sendable {
    /// The public columns in the order of their declaration.
    let columns: [Column]
    /// The hidden columns of incoming links, which have no name.
    let backlinks: [Column]
    /// The positions of the public columns in `columns`, by name.
    let positions: [ByteText: Int]

    /// Makes a set of columns with a look-up by name.
    init(columns: [Column], backlinks: [Column]) {
        self.columns = columns
        self.backlinks = backlinks
        positions = Dictionary(texts: columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
