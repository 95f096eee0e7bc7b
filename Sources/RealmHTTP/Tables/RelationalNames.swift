// SPDX-License-Identifier: Apache-2.0

/// Hands out names for tables, or for the columns of one table, that differ whatever the case of
/// their letters, and that fit into every kind of database.
struct RelationalNames {
    /// The names that were handed out, in lower case.
    private var taken: Set<String> = []
    /// The longest name of PostgreSQL, in bytes.
    private static let longest = 63
    /// The columns that every table of PostgreSQL has.
    private static let ofSystem: Set<String> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid"]

    /// Returns a name like the wanted one, with a number behind it if that is taken.
    mutating func take(_ wanted: String) -> String {
        let plain = wanted.lowercased().hasPrefix("sqlite_") ? "class_" + wanted : wanted
        let printable = String(plain.unicodeScalars.map { $0.value < 32 ? "_" : Character($0) })
        let clean = RelationalNames.cut(printable, RelationalNames.longest)
        var name = clean
        var number = 2
        while RelationalNames.ofSystem.contains(name.lowercased()) || !taken.insert(name.lowercased()).inserted {
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
