// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Detects a changed value of a property without keeping the former one.
extension WriteSession {
    /// Returns a number that stays the same while the value of a property does; nil for null and for an empty collection.
    ///
    /// It covers the view of the sender of the write, and means something in this process alone. Changes of hidden parts by
    /// others must not show, and a write leaves these parts as they are.
    ///
    /// - Complexity: Linear in the size of the value, which is counted by the budget.
    package func valueMark(_ property: Column, of place: ObjectPlace) throws(WriteError) -> Int? {
        var hasher = Hasher()
        // Hidden properties may depend on the action.
        let mayUpdate = try restriction?.allowance(.update, table(place.table)) != nil
        restriction?.action = mayUpdate ? .update : .create
        guard try hash(property, of: place, into: &hasher) else { return nil }
        return hasher.finalize()
    }

    /// Feeds the value of a property; returns false for null and for an empty collection.
    private func hash(_ property: Column, of place: ObjectPlace, into hasher: inout Hasher) throws(WriteError) -> Bool {
        guard let kind = property.collection else {
            let slot = Slot.property(place, property)
            guard let value = try storedValue(in: slot), !value.isNull, try !isHiddenLink(value) else { return false }
            try hash(value, in: slot, into: &hasher)
            return true
        }
        return try hash(CollectionPlace(place.table, place.object, property), kind, into: &hasher) > 0
    }

    /// Feeds a value, with the embedded object that it leads to, or the elements that it has.
    private func hash(_ value: Value, in slot: Slot, into hasher: inout Hasher) throws(WriteError) {
        try spend(bytes: value.byteCount)
        // Equal numbers of different types have the same order.
        hasher.combine(ByteText(value.typeName))
        if case .link(let key, let object) = value, try table(key).kind == .embedded {
            // An embedded object gets another key when it is assigned as a whole.
            for column in knownColumns(of: try table(key)) {
                hasher.combine(try hash(column, of: ObjectPlace(table: key, object: object), into: &hasher))
            }
            return
        }
        value.hashByOrder(into: &hasher)
        switch value {
        case .list: _ = try hash(slot.collection, .list, into: &hasher)
        case .dictionary: _ = try hash(slot.collection, .dictionary, into: &hasher)
        default: break
        }
    }

    /// Feeds the elements or entries of a collection, and returns their number.
    private func hash(
        _ place: CollectionPlace, _ kind: CollectionKind, into hasher: inout Hasher
    ) throws(WriteError) -> Int {
        var count = 0
        defer { hasher.combine(count) }
        guard kind == .dictionary else {
            let list = try storedList(place)
            for index in 0..<list.count {
                try spend(WriteSession.unitsPerElement)
                let value = try stored(try list.value(at: index))
                if try isHiddenLink(value) { continue }
                try hash(value, in: .element(place, index), into: &hasher)
                count += 1
            }
            return count
        }
        var cursor = try dictionary(place).entries()
        while let entry = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            let key = entry.key.bytes.string
            hasher.combine(ByteText(key))
            if try !isHiddenLink(entry.value) { try hash(entry.value, in: .entry(place, key), into: &hasher) }
            count += 1
        }
        return count
    }

    // MARK: - Changes by others

    /// Returns the changes by other writes since a pinned version of the same realm: existing objects, embedded ones included, and the
    /// classes of which any object may have changed. Changes of properties that are hidden from the sender do not count.
    /// `before` is the sender's view of that version.
    package func changes(
        since former: Version
    ) throws(WriteError) -> (objects: Set<ObjectPlace>, classes: Set<TableKey>, before: Snapshot) {
        let before = former.snapshot
        guard let restriction, restriction.base.version != before.version else { return ([], [], before) }
        let (base, view) = (restriction.base, restriction.rights.shown(of: before).map { Snapshot($0) } ?? before)
        var (objects, classes): (Set<ObjectPlace>, Set<TableKey>) = ([], [])
        restriction.action = .create
        defer { restriction.action = .update }
        // No commit has written over blocks of the former version.
        let sharesNodes = base.holdsTop(of: before)
        for change in try stored(VersionDifference.changes(from: before, to: base, sharesNodes: sharesNodes)) {
            try spend()
            switch change {
            case .created, .createdRun: break
            case .deleted(let key, let object): objects.insert(ObjectPlace(table: key, object: object))
            case .modified(let key, let object, let column), .collection(let key, let object, let column, _):
                guard let column = base.table(key)?.column(column), try !isHidden(column, of: table(key)) else { continue }
                objects.insert(try stored(WriteSession.outermost(ObjectPlace(table: key, object: object), in: base)))
            case .schema(let key):
                let (old, new) = (view.table(key), restriction.shownBase.table(key))
                let isHidden = old.flatMap { old in new.map { VersionDifference.areAlike(old, $0) } } ?? false
                if !isHidden { classes.insert(key) }
            }
        }
        return (objects, classes, view)
    }

    /// Returns the object that an embedded one is a part of; the object itself if it is none.
    private static func outermost(_ place: ObjectPlace, in snapshot: Snapshot) throws(StorageError) -> ObjectPlace {
        var place = place
        for _ in 0..<depthOfUnseen {
            guard let table = snapshot.table(place.table), table.kind == .embedded, let row = try table.find(place.object)
            else { break }
            for column in table.backlinks {
                guard let owner = try row.leaf.backlinks(column, row: row.index).keys().first else { continue }
                place = ObjectPlace(table: column.targetTable ?? .null, object: owner)
            }
        }
        return place
    }
}
