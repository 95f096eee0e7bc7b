// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
package import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage

/// The derivation of the options of realms from those of a server.
extension ServerOptions {
    /// The options with which every realm is opened, whether at the start of the server or for a request.
    ///
    /// They carry the limits of writes and of observation, the verification before the first write, and the number of backup
    /// copies. The caller adds the options of a single realm: the encryption key, the mode, and the names of linking objects.
    package var openOptions: Database.OpenOptions {
        var opening = Database.OpenOptions()
        opening.limits = WriteLimits(limits)
        opening.observation = ObservationLimits(evaluationTime: .seconds(limits.observationSeconds))
        opening.verification = verification
        opening.keptCopyCount = keptCopyCount
        opening.retention = retention
        return opening
    }

    /// The encryption key of a realm: the one among the options, otherwise the one in the
    /// environment variable `REALM_REST_KEY_NAME`, where `NAME` is the name of the realm with `_`
    /// for each dot and hyphen; nil for a realm without a key.
    ///
    /// - Throws: `StorageError` when the key in the environment is malformed.
    package func key(of name: RealmName) throws(StorageError) -> EncryptionKey? {
        if let key = keys[name.text] { return key }
        return try environmentKey(of: name.text).map { text throws(StorageError) in try EncryptionKey(text: text) }
    }

    /// The options with which a realm of the configuration is opened.
    ///
    /// - Parameter realm: The entry of the realm.
    /// - Throws: `StorageError` when its key in the environment is malformed.
    package func opening(of realm: ConfiguredRealm) throws(StorageError) -> Database.OpenOptions {
        var settings = realm.settings
        // A configuration file has one of both, so that the other is from the command line, which wins.
        if let key = keys[realm.name.text] { settings.key = key }
        if let names = backlinkNames[realm.name.text] { settings.backlinkNames = names }
        if settings.key == nil { settings.key = try key(of: realm.name) }
        var opening = settings.adding(to: openOptions)
        if isReadOnly { opening.mode = opening.mode?.onlyReading ?? .readOnly }
        // The mode takes precedence over the server's handling of files of older formats.
        opening.upgradesInPlace =
            (settings.upgradesInPlace || upgradesInPlace) && opening.mode ?? .readWrite == .readWrite
        return opening
    }

    /// The options for a file that is named explicitly, or found in a folder.
    ///
    /// - Throws: `StorageError` when its key in the environment is malformed.
    package func opening(of name: RealmName) throws(StorageError) -> Database.OpenOptions {
        var opening = openOptions
        opening.key = try key(of: name)
        opening.mode = followsFiles ? .follow : copiesFiles ? .copy : isReadOnly ? .readOnly : nil
        opening.upgradesInPlace = upgradesInPlace
        opening.backlinkNames = backlinkNames[name.text] ?? .none
        return opening
    }
}
