// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request of a client that a commit has carried out, by which its repetition is recognized, on other nodes as well.
package struct CommittedRequest: Sendable, Hashable {
    /// Who has sent the request under which key, as a digest of 64 hexadecimal digits.
    package let name: String
    /// What was requested, as a digest of 64 hexadecimal digits.
    package let digest: String

    package init(name: String, digest: String) {
        self.name = name
        self.digest = digest
    }
}
