// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The members of a Realm configuration that are about device sync. They are refused by name, so that a realm of this server is
/// not mistaken for a synchronized one.
package enum SyncMembers {
    /// The names of the members, as the SDKs call them.
    private static let names = [
        "syncConfiguration", "flexibleSyncConfiguration", "initialSubscriptions", "rerunOnOpen", "downloadBeforeOpen",
        "cancelAsyncOpenOnNonFatalErrors", "clientResetMode",
    ]

    /// Refuses an object that has such a member.
    ///
    /// - Parameters:
    ///   - json: The body of a request, or the entry of a realm in a configuration file.
    ///   - place: The place of the object.
    /// - Throws: `invalid_body` with the place of the first such member.
    package static func refuse(in json: JSONValue, at place: InputPlace) throws(Problem) {
        guard let object = json.object, let name = names.first(where: { object[$0] != nil }) else { return }
        throw place.inside(name).describe(
            Problem(.invalidBody, "'\(name)' belongs to device sync; realms are not synchronized here"))
    }
}
