// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A table during the walk: the part of its schema that the walk needs, and the positions of its counters.
///
/// Unlike `Table` it takes a damaged schema for as much as can be read of it.
struct SizeTable {
    let name: String
    /// Whether the table is a class that is not named in the report.
    let isHidden: Bool
    /// The position of the first counter of the table.
    let firstCounter: Int
    /// The public columns in the order of the schema.
    var columns: [Column] = []
    /// The positions of public columns by leaf index; in formats 2 to 9 by slot.
    var positions: [Int: Int] = [:]
    /// The columns of incoming links.
    var backlinks: [Backlink] = []
    /// The root of the objects; in formats 2 to 9 the list of columns.
    var objects = Ref.none
    var tombstones = Ref.none
    /// The list of search indexes by leaf index.
    var indexes = Ref.none
    /// The key of the primary key column; nil for none.
    var primaryKey: Int64?
    /// The number of objects so far; nil once it is not known.
    var objectCount: UInt64? = 0
    var isComplete = true

    /// The counter of the description of the table and its columns; those of other parts follow.
    var schema: Int { firstCounter }
    var keys: Int { firstCounter + 1 }
    var deleted: Int { firstCounter + 2 }
    var other: Int { firstCounter + 3 }
    static let counterCount = 4

    /// A public column.
    struct Column {
        let name: String
        /// The number of the type as stored, without that of dictionary keys.
        let type: Int
        let attributes: Int64
        let key: Int64
        /// The position of the first counter of the column.
        let firstCounter: Int
        /// The slot of the column: its leaf index, or its position in the list of columns in formats 2 to 9.
        let slot: Int

        /// The counter of the values; those of other parts follow.
        var values: Int { firstCounter }
        var collections: Int { firstCounter + 1 }
        var index: Int { firstCounter + 2 }
        var backlinks: Int { firstCounter + 3 }
        static let counterCount = 4

        var isNullable: Bool { attributes & 16 != 0 }
        /// Whether each object has a list, set or dictionary.
        var isCollection: Bool { attributes & (32 | 64 | 128) != 0 || type == 13 }
    }

    /// A column of incoming links.
    struct Backlink {
        /// The slot of the column, as in `Column`.
        let slot: Int
        /// The key of the table that the links come from; in formats 2 to 9 its position.
        let table: Int64
        /// The key of the column that the links are in; in formats 2 to 9 its number.
        let column: Int64
    }
}
