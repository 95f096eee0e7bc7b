// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes values of a former version into a transaction: collections, embedded objects and nested Mixed as a whole.
///
/// It is used by one thread. The former version has to be kept meanwhile.
final class FormerValues {
    /// The place of one value.
    private enum Slot {
        case property(TableKey, ObjectKey, Column)
        case element(Int, CollectionPlace)
        case member(CollectionPlace)
        case entry(String, CollectionPlace)
    }

    /// An object of the former version that is to be linked to and is not there any more.
    struct Missing: Hashable {
        let table: TableKey
        let object: ObjectKey
    }

    /// The nesting of embedded objects and of Mixed that is written.
    private static let depthLimit = 128

    private let former: Snapshot
    private let session: WriteSession
    private var transaction: WriteTransaction { session.storage }
    /// The new keys of objects that were made again, by their tables and keys in the former version.
    private var remade: [Missing: ObjectKey] = [:]
    /// The targets of links that could not be written.
    private(set) var missing: Set<Missing> = []
    private var depth = 0

    init(of former: Snapshot, _ session: WriteSession) {
        self.former = former
        self.session = session
    }

    /// Makes an object again, without its values but for the primary key.
    ///
    /// - Parameters:
    ///   - row: The object in the former version.
    func make(_ row: Row, of table: Table) throws(StorageError) {
        let state = try present(table)
        let primaryKey = try table.primaryKey.map { column throws(StorageError) in try row.value(column) }
        remade[Missing(table: table.key, object: row.key)] = try transaction.createObject(in: state.key, primaryKey: primaryKey)
    }

    /// Writes properties of an object.
    ///
    /// - Parameters:
    ///   - names: The names of the properties in the file.
    ///   - row: The object in the former version.
    ///   - object: The present key; nil for one that was made again.
    func write(_ names: [String], of row: Row, _ table: Table, to object: ObjectKey?) throws(StorageError) {
        let state = try present(table)
        guard let object = object ?? remade[Missing(table: table.key, object: row.key)] else { return }
        for name in names where table.primaryKey.map({ $0.name != name }) ?? true {
            guard let column = table.column(named: name), let other = state.column(named: name) else { continue }
            try write(column, of: row, to: other, state.key, object)
        }
    }

    /// Returns the present state of a table of the former version.
    private func present(_ table: Table) throws(StorageError) -> TableState {
        guard let state = try transaction.table(named: table.name) else {
            throw .limit("the class '\(table.className ?? table.name)' is not there any more")
        }
        return state
    }

    private func write(
        _ column: Column, of row: Row, to other: Column, _ table: TableKey, _ object: ObjectKey
    ) throws(StorageError) {
        let place = CollectionPlace(table, object, other)
        switch column.collection {
        case nil: try write(try row.value(column), to: .property(table, object, other))
        case .list:
            try transaction.clear(place)
            try writeElements(try row.list(column, in: former), to: place)
        case .set:
            try transaction.clear(place)
            var elements = try row.list(column, in: former).elements()
            while let value = try elements.next() { try write(value, to: .member(place)) }
        case .dictionary:
            try transaction.clear(place)
            try writeEntries(try row.dictionary(column, in: former), to: place)
        }
    }

    private func writeElements(_ list: ListView, to place: CollectionPlace) throws(StorageError) {
        var elements = list.elements()
        var index = 0
        while let value = try elements.next() {
            if try write(value, to: .element(index, place)) { index += 1 }
        }
    }

    private func writeEntries(_ dictionary: DictionaryView, to place: CollectionPlace) throws(StorageError) {
        var entries = dictionary.entries()
        while let entry = try entries.next() { try write(entry.value, to: .entry(entry.key.bytes.string, place)) }
    }

    /// Writes one value.
    ///
    /// - Returns: Whether anything was written.
    @discardableResult
    private func write(_ value: Value, to slot: Slot) throws(StorageError) -> Bool {
        try session.budget.spend()
        switch value {
        case .link(let table, let key): return try writeLink(table, key, to: slot)
        case .list(let root):
            try put(.list(.none), in: slot)
            try nested { () throws(StorageError) in
                try writeElements(try ListView(nested: root, space: former.space), to: inside(slot))
            }
        case .dictionary(let root):
            try put(.dictionary(.none), in: slot)
            try nested { () throws(StorageError) in
                let view = try DictionaryView(root: root, space: former.space, fileFormat: former.fileFormat)
                try writeEntries(view, to: inside(slot))
            }
        default: try put(value, in: slot)
        }
        return true
    }

    private func nested(_ work: () throws(StorageError) -> Void) throws(StorageError) {
        guard depth < FormerValues.depthLimit else { throw .limit("values are nested too deeply") }
        depth += 1
        defer { depth -= 1 }
        try work()
    }

    private func writeLink(_ key: TableKey, _ object: ObjectKey, to slot: Slot) throws(StorageError) -> Bool {
        guard let table = former.table(key), let row = try table.find(object) else {
            // A link to what the version before had lost already.
            if case .property = slot { try put(.null, in: slot) }
            return false
        }
        if table.kind == .embedded {
            let child = try putEmbedded(in: slot)
            let state = try present(table)
            try nested { () throws(StorageError) in
                for column in table.columns {
                    guard let other = state.column(named: column.name) else { continue }
                    try write(column, of: row, to: other, state.key, child)
                }
            }
            return true
        }
        guard let target = try presentKey(of: row, in: table) else {
            missing.insert(Missing(table: key, object: object))
            return false
        }
        try put(.link(try present(table).key, target), in: slot)
        return true
    }

    /// Returns the present key of an object of the former version; nil when it is gone.
    private func presentKey(of row: Row, in table: Table) throws(StorageError) -> ObjectKey? {
        if let key = remade[Missing(table: table.key, object: row.key)] { return key }
        let state = try present(table)
        if let column = table.primaryKey { return try transaction.findByPrimaryKey(try row.value(column), in: state.key) }
        return try transaction.row(row.key, in: state.key)?.key
    }

    // MARK: - Slots

    private func inside(_ slot: Slot) -> CollectionPlace {
        switch slot {
        case .property(let table, let object, let column): return CollectionPlace(table, object, column)
        case .element(let index, let place): return FormerValues.place(place, .index(index))
        case .entry(let key, let place): return FormerValues.place(place, .key(key))
        case .member(let place): return place
        }
    }

    private static func place(_ place: CollectionPlace, _ step: PathStep) -> CollectionPlace {
        CollectionPlace(place.table, place.object, place.column, path: place.path + [step])
    }

    private func put(_ value: Value, in slot: Slot) throws(StorageError) {
        switch slot {
        case .property(let table, let object, let column): try transaction.set(value, column, of: object, in: table)
        case .element(let index, let place): try transaction.insert(value, at: index, in: place)
        case .member(let place): try transaction.insertMember(value, in: place)
        case .entry(let key, let place): try transaction.setEntry(key, value, in: place)
        }
    }

    private func putEmbedded(in slot: Slot) throws(StorageError) -> ObjectKey {
        switch slot {
        case .property(let table, let object, let column): return try transaction.setEmbedded(column, of: object, in: table)
        case .element(let index, let place): return try transaction.insertEmbedded(at: index, in: place)
        case .entry(let key, let place): return try transaction.setEmbeddedEntry(key, in: place)
        case .member: throw .limit("a set has no embedded objects")
        }
    }
}
