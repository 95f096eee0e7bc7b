// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Hands out names for tables, or for the columns of one table, that differ even without case, and that fit into every kind of
/// database.
struct RelationalNames {
    /// The names that were handed out, in lower case.
    private var taken: Set<ByteText> = []
    /// The longest name of PostgreSQL, in bytes.
    private static let longest = 63
    /// The columns that every table of PostgreSQL has, in lower case. SQLite knows such names too (`oid`, `rowid`), but a column
    /// may have them, and then hides those.
    private static let ofPostgreSQL: Set<ByteText> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// Makes the names of one table's columns, or of all tables.
    ///
    /// - Parameter areColumns: Whether they are names of columns, of which PostgreSQL reserves some; only those of tables must
    ///   not begin with `sqlite_`, nor be that of the `NameMap`.
    init(areColumns: Bool = false) {
        self.areColumns = areColumns
        taken = areColumns ? RelationalNames.ofPostgreSQL : [ByteText(NameMap.table)]
    }

    private let areColumns: Bool

    /// Returns a name like the wanted one, with a number behind it if that is taken.
    mutating func take(_ wanted: String) -> String {
        let plain = !areColumns && wanted.lowercased().hasPrefix("sqlite_") ? "class_" + wanted : wanted
        let printable = String(plain.unicodeScalars.map { $0.value < 32 ? "_" : Character($0) })
        let clean = RelationalNames.cut(printable, RelationalNames.longest)
        var name = clean
        var number = 2
        while !taken.insert(name.lowercased()).inserted {
            let suffix = "_\(number)"
            name = RelationalNames.cut(clean, RelationalNames.longest - suffix.utf8.count) + suffix
            number += 1
        }
        return name
    }

    /// Returns the longest beginning of a text that has at most so many bytes.
    private static func cut(_ text: String, _ byteCount: Int) -> String {
        var text = text
        while text.utf8.count > byteCount { text.unicodeScalars.removeLast() }
        return text
    }
}
