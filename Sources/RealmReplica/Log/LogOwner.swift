// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One opening of a realm by one node.
package struct LogOwner: Sendable, Hashable {
    /// The name of the node, for people and for clients that have to be sent there.
    package let node: String
    /// What no other opening has, not even the next one of the same node. What an opening before a crash has sent can thereby
    /// not be taken for something that this one did.
    package let token: String

    package init(node: String, token: String) {
        self.node = node
        self.token = token
    }

    /// The owner of a realm that was released.
    package static let nobody = LogOwner(node: "", token: "")
}
