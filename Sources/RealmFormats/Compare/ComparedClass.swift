// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// A class in both versions, or in one of them, paired by its name.
final class ComparedClass {
    /// How an object of one version is found in the other.
    enum Identity {
        case primaryKey
        case objectKey
        case contents
    }

    let name: String
    /// The class in the earlier version; nil when it does not have it.
    let old: ComparedSide.Class?
    /// The class in the later version; nil when it does not have it.
    let new: ComparedSide.Class?
    let identity: Identity
    /// The properties in the order of their names.
    let properties: [ComparedProperty]
    /// Finds objects of the earlier version by their primary keys.
    let oldFinder: KeyFinder?
    /// Finds objects of the later version by their primary keys.
    let newFinder: KeyFinder?

    /// Pairs a class.
    ///
    /// - Parameter identity: The identity of objects without a primary key.
    init(_ name: String, _ old: ComparedSide.Class?, _ new: ComparedSide.Class?, identity: ComparisonOptions.Identity) {
        self.name = name
        self.old = old
        self.new = new
        self.identity = ComparedClass.identity(old?.table, new?.table, identity)
        properties = ComparedProperty.all(old, new)
        oldFinder = (old?.table).map { KeyFinder($0) }
        newFinder = (new?.table).map { KeyFinder($0) }
    }

    /// Returns the identity of the objects of a class: the primary key if it is the same property in both versions, or in the one
    /// that has the class.
    private static func identity(
        _ old: Table?, _ new: Table?, _ withoutKey: ComparisonOptions.Identity
    ) -> Identity {
        let keys = [old, new].compactMap { $0 }.map(\.primaryKey)
        let isSame = keys.allSatisfy { $0?.name == keys[0]?.name && $0?.type == keys[0]?.type }
        if !keys.isEmpty, keys[0] != nil, isSame { return .primaryKey }
        return withoutKey == .objectKey ? .objectKey : .contents
    }

    /// The table whose objects are listed of the earlier version. Embedded objects belong to their owners.
    var oldTable: Table? { old?.table.kind == .embedded ? nil : old?.table }
    /// The table whose objects are listed of the later version.
    var newTable: Table? { new?.table.kind == .embedded ? nil : new?.table }

    /// Whether objects are identified by their contents in the earlier or the later version.
    var isByContents: Bool { identity == .contents && (oldTable != nil || newTable != nil) }

    /// Returns the key of an object in URLs and links.
    func keyText(_ row: Row, of table: Table) throws(StorageError) -> String {
        identity == .primaryKey ? try KeyText.text(of: row, in: table) : KeyText.text(row.key)
    }
}
