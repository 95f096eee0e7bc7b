// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
package import RealmStorage

/// Problems about names and keys that do not exist, which suggest similar ones.
///
/// Callers pass the view of the sender, so that no hidden name is suggested.
extension Problem {
    /// Makes `class_not_found` for the name of a class.
    ///
    /// - Parameters:
    ///   - name: The name as it was sent.
    ///   - snapshot: The version as the sender sees it.
    package static func noClass(_ name: String, in snapshot: Snapshot) -> Problem {
        let hint = Suggestion.hint(for: name, in: snapshot.classes.lazy.compactMap(\.className))
        return Problem(.classNotFound, "there is no class of this name\(hint)")
    }

    /// `realm_not_found` without a proposal.
    package static let noRealm = Problem(.realmNotFound, "there is no realm of this name")

    /// Makes `realm_not_found` for the name of a realm.
    ///
    /// - Parameters:
    ///   - name: The name as it was sent; nil for one that cannot be decoded.
    ///   - names: The names that the sender may know of.
    package static func noRealm(_ name: String?, in names: some Sequence<String>) -> Problem {
        let hint = name.map { Suggestion.hint(for: $0, in: names) } ?? ""
        return Problem(.realmNotFound, "there is no realm of this name\(hint)")
    }

    /// Makes `object_not_found` for a key. A malformed key is distinguished from one that no object has.
    ///
    /// - Parameters:
    ///   - key: The key as it was sent.
    package static func noObject(_ key: String, in table: Table) -> Problem {
        let hint = KeyText.hint(for: key, primaryKey: table.primaryKey, of: table.className ?? "the class")
        return Problem(.objectNotFound, "there is no object with this key\(hint)")
    }
}
