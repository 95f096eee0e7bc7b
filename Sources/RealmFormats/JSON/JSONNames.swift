// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Names of members that were read before. Rows have the same names, and making a string costs more than finding one.
///
/// A name has one place, which the next name that belongs there takes, so the size is fixed. Long names are not kept.
package struct JSONNames: Sendable {
    /// The bytes of a name that is looked up.
    struct Key: Sendable, Equatable {
        /// The first bytes, eight in a number and as many zeros as are missing.
        let first, second, third, fourth: UInt64
        /// The number of bytes.
        let count: Int

        /// The length in bytes of the longest name that the numbers represent.
        static let longest = 32

        /// A number that equal names share, and different ones hardly ever.
        var fingerprint: UInt64 {
            let low = JSONNames.mixed(first ^ UInt64(truncatingIfNeeded: count), second)
            return count > 16 ? JSONNames.mixed(low ^ third, fourth) : low
        }
    }

    /// A name that is kept.
    private struct Entry: Sendable {
        /// Its bytes.
        let key: Key
        let name: String
    }

    /// The number of names that are kept at most; a power of two.
    private static let placeCount = 64

    /// Whether names are kept at all. A short text has few objects, and they are not worth the room.
    private let isUsed: Bool
    /// The names by their places; empty before the first one is kept.
    private var entries: [Entry?] = []

    /// Makes room for names.
    ///
    /// - Parameter isUsed: Whether names are kept at all.
    package init(isUsed: Bool = true) { self.isUsed = isUsed }

    /// Returns the name with these bytes; nil when it is not kept.
    func name(_ key: Key, _ fingerprint: UInt64) -> String? {
        guard !entries.isEmpty, let entry = entries[JSONNames.place(fingerprint)], entry.key == key else { return nil }
        return entry.name
    }

    /// Keeps a name with these bytes.
    mutating func keep(_ name: String, _ key: Key, _ fingerprint: UInt64) {
        guard isUsed else { return }
        if entries.isEmpty { entries = Array(repeating: nil, count: JSONNames.placeCount) }
        entries[JSONNames.place(fingerprint)] = Entry(key: key, name: name)
    }

    private static func place(_ fingerprint: UInt64) -> Int { Int(truncatingIfNeeded: fingerprint) & (placeCount - 1) }

    /// Makes one number of two, of which each bit depends on many.
    static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = (left ^ 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(by: right ^ 0xd6e8_feb8_6659_fd93)
        return product.high ^ product.low
    }
}
