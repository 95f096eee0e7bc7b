// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Looking at a file that another program writes, through a mapping of it.
extension RealmFile {
    /// The bytes that change with every commit to the file: its format, top ref and version; in an encrypted file the entry of
    /// the page with the header, whose counter never repeats, and the beginning of the page, which is written after its entry.
    ///
    /// The top ref alone would not do, because a later commit may place its top node where an earlier one had it.
    ///
    /// - Throws: `.corrupt` when the top node cannot be read, as can happen while it is replaced.
    package func liveMark() throws(StorageError) -> [UInt8] {
        guard let witness else { return [] }
        if let pages { return witness.head + pages.sealedStart(ofPage: 0) }
        let header = try plain.header(accepting: FileHeader.knownFormats)
        let place = UInt64(header.fileFormat) << 56 ^ header.topRef.rawValue
        guard !header.topRef.isNone else { return RealmFile.bytes(place) }
        let joinedValues = JoinedValues()
        let version = try withExtendedLifetime(joinedValues) { () throws(StorageError) -> UInt64 in
            try TopNode.read(header.topRef, plain.space(limit: UInt64(plainByteCount), joinedValues: joinedValues)).version
        }
        return RealmFile.bytes(place) + RealmFile.bytes(version)
    }

    /// Identifies the present version of a file that other programs write through a mapping, which need not change its times: its
    /// first bytes and `liveMark`.
    ///
    /// - Throws: As `liveMark`.
    package func stateMark() throws(StorageError) -> [UInt8] { (witness?.head ?? []) + (try liveMark()) }

    private static func bytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
}
