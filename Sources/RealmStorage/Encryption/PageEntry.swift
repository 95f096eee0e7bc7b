// SPDX-License-Identifier: Apache-2.0

/// What a table page says about one page: the newest and the previous write of it.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | counter, little endian; 0 = never written |
/// | 4 | 28 | HMAC-SHA-224 of the encrypted page |
/// | 32 | 32 | the same two fields as they were before |
///
/// An entry is written before its page. If the page then does not follow, the previous fields still fit it.
package struct PageEntry: Sendable, Equatable {
    package struct Stamp: Sendable, Equatable {
        package let counter: UInt32
        package let code: AuthenticationCode

        package init(counter: UInt32, code: AuthenticationCode) {
            self.counter = counter
            self.code = code
        }

        package static let none = Stamp(counter: 0, code: .zero)
    }

    package let newest: Stamp
    package let previous: Stamp

    package init(newest: Stamp, previous: Stamp) {
        self.newest = newest
        self.previous = previous
    }

    /// Reads an entry from its 64 bytes.
    package init(_ bytes: ByteView) {
        precondition(bytes.count == EncryptionLayout.entryByteCount, "an entry has 64 bytes")
        newest = PageEntry.stamp(bytes.slice(0, 32))
        previous = PageEntry.stamp(bytes.slice(32, 64))
    }

    /// The 64 bytes of the entry.
    package var bytes: [UInt8] { [newest, previous].flatMap { PageEntry.littleEndian($0.counter) + $0.code.bytes } }

    private static func stamp(_ bytes: ByteView) -> Stamp {
        var counter: UInt32 = 0
        for index in (0..<4).reversed() { counter = counter << 8 | UInt32(bytes[index]) }
        return Stamp(counter: counter, code: AuthenticationCode(bytes.suffix(from: 4).array))
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
    }
}
