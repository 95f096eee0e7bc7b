// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What the log knows of a request that a commit has carried out.
package struct LoggedRequest: Sendable, Equatable {
    /// What was requested; see `CommittedRequest`.
    package let digest: String
    /// The lineage of the commit.
    package let lineage: String
    /// The version that the commit made.
    package let version: UInt64

    package init(digest: String, lineage: String, version: UInt64) {
        self.digest = digest
        self.lineage = lineage
        self.version = version
    }
}
