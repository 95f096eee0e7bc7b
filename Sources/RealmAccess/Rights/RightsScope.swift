// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The part of a realm that the holder of rights may see by one kind of action.
package final class RightsScope: VersionScope {
    let rights: RealmRights
    /// The action on the visible part.
    private let action: RightsAction
    package let identity: String

    /// Makes a scope.
    ///
    /// - Parameters:
    ///   - action: The action on the visible part: reading, subscribing or exporting.
    fileprivate init(_ rights: RealmRights, for action: RightsAction) {
        self.rights = rights
        self.action = action
        identity = rights.identity + " " + action.rawValue
    }

    package func shown(of snapshot: Snapshot) -> SnapshotScope? { rights.scope(of: snapshot, for: action) }

    /// Returns whether the rights may hide a part of a version.
    ///
    /// The result depends on rights and schema, and not on data, so it does not reveal hidden objects.
    ///
    /// - Parameter snapshot: The whole version.
    package func isPart(of snapshot: Snapshot) -> Bool { !rights.fitting(snapshot).reachesEverything(by: action) }

    /// Returns whether the rights in a class are others than those that the scope is about, so that its holder may know of it.
    ///
    /// - Parameter className: The name of a class that the scope does not show.
    package func hasOtherRights(on className: String) -> Bool {
        let actions = rights.actions(on: className)
        return !actions.isEmpty && !actions.contains(action)
    }
}

extension RealmRights {
    /// Returns the visible part of all versions of the realm for an action; nil when everything is permitted under any schema.
    ///
    /// - Parameter action: One of the actions of classes.
    package func versionScope(for action: RightsAction) -> RightsScope? { isWhole ? nil : RightsScope(self, for: action) }
}
