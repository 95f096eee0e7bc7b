// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A copy of a whole version in the log, from which records lead on.
package struct LogBase: Sendable, Hashable {
    /// The lineage of the version.
    package let lineage: String
    package let version: UInt64
    /// The checksum of the history up to that version.
    package let checksum: LogChecksum
    /// The SHA-256 of the bytes.
    package let digest: [UInt8]
    package let byteCount: Int
    /// The name of the file that has the bytes; empty when the log itself has them.
    package var file = ""

    /// Makes a description.
    package init(lineage: String, version: UInt64, checksum: LogChecksum, digest: [UInt8], byteCount: Int) {
        self.lineage = lineage
        self.version = version
        self.checksum = checksum
        self.digest = digest
        self.byteCount = byteCount
    }

    /// The name of a file for the bytes.
    func fileName(of realm: String) -> String {
        "\(realm)/\(lineage)-\(version)-\(FileDigest.hex(Array(digest.prefix(8)))).base"
    }

    /// The place in the chain of records at which the copy is.
    package func chain(of realm: String) -> RecordChain {
        RecordChain(realm: realm, epoch: lineage, version: version, checksum: checksum.bytes)
    }
}
