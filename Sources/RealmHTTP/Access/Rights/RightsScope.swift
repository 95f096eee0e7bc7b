// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmStorage

/// What rights show of the versions of a realm, for one action.
///
/// The action is a part of the identity: what may be subscribed to need not be what may be read.
package final class RightsScope: VersionScope {
    /// A text that is equal exactly for equal rights and the same action.
    package let identity: String
    /// The rights.
    private let rights: RealmRights
    /// One of the actions of classes.
    private let action: RightsAction

    /// Makes the scope of rights.
    fileprivate init(_ rights: RealmRights, _ action: RightsAction) {
        identity = rights.identity + " " + action.rawValue
        self.rights = rights
        self.action = action
    }

    /// Returns what of a version the action may reach; nil when that is everything.
    package func shown(of snapshot: Snapshot) -> SnapshotScope? { rights.scope(of: snapshot, for: action) }
}

extension RealmRights {
    /// Returns what the rights show of all versions of the realm for an action; nil when everything is allowed whatever the schema
    /// will be.
    ///
    /// - Parameter action: One of the actions of classes.
    package func versionScope(for action: RightsAction) -> (any VersionScope)? { isWhole ? nil : RightsScope(self, action) }
}
