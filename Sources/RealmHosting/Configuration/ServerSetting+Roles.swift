// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The setting that says what roles may do.
extension ServerSetting {
    /// What roles may do.
    static let roles: [ServerSetting] = [
        ServerSetting(
            "roles", effect: .now,
            read: { reader, json, options throws(Problem) in options.roles = try RoleReader(reader: reader).book(json) },
            show: { .object($0.roles.entry) })
    ]
}
