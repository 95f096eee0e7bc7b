// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The body of `POST …/backup`: the key of the copy, its classes, and where it goes.
package struct BackupRequest: Sendable {
    /// The key of a copy.
    enum Key: Sendable {
        /// The key that the realm has, or none.
        case ofRealm
        /// No key, so that the copy is a plain file even of an encrypted realm.
        case none
        case other(EncryptionKey)
    }

    /// The key of the copy.
    let key: Key
    /// The path of the new file as the request states it; nil for a copy that is the response.
    package let path: String?
    /// The names of the classes that the copy has; nil for all of them.
    let classes: [String]?

    /// Reads a body.
    ///
    /// - Parameter json: The body.
    /// - Throws: `invalid_body` for unknown and malformed members.
    package init(_ json: JSONValue) throws(Problem) {
        let place = InputPlace()
        let reader = SchemaReader(place: place)
        try SyncMembers.refuse(in: json, at: place)
        let object = try reader.members(json, ["encryptionKey", "path", "classes"], place)
        if case .null? = object["encryptionKey"] {
            key = .none
        } else {
            key = try reader.key(object, "encryptionKey", place).map { .other($0) } ?? .ofRealm
        }
        path = try reader.text(object, "path", place)
        classes = try reader.classNames(object["classes"], place.inside("classes"))
    }

    /// Whether only administrators may make such a copy: one in a file of the server, or a plain copy of
    /// a realm that may be encrypted.
    package var needsAdministrator: Bool {
        if case .none = key { return true }
        return path != nil
    }

    /// Returns the key of the copy of a realm; nil for a plain file.
    package func key(of database: Database) -> EncryptionKey? {
        switch key {
        case .ofRealm: return database.key
        case .none: return nil
        case .other(let key): return key
        }
    }

    /// Returns the classes of the copy; nil for all of them.
    ///
    /// - Parameter snapshot: The version that is copied.
    /// - Throws: `invalid_schema` for a name that is no class.
    package func subset(of snapshot: Snapshot) throws(Problem) -> ClassSubset? {
        guard let classes else { return nil }
        do throws(ClassSubset.UnknownClass) {
            return try ClassSubset(classes, of: snapshot)
        } catch {
            let hint = Suggestion.hint(for: classes[error.position], in: snapshot.classes.lazy.compactMap(\.className))
            let problem = Problem(.invalidSchema, "there is no class of this name\(hint)")
            throw InputPlace().inside("classes").inside(String(error.position)).describe(problem)
        }
    }
}
