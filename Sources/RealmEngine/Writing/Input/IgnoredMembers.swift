// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The members of inputs that were ignored as their classes have no such properties: each once, and a bounded number.
package struct IgnoredMembers: Sendable {
    /// The greatest number of members that are kept.
    package static let limit = 100

    /// The members as `CLASS.MEMBER`, in the order in which they were met.
    package private(set) var names: [String] = []
    package private(set) var hasMore = false
    /// The bytes of `names`.
    private var known: Set<[UInt8]> = []

    /// Makes a list without members.
    package init() {}

    /// Adds a member, unless it is known.
    package mutating func add(_ name: String, of className: String) {
        add(className + "." + name.truncated)
    }

    /// Adds the members of another list.
    package mutating func formUnion(_ other: IgnoredMembers) {
        for name in other.names { add(name) }
        hasMore = hasMore || other.hasMore
    }

    private mutating func add(_ name: String) {
        let bytes = Array(name.utf8)
        guard !known.contains(bytes) else { return }
        guard names.count < IgnoredMembers.limit else {
            hasMore = true
            return
        }
        known.insert(bytes)
        names.append(name)
    }
}
