// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// What a realm document tells about an open file.
package struct DatabaseFacts: Sendable {
    package let isEncrypted: Bool
    package let fileFormat: Int
    package let schemaVersion: UInt64?
    package let fileBytes: Int
    package let usedBytes: Int
    package let classCount: Int
    /// Whether no class has an object.
    package let isEmpty: Bool
    package let liveVersions: Int
    package let pendingWrites: Int
}
