// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The keys of objects for a line of the audit log: the first of them, and the number of others.
package struct AuditKeys: Sendable, Equatable {
    /// The number of keys that a line has at most.
    static let countLimit = 100

    /// The keys, each of bounded length.
    private(set) var first: [String] = []
    private(set) var others = 0

    /// Whether the next key would be written, and not only counted.
    var takesMore: Bool { first.count < AuditKeys.countLimit }

    /// Adds a key. The one that was added first may be added again, which has no effect.
    package mutating func add(_ key: String) {
        let key = AuditEntry.bounded(key)
        guard takesMore else { return others += 1 }
        if first.first != key { first.append(key) }
    }

    /// Adds a key that is only counted.
    mutating func count() { others += 1 }

    /// Writes the members `keys` and `moreKeys`, each if there is something to say.
    func write(to writer: inout JSONWriter) {
        guard !first.isEmpty else { return }
        writer.key("keys")
        writer.beginArray()
        for key in first { writer.string(key) }
        writer.endArray()
        if others > 0 { writer.member("moreKeys", int: others) }
    }
}
