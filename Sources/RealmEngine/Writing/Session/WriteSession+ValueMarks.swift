// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Detects a changed value of a property without keeping the former one.
extension WriteSession {
    /// Returns a number that stays the same while the value of a property does; nil for null and for an empty collection.
    ///
    /// It covers all that is stored, also what the sender of the write does not see, and means something in this process alone.
    ///
    /// - Complexity: Linear in the size of the value, which is counted by the budget.
    package func valueMark(_ property: Column, of place: ObjectPlace) throws(WriteError) -> Int? {
        var hasher = Hasher()
        guard try hash(property, of: place, into: &hasher) else { return nil }
        return hasher.finalize()
    }

    /// Feeds the value of a property; returns false for null and for an empty collection.
    private func hash(_ property: Column, of place: ObjectPlace, into hasher: inout Hasher) throws(WriteError) -> Bool {
        guard let kind = property.collection else {
            let slot = Slot.property(place, property)
            guard let value = try storedValue(in: slot), !value.isNull else { return false }
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
        value.hashByOrder(into: &hasher)
        switch value {
        case .link(let key, let object):
            let target = try table(key)
            guard target.kind == .embedded else { return }
            for column in target.columns {
                hasher.combine(try hash(column, of: ObjectPlace(table: key, object: object), into: &hasher))
            }
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
            while count < list.count {
                try spend(WriteSession.unitsPerElement)
                let value = try stored(try list.value(at: count))
                try hash(value, in: .element(place, count), into: &hasher)
                count += 1
            }
            return count
        }
        var cursor = try dictionary(place).entries()
        while let entry = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            let key = entry.key.bytes.string
            hasher.combine(ByteText(key))
            try hash(entry.value, in: .entry(place, key), into: &hasher)
            count += 1
        }
        return count
    }
}
