// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A realm that the configuration names, with its options.
package struct ConfiguredRealm: Sendable {
    /// The name under which it is served.
    package let name: RealmName
    /// The path of its file.
    package let path: String
    /// Its options, with the key that was read from `keyFile`.
    package let settings: RealmSettings
    /// The entry as it is written, for comparison and for `config show`.
    let entry: JSONValue

    /// Reads the entry of a realm.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - json: Its value, an object with `path`.
    /// - Throws: `invalid_body` for a name that is no name of a realm, and for a malformed member.
    init(_ name: String, _ json: JSONValue, _ reader: SettingReader) throws(Problem) {
        guard let realm = RealmName(name) else { throw reader.problem(RealmName.rule) }
        try SyncMembers.refuse(in: json, at: reader.place)
        let members = SchemaReader(place: reader.place)
        let object = try members.members(json, ["path", "keyFile"] + RealmSettings.names, reader.place)
        guard let path = object["path"] else { throw reader.problem("'path' is missing") }
        var settings = try RealmSettings(object, at: reader.place)
        if let file = object["keyFile"] { settings.key = try reader.inside("keyFile").key(file) }
        self.name = realm
        self.path = try reader.inside("path").path(path)
        self.settings = settings
        entry = json
    }

    /// Whether another entry states the same realm with the same options and the same key.
    ///
    /// - Parameter other: An entry of the same name.
    func isSame(as other: ConfiguredRealm) -> Bool {
        path == other.path && entry == other.entry && settings.key == other.settings.key
    }
}
