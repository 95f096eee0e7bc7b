// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Finds where an embedded object is: the object that owns it, and the property there.
package struct OwnerLookup {
    /// The version that is searched.
    let snapshot: Snapshot
    /// The work that the search may cost: a place in a collection is found by going through it.
    let budget: WorkBudget

    /// The largest number of owners above an embedded object, and of steps of a path into one. Stored values are not nested as
    /// deep as this.
    package static let maximumSteps = 128

    /// The object that holds an embedded one.
    struct Owner {
        /// The class of the owner, which may be embedded itself.
        let table: Table
        /// The object that owns the embedded one.
        let row: Row
        let place: Place
    }

    /// The place of an embedded object in another one. Its texts are made when they are written.
    enum Place {
        case property(String)
        /// An element of a list, by its index.
        case element(String, Int)
        /// An entry of a dictionary, by its key.
        case entry(String, String)

        /// The property, with index or key in a collection: `address`, `kids[0]` or `rooms.kitchen`.
        var text: String {
            switch self {
            case .property(let name): return name
            case .element(let name, let index): return "\(name)[\(index)]"
            case .entry(let name, let key): return "\(name).\(key)"
            }
        }

        /// The place as a JSON Pointer, as JSON Patch takes it: `/address`, `/kids/0` or `/rooms/kitchen`.
        var pointer: String {
            switch self {
            case .property(let name): return "/" + Place.step(name)
            case .element(let name, let index): return "/\(Place.step(name))/\(index)"
            case .entry(let name, let key): return "/\(Place.step(name))/\(JSONPointer.escape(key))"
            }
        }

        /// The step of a pointer to a property.
        private static func step(_ name: String) -> String { JSONPointer.escape(MemberNaming.documents.member(name)) }
    }

    /// The object that an embedded one is a part of, and that is not embedded itself.
    struct Root {
        /// The class of the object.
        let table: Table
        let row: Row
        /// The JSON Pointer from the object to the embedded one.
        let pointer: String
    }

    /// Finds the owner of an embedded object by its backlinks.
    ///
    /// - Parameters:
    ///   - row: The embedded object.
    /// - Returns: The owner; nil for an object that has none, as in a damaged file.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    /// - Complexity: O(n) in the length of the collection that holds the object.
    func owner(of row: Row, in table: Table) throws(StorageError) -> Owner? {
        for backlinks in table.backlinks {
            guard let key = try row.leaf.backlinks(backlinks, row: row.index).keys().first,
                let origin = backlinks.targetTable.flatMap({ snapshot.table($0) }),
                let column = backlinks.oppositeColumn.flatMap({ origin.column($0) }),
                let owner = try origin.find(key),
                let place = try place(of: row.key, in: column, of: owner)
            else { continue }
            return Owner(table: origin, row: owner, place: place)
        }
        return nil
    }

    /// Finds the object that an embedded one is a part of, and that is not embedded itself.
    ///
    /// - Parameter owner: The owner of the embedded object, which is embedded itself.
    /// - Returns: The root, with the path to the first embedded object, by which that can be written; nil where an
    ///   owner is missing, as in a damaged file.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    func root(above owner: Owner) throws(StorageError) -> Root? {
        var owner = owner
        var pointer = owner.place.pointer
        for _ in 0..<OwnerLookup.maximumSteps {
            guard owner.table.kind == .embedded else {
                return Root(table: owner.table, row: owner.row, pointer: pointer)
            }
            try budget.spend()
            guard let outer = try self.owner(of: owner.row, in: owner.table) else { return nil }
            pointer = outer.place.pointer + pointer
            owner = outer
        }
        return nil
    }

    /// Returns the property of an owner that holds an embedded object, with index or key.
    ///
    /// - Parameters:
    ///   - key: The key of the embedded object.
    ///   - column: The property that links to its class.
    /// - Returns: The place; nil when the property does not hold the object.
    private func place(of key: ObjectKey, in column: Column, of owner: Row) throws(StorageError) -> Place? {
        switch column.collection {
        case nil: return .property(column.name)
        case .list, .set:
            var elements = try owner.list(column, in: snapshot).elements()
            var index = 0
            while let element = try elements.next() {
                try budget.spend()
                if case .link(_, key) = element { return .element(column.name, index) }
                index += 1
            }
        case .dictionary:
            var entries = try owner.dictionary(column, in: snapshot).entries()
            while let entry = try entries.next() {
                try budget.spend()
                if case .link(_, key) = entry.value { return .entry(column.name, entry.key.bytes.string) }
            }
        }
        return nil
    }
}
