// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The entry of one page in a table page: the newest and the previous write of it.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | counter, little endian; 0 = never written |
/// | 4 | 28 | HMAC-SHA-224 of the encrypted page |
/// | 32 | 32 | the same two fields of the previous write |
///
/// An entry is written before its page. If the page then does not follow, the previous fields still fit it.
package struct PageEntry: Sendable, Equatable {
    /// The result of one write of a page: its counter and the code of its encrypted bytes.
    package struct Stamp: Sendable, Equatable {
        /// The number of the write, which wraps around past 0. A counter of 0 means that the page was never written.
        package let counter: UInt32
        /// The authentication code of the encrypted bytes.
        package let code: AuthenticationCode

        /// Makes a stamp of a counter and the code of the encrypted bytes.
        package init(counter: UInt32, code: AuthenticationCode) {
            self.counter = counter
            self.code = code
        }

        /// The stamp of a page that was never written.
        package static let none = Stamp(counter: 0, code: .zero)
    }

    /// The stamp of the last write that was begun.
    package let newest: Stamp
    /// The stamp of the write before the newest one.
    package let previous: Stamp

    /// Makes an entry from its two stamps.
    package init(newest: Stamp, previous: Stamp) {
        self.newest = newest
        self.previous = previous
    }

    /// Reads an entry from its 64 bytes; any other number traps.
    package init(_ bytes: ByteView) {
        precondition(bytes.count == EncryptionLayout.entryByteCount, "an entry has 64 bytes")
        newest = PageEntry.stamp(bytes.slice(0, 32))
        previous = PageEntry.stamp(bytes.slice(32, 64))
    }

    /// The 64 bytes of the entry.
    package var bytes: [UInt8] { [newest, previous].flatMap { PageEntry.littleEndian($0.counter) + $0.code.bytes } }

    /// Reads a stamp from its 32 bytes.
    private static func stamp(_ bytes: ByteView) -> Stamp {
        var counter: UInt32 = 0
        for index in (0..<4).reversed() { counter = counter << 8 | UInt32(bytes[index]) }
        return Stamp(counter: counter, code: AuthenticationCode(bytes.suffix(from: 4).array))
    }

    /// Returns the four bytes of a number, the lowest first.
    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
    }
}
