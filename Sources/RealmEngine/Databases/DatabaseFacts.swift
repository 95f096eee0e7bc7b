// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// What a realm document shows of an open file.
package struct DatabaseFacts: Sendable {
    /// Whether the file is encrypted.
    package let isEncrypted: Bool
    /// The file format; that of new files for an empty one.
    package let fileFormat: Int
    /// The schema version; nil when the file has none.
    package let schemaVersion: UInt64?
    /// The length of the file.
    package let fileBytes: Int
    /// The bytes of the file that hold something.
    package let usedBytes: Int
    /// How many classes there are.
    package let classCount: Int
    /// Whether no class has an object.
    package let isEmpty: Bool
    /// How many versions are being read, the newest included.
    package let liveVersions: Int
    /// How many writes are not answered yet.
    package let pendingWrites: Int
}
