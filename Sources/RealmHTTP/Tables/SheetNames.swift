// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Hands out names for the sheets of a workbook.
struct SheetNames {
    /// The names that were handed out, in lower case. Excel keeps one for itself.
    private var taken: Set<ByteText> = ["history"]
    /// The longest name.
    private static let longest = 31

    /// Returns a name like that of a class, with a number behind it if that is taken.
    mutating func take(_ wanted: String) -> String {
        var clean = String(wanted.map { "[]:*?/\\'".contains($0) ? "_" : $0 }.prefix(SheetNames.longest))
        if clean.isEmpty { clean = "_" }
        while clean.utf16.count > SheetNames.longest { clean.removeLast() }
        var name = clean
        var number = 2
        while !taken.insert(name.lowercased()).inserted {
            name = clean.prefix(SheetNames.longest - 4) + "_\(number)"
            number += 1
        }
        return name
    }
}
