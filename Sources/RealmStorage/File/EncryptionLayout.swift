// SPDX-License-Identifier: Apache-2.0

/// Where the pages of an encrypted file lie.
///
/// The plain file is cut into pages of 4096 bytes. The encrypted file is a row of groups: one table page with 64 entries
/// of 64 bytes, then the up to 64 encrypted pages that they describe. Only the last group may be shorter.
/// Source: docs/format.md, "Encryption".
package enum EncryptionLayout {
    package static let pageByteCount = 4096
    package static let pagesPerGroup = 64
    package static let entryByteCount = 64
    private static let groupByteCount = (pagesPerGroup + 1) * pageByteCount

    /// How many plain pages an encrypted file of `fileByteCount` bytes holds.
    package static func plainPageCount(fileByteCount: Int) throws(StorageError) -> Int {
        guard fileByteCount >= 2 * pageByteCount, fileByteCount % pageByteCount == 0 else {
            throw .refused(
                .encryptionKeyWrong(
                    "a file of \(fileByteCount) bytes cannot be an encrypted Realm file: wrong key for a plain file?"))
        }
        let pages = fileByteCount / pageByteCount
        return pages - (pages + pagesPerGroup) / (pagesPerGroup + 1)
    }

    /// The size in bytes of an encrypted file with `plainPageCount` plain pages.
    package static func fileByteCount(plainPageCount: Int) -> Int {
        (plainPageCount + (plainPageCount + pagesPerGroup - 1) / pagesPerGroup) * pageByteCount
    }

    /// File offset of the entry of plain page `page`.
    package static func entryOffset(_ page: Int) -> Int {
        page / pagesPerGroup * groupByteCount + page % pagesPerGroup * entryByteCount
    }

    /// File offset of the encrypted bytes of plain page `page`.
    package static func pageOffset(_ page: Int) -> Int {
        (page + page / pagesPerGroup + 1) * pageByteCount
    }
}

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

/// An HMAC-SHA-224. Two of them are compared in a time that does not depend on their bytes.
package struct AuthenticationCode: Sendable {
    package static let byteCount = 28
    package static let zero = AuthenticationCode([UInt8](repeating: 0, count: byteCount))

    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == AuthenticationCode.byteCount, "an HMAC-SHA-224 has 28 bytes")
        self.bytes = bytes
    }
}

extension AuthenticationCode: Equatable {
    package static func == (left: AuthenticationCode, right: AuthenticationCode) -> Bool {
        var difference: UInt8 = 0
        for index in 0..<byteCount { difference |= left.bytes[index] ^ right.bytes[index] }
        return difference == 0
    }
}
