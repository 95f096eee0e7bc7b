// SPDX-License-Identifier: Apache-2.0

// MARK: - Texts are their bytes
//
// Swift takes canonically equal texts for equal: "é" in one and in two scalars, "K" and the KELVIN SIGN. Realm files, tokens
// and URLs do not, so a name that was compared so would reach the rights and rows of another name. The declarations of this
// file hide those of the standard library in every file that imports RealmPlatform, also in the `==` that the compiler writes
// for structures and enumerations. They do not reach collections: the keys of sets and dictionaries are `ByteText`. House tests
// look after both.

extension StringProtocol {
    /// Compares the UTF-8 bytes of two texts: negative, 0 or positive like memcmp(3).
    package func byteOrder(_ other: some StringProtocol) -> Int {
        let order: Int?? = utf8.withContiguousStorageIfAvailable { left -> Int? in
            other.utf8.withContiguousStorageIfAvailable { right -> Int in
                unsafe ByteView(borrowing: left).compare(ByteView(borrowing: right))
            }
        }
        if let order = order ?? nil { return order }
        if utf8.elementsEqual(other.utf8) { return 0 }
        return utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }

    /// Returns whether two texts have the same bytes.
    package static func == (left: Self, right: some StringProtocol) -> Bool { left.byteOrder(right) == 0 }

    /// Returns whether two texts differ in their bytes.
    package static func != (left: Self, right: some StringProtocol) -> Bool { left.byteOrder(right) != 0 }

    /// Returns whether the bytes of a text are before those of another.
    package static func < (left: Self, right: some StringProtocol) -> Bool { left.byteOrder(right) < 0 }

    /// Returns whether the bytes of a text are after those of another.
    package static func > (left: Self, right: some StringProtocol) -> Bool { left.byteOrder(right) > 0 }

    /// Returns whether the bytes of a text are not after those of another.
    package static func <= (left: Self, right: some StringProtocol) -> Bool { left.byteOrder(right) <= 0 }

    /// Returns whether the bytes of a text are not before those of another.
    package static func >= (left: Self, right: some StringProtocol) -> Bool { left.byteOrder(right) >= 0 }

    /// Returns whether the bytes of a text begin with those of another.
    package func hasPrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Returns whether the bytes of a text end with those of another.
    package func hasSuffix(_ suffix: some StringProtocol) -> Bool {
        let count = suffix.utf8.count
        return utf8.count >= count && utf8.suffix(count).elementsEqual(suffix.utf8)
    }

    /// Returns what follows the bytes of a beginning; nil for a text that has another one.
    ///
    /// `dropFirst` counts characters, so it takes a mark that follows the beginning with it.
    package func dropping(prefix: some StringProtocol) -> SubSequence? {
        hasPrefix(prefix) ? self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...] : nil
    }

    /// The text with the letters A to Z in lower case.
    ///
    /// Words of protocols are compared so. `lowercased` makes a "k" of the KELVIN SIGN as well.
    package var lowercasedASCII: String {
        String(decoding: utf8.map { 0x41...0x5a ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The text with the letters a to z in upper case; `uppercased` makes an "S" of U+017F as well.
    package var uppercasedASCII: String {
        String(decoding: utf8.map { 0x61...0x7a ~= $0 ? $0 & 0xdf : $0 }, as: UTF8.self)
    }
}

extension String {
    /// Returns whether two texts have the same bytes.
    package static func == (left: String, right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.byteOrder(right) == 0
    }

    /// Returns whether two texts differ in their bytes.
    package static func != (left: String, right: String) -> Bool { !(left == right) }

    /// Returns whether the bytes of a text are before those of another.
    package static func < (left: String, right: String) -> Bool { left.byteOrder(right) < 0 }

    /// Returns whether the bytes of a text are after those of another.
    package static func > (left: String, right: String) -> Bool { left.byteOrder(right) > 0 }

    /// Returns whether the bytes of a text are not after those of another.
    package static func <= (left: String, right: String) -> Bool { left.byteOrder(right) <= 0 }

    /// Returns whether the bytes of a text are not before those of another.
    package static func >= (left: String, right: String) -> Bool { left.byteOrder(right) >= 0 }

    /// Returns whether a text has the bytes of a pattern, as in the cases of a `switch`.
    package static func ~= (pattern: String, text: String) -> Bool { pattern == text }

    /// Returns whether the bytes of a text begin with those of another.
    package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Returns whether the bytes of a text end with those of another.
    package func hasSuffix(_ suffix: String) -> Bool {
        let count = suffix.utf8.count
        return utf8.count >= count && utf8.suffix(count).elementsEqual(suffix.utf8)
    }
}

extension Substring {
    /// Returns whether two texts have the same bytes.
    package static func == (left: Substring, right: Substring) -> Bool { left.byteOrder(right) == 0 }

    /// Returns whether two texts differ in their bytes.
    package static func != (left: Substring, right: Substring) -> Bool { left.byteOrder(right) != 0 }

    /// Returns whether a text has the bytes of a pattern, as in the cases of a `switch`.
    package static func ~= (pattern: Substring, text: Substring) -> Bool { pattern == text }
}

/// Returns whether two texts have the same bytes, or are both missing.
package func == (left: String?, right: String?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left == right
    case (nil, nil): true
    default: false
    }
}

/// Returns whether two texts differ in their bytes, or one of them is missing.
package func != (left: String?, right: String?) -> Bool { !(left == right) }

/// Returns whether there is a text and it has the bytes of a pattern.
package func ~= (pattern: String, text: String?) -> Bool { text.map { $0 == pattern } ?? false }

/// Returns whether two texts have the same bytes, or are both missing.
package func == (left: Substring?, right: Substring?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left == right
    case (nil, nil): true
    default: false
    }
}

/// Returns whether two texts differ in their bytes, or one of them is missing.
package func != (left: Substring?, right: Substring?) -> Bool { !(left == right) }

/// Returns whether two lists have texts with the same bytes in the same order.
package func == (left: [String], right: [String]) -> Bool { left.elementsEqual(right) { $0 == $1 } }

/// Returns whether two lists of texts differ.
package func != (left: [String], right: [String]) -> Bool { !(left == right) }

/// Returns whether two lists have texts with the same bytes in the same order, or are both missing.
package func == (left: [String]?, right: [String]?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left == right
    case (nil, nil): true
    default: false
    }
}

/// Returns whether two lists of texts differ, or one of them is missing.
package func != (left: [String]?, right: [String]?) -> Bool { !(left == right) }

extension Sequence where Element: StringProtocol {
    /// Returns whether one of the texts has the same bytes.
    package func contains(_ text: Element) -> Bool { contains { $0.byteOrder(text) == 0 } }

    /// Returns the texts in the order of their bytes.
    package func sorted() -> [Element] { sorted { $0.byteOrder($1) < 0 } }
}

extension [String] {
    /// Returns whether one of the texts has the same bytes. Other modules call the general function without specialization.
    package func contains(_ text: String) -> Bool { contains { $0 == text } }
}

extension Collection where Element: StringProtocol {
    /// The place of the first text with the same bytes; nil for none.
    package func firstIndex(of text: Element) -> Index? { firstIndex { $0.byteOrder(text) == 0 } }
}
