// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The write rights of a restricted principal in a realm.
package protocol WriteRights: AnyObject, Sendable {
    /// Returns the rights without those that do not fit the schema of a version. All other functions are asked of the result.
    ///
    /// - Parameter snapshot: The version in which a write begins.
    func fitting(_ snapshot: Snapshot) -> any WriteRights

    /// Returns what of a version a write may read; nil for all of it.
    ///
    /// - Parameter snapshot: A version of the realm, or the uncommitted state of a write.
    func shown(of snapshot: Snapshot) -> SnapshotScope?

    /// Returns the right to an action in a class; nil when there is none.
    ///
    /// - Parameters:
    ///   - action: The action. For an embedded class it is what is done with the object to which the embedded one belongs.
    ///   - className: The name of the class as the file has it.
    ///   - isEmbedded: Whether the class is embedded, so that its objects are written with those to which they belong.
    func allowance(for action: WriteAction, on className: String, isEmbedded: Bool) -> WriteAllowance?

    /// Whether the schema may be changed, provided that everything is visible.
    var mayMigrate: Bool { get }

    /// Returns whether there is any right in a class, so that its existence is known.
    ///
    /// - Parameter className: The name of the class as the file has it.
    func mayKnow(_ className: String) -> Bool

    /// Returns whether objects of an embedded class may be written inside their owners. They may not when the properties to be
    /// hidden in them are not known any more.
    ///
    /// - Parameters:
    ///   - className: The name of the embedded class as the file has it.
    ///   - action: The write to the owner.
    func mayWriteInside(_ className: String, by action: WriteAction) -> Bool

    /// Returns whether objects of a class may be imported. Each of them needs the right to make or change it besides.
    ///
    /// - Parameter className: The name of the class as the file has it.
    func mayImport(_ className: String) -> Bool
}

/// An action of a write on an object that needs a right.
package enum WriteAction: Sendable, CaseIterable {
    /// It makes the object.
    case create
    /// It changes the object, or an embedded object that belongs to it.
    case update
    /// It deletes the object.
    case delete
}
