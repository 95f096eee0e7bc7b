// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request of a client that a commit has carried out, by which its repetition is recognized, on other nodes as well.
package struct CommittedRequest: Sendable, Hashable {
    /// The sender and the key of the request, as a digest of 64 hexadecimal digits.
    package let name: String
    /// The content of the request, as a digest of 64 hexadecimal digits.
    package let digest: String

    package init(name: String, digest: String) {
        self.name = name
        self.digest = digest
    }
}
