// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A node of a cluster, as the register has it.
package struct ClusterNode: Sendable, Hashable {
    /// Its name, which `ClusterNode.isName` accepts.
    package let id: String
    /// The URL at which clients reach it, without a slash at the end.
    package let url: String
    /// The number of seconds since it was heard of, by the clock of the register.
    package let silentSeconds: Double
    /// Whether it is about to end, and has given its shards up.
    package let isLeaving: Bool

    /// Makes a description.
    package init(id: String, url: String, silentSeconds: Double = 0, isLeaving: Bool = false) {
        self.id = id
        self.url = url
        self.silentSeconds = silentSeconds
        self.isLeaving = isLeaving
    }

    /// The state of a node, in words for people and programs.
    package enum State: String, Sendable {
        /// It was heard of lately.
        case living
        /// It was not heard of for a while, so its shards are given to others.
        case silent
        /// It has given its shards up, because it is about to end or has ended.
        case leaving
    }

    /// - Parameter patience: The number of silent seconds after which a node counts as gone.
    package func state(patience: Double) -> State {
        if isLeaving { return .leaving }
        return silentSeconds < patience ? .living : .silent
    }

    /// The rule for names of nodes, as a sentence.
    package static let rule = "the name of a node has 1 to 64 of the characters a–z, A–Z, 0–9, '.', '_' and '-'"

    /// Whether a text can be the name of a node.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    return true
                default: return false
                }
            }
    }
}
