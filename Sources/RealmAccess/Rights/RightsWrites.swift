// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The rights of a principal as a write asks for them.
package final class RightsWrites: WriteRights {
    private let rights: RealmRights

    /// Makes the rights of a write.
    ///
    /// - Parameter rights: The rights of its sender in the realm.
    package init(_ rights: RealmRights) { self.rights = rights }

    package func fitting(_ snapshot: Snapshot) -> any WriteRights {
        let fitting = rights.fitting(snapshot)
        return fitting === rights ? self : RightsWrites(fitting)
    }

    package func shown(of snapshot: Snapshot) -> SnapshotScope? { rights.scope(of: snapshot, for: .read) }

    package func allowance(for action: WriteAction, on className: String, isEmbedded: Bool) -> WriteAllowance? {
        let rights = rights.rights(on: className)
        guard let allowance = rights.allowances[RightsAction(action)] else {
            // Embedded objects follow their owners, regardless of the rights in their class.
            return isEmbedded ? WriteAllowance(hidden: rights.hidden, readOnly: rights.readOnly) : nil
        }
        return WriteAllowance(
            targets: isEmbedded ? nil : allowance.alternatives, results: isEmbedded ? nil : allowance.checks,
            hidden: allowance.hidden, readOnly: allowance.readOnly)
    }

    package var mayMigrate: Bool { rights.mayMigrate }

    package func mayKnow(_ className: String) -> Bool { !rights.actions(on: className).isEmpty }

    package func mayWriteInside(_ className: String, by action: WriteAction) -> Bool {
        !rights.hasLost(className) || rights.rights(on: className).allowances[RightsAction(action)] != nil
    }

    package func mayImport(_ className: String) -> Bool {
        rights.mayImport || rights.actions(on: className).contains(.import)
    }
}

extension RightsAction {
    /// The right that an action of a write needs.
    fileprivate init(_ action: WriteAction) {
        switch action {
        case .create: self = .create
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}
