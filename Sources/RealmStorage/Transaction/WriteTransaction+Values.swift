// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Properties with single values.
extension WriteTransaction {
    /// Sets a value, or a link to an object that exists. Embedded objects are made with `setEmbedded`.
    ///
    /// The former contents of the property are discarded: nested collections, backlinks, an embedded object.
    ///
    /// - Parameters:
    ///   - value: A value that fits the property, which the caller has checked.
    ///   - object: The object, which must exist.
    /// - Throws: `.limit` for a value that is too long to be stored.
    package func set(
        _ value: Value, _ column: Column, of object: ObjectKey, in key: TableKey
    ) throws(StorageError) {
        if column.type == .link, case .link(let target, let linked) = value,
            case .link(target, linked) = try self.value(column, of: object, in: key)
        {
            // The object keeps its place among those that link to the target.
            try setUnrecorded(value, column, of: object, in: key)
            changes.append(.modified(key, object, column.key))
            return
        }
        var orphans: [StoredLink] = []
        if column.type == .link || column.type == .mixed { try forgetLinks(of: column, object, in: key, orphans: &orphans) }
        try setUnrecorded(value, column, of: object, in: key)
        if case .link(let target, let linked) = value {
            try addBacklink(to: StoredLink(table: target, object: linked), from: object, column, in: key)
        }
        changes.append(.modified(key, object, column.key))
        try delete(orphans)
    }

    /// Makes a new embedded object in a property, in place of the one that is there, which is deleted.
    ///
    /// - Returns: The key of the new object, whose properties have default values.
    /// - Throws: `.limit` when the property is not a link.
    package func setEmbedded(
        _ column: Column, of object: ObjectKey, in key: TableKey
    ) throws(StorageError) -> ObjectKey {
        guard let target = column.targetTable else { throw WriteTransaction.noEmbedded }
        try set(.null, column, of: object, in: key)
        let child = try createObject(in: target)
        try set(.link(target, child), column, of: object, in: key)
        return child
    }

    /// Stores a value in the leaf and in the index of a property, without changing backlinks.
    func setUnrecorded(
        _ value: Value, _ column: Column, of object: ObjectKey, in key: TableKey
    ) throws(StorageError) {
        let old = DetachedValue(try self.value(column, of: object, in: key))
        if column.type == .mixed {
            switch old.value {
            case .list(let root), .dictionary(let root): try writes.discardTree(root)
            default: break
            }
        }
        try updateLeaf(column, of: object, in: key, setting: value)
        if try !table(key).indexRoot(column).isNone { try refile(object, column, from: old.value, in: key) }
        withExtendedLifetime(old) {}
    }

    /// The error for a property that cannot hold embedded objects.
    static let noEmbedded = StorageError.limit("the property holds no embedded objects")

    /// Deletes embedded objects that their owner does not hold any more, with everything that they own.
    func delete(_ orphans: [StoredLink]) throws(StorageError) {
        for orphan in orphans { try deleteObject(orphan.object, in: orphan.table) }
    }
}
