// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The head of the log of a realm: the one row that says which version exists, and who may append the next one.
///
/// It is never deleted. A version exists when the head has moved to it, in the same transaction that stored its record.
package struct LogHead: Sendable, Hashable {
    /// The epoch of tokens, which is also the name of the chain of records. It stays when the owner changes.
    package var lineage: String
    /// The number of the newest version.
    package var version: UInt64
    /// The checksum of the history up to that version.
    package var checksum: LogChecksum
    /// Counts claims and barriers. An append states the one that it was made under, so none that was made before a claim is
    /// stored after it.
    package var epoch: UInt64
    /// The opening that may append; the token is empty without an owner.
    package var owner: LogOwner

    package init(lineage: String, version: UInt64, checksum: LogChecksum, epoch: UInt64, owner: LogOwner) {
        self.lineage = lineage
        self.version = version
        self.checksum = checksum
        self.epoch = epoch
        self.owner = owner
    }
}

/// One opening of a realm by one node.
package struct LogOwner: Sendable, Hashable {
    /// The name of the node, for people and for clients that have to be sent there.
    package let node: String
    /// Unique to an opening, even among those of one node, so a request sent before a crash is never taken for one of this
    /// opening.
    package let token: String

    package init(node: String, token: String) {
        self.node = node
        self.token = token
    }

    /// The owner of a realm that was released.
    package static let unowned = LogOwner(node: "", token: "")
}
