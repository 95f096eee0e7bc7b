// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Hands out names for the sheets of a workbook.
struct SheetNames {
    /// The names that were handed out, in lower case. Excel keeps one for itself.
    private var taken: Set<ByteText> = ["history"]
    /// The longest name, in UTF-16 code units.
    private static let longest = 31

    /// Returns a name like that of a class, with a number behind it if that is taken.
    mutating func take(_ wanted: String) -> String {
        let clean = SheetNames.cut(wanted.unicodeScalars.map(SheetNames.permitted), to: SheetNames.longest)
        let base = clean.isEmpty ? "_" : clean
        var name = base
        var number = 2
        while !taken.insert(ByteText(name.lowercased())).inserted {
            let end = "_\(number)"
            name = SheetNames.cut(Array(base.unicodeScalars), to: SheetNames.longest - end.utf16.count) + end
            number += 1
        }
        return name
    }

    /// Returns a character in the form for a name: Excel refuses some, and XML has no form for others.
    private static func permitted(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if "[]:*?/\\'".unicodeScalars.contains(scalar) || scalar.value < 0x20 || scalar.value == 0x7f { return "_" }
        return scalar.isXML ? scalar : "\u{fffd}"
    }

    /// Returns the beginning of a text with at most so many UTF-16 code units.
    private static func cut(_ scalars: [Unicode.Scalar], to length: Int) -> String {
        var kept = String.UnicodeScalarView()
        var left = length
        for scalar in scalars {
            left -= UTF16.width(scalar)
            guard left >= 0 else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}

extension Unicode.Scalar {
    /// Whether XML 1.0 can hold the character.
    var isXML: Bool { value >= 0x20 ? value != 0xfffe && value != 0xffff : value == 0x09 || value == 0x0a || value == 0x0d }
}
