// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The actions that a role may permit. The raw values are the words of the configuration, and their order is that of responses.
package enum RightsAction: String, Sendable, CaseIterable {
    /// Reading objects of a class: queries, aggregates, look-ups, links to them.
    case read
    /// Making objects of a class.
    case create
    /// Changing objects of a class.
    case update
    /// Deleting objects of a class.
    case delete
    /// Receiving changes of objects of a class.
    case subscribe
    /// Exporting the objects of a class; of a realm, all that may be read in it.
    case export
    /// Importing objects of a class, together with the actions of the lines; of a realm, an export with many classes.
    case `import`
    /// Changing the schema of a realm.
    case migrate
    /// Operating the server, with every other action in every realm.
    case administer

    /// The actions that a class may allow. The others belong to a realm or to the whole server.
    package static let ofClasses: Set<RightsAction> = [.read, .create, .update, .delete, .subscribe, .export, .import]

    /// Whether the action leaves an object behind that has to satisfy `where` and `check`.
    package var leavesObjects: Bool { self == .create || self == .update }
}
