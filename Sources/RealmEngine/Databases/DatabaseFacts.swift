// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The facts about an open file that its realm document contains.
package struct DatabaseFacts: Sendable {
    /// Whether the file is encrypted.
    package let isEncrypted: Bool
    /// The file format; for an empty file the format of new files.
    package let fileFormat: Int
    /// The schema version; nil when the file has none.
    package let schemaVersion: UInt64?
    /// The length of the file in bytes.
    package let fileBytes: Int
    /// The number of bytes of the file that are in use.
    package let usedBytes: Int
    package let classCount: Int
    /// Whether no class has any object.
    package let isEmpty: Bool
    /// The number of versions in use, including the newest.
    package let liveVersions: Int
    /// The number of writes that are not completed yet.
    package let pendingWrites: Int
}
