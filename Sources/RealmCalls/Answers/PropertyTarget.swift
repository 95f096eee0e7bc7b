// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The target of the last part of the path `…/{key}/{property}`.
///
/// It is a property of the key's object or of an object embedded in it, an embedded object that is an element of a collection, or
/// the value of an entry of a dictionary.
package struct PropertyTarget {
    /// The class of the object that has the property.
    let table: Table
    let row: Row
    /// The property that the path names, or the collection that has the element.
    let column: Column
    /// The embedded object or the value at the end of the path, when the path ends at an element of a collection; else nil.
    var element: Value?

    /// The problem of a path that is possible in the schema, but leads to null or a missing element in this object.
    private static let nothing = Problem(.objectNotFound, "there is nothing at this path in this object")
    /// The problem of a path that leads through something else than embedded objects.
    private static let notEmbedded = Problem(.notFound, "paths lead through embedded objects only")

    /// Follows a text from an object.
    ///
    /// A property whose name is the whole text takes precedence over a path.
    ///
    /// - Parameters:
    ///   - text: A name, or a path such as `address.phones` or `kids[0]`.
    ///   - row: The object at which the path begins.
    ///   - snapshot: The version that is read.
    /// - Throws: `not_found` for a path that the schema does not have, `object_not_found` for one
    ///   that leads nowhere in this object.
    static func find(_ text: String, from row: Row, in table: Table, _ snapshot: Snapshot) throws(Problem) -> PropertyTarget {
        if let column = table.column(named: text) { return PropertyTarget(table: table, row: row, column: column) }
        guard let path = PropertyPath(text), case .name(let first)? = path.steps.first, let column = table.column(named: first)
        else { throw unknown(text, table) }
        var target = PropertyTarget(table: table, row: row, column: column)
        var steps = path.steps.dropFirst()
        while let step = steps.popFirst() {
            if target.element == nil, target.column.collection != nil {
                target.element = try target.element(at: step, snapshot)
                continue
            }
            guard case .name(let name) = step else { throw unknown(text, table) }
            target = try target.property(name, snapshot)
        }
        return target
    }

    /// Makes the problem of a path that the schema does not have; the detail proposes a similar name.
    private static func unknown(_ text: String, _ table: Table) -> Problem {
        let hint = table.hint(for: text)
        return Problem(.notFound, "class \(table.className ?? "") has no property at this path\(hint)")
    }

    /// Returns the class of the embedded objects in the column; nil for any other column.
    private func embedded(_ snapshot: Snapshot) -> Table? {
        guard column.type == .link, let table = column.targetTable.flatMap({ snapshot.table($0) }), table.kind == .embedded
        else { return nil }
        return table
    }

    /// Returns a property of the embedded object that this target leads to.
    private func property(_ name: String, _ snapshot: Snapshot) throws(Problem) -> PropertyTarget {
        guard let inner = embedded(snapshot) else { throw PropertyTarget.notEmbedded }
        guard let innerColumn = inner.column(named: name) else { throw PropertyTarget.unknown(name, inner) }
        let value = try Problem.mapping { () throws(StorageError) in
            if let element { return element }
            return try row.value(column)
        }
        guard case .link(_, let key) = value,
            let innerRow = try Problem.stored(inner.find(key))
        else { throw PropertyTarget.nothing }
        return PropertyTarget(table: inner, row: innerRow, column: innerColumn)
    }

    /// Returns an embedded object of a list by its index, or the value of a dictionary by its key.
    private func element(at step: PropertyPath.Step, _ snapshot: Snapshot) throws(Problem) -> Value {
        // Lists are shown without links to hidden objects, so an index would reveal their number.
        let isEmbedded = embedded(snapshot) != nil
        guard column.collection == .dictionary || isEmbedded else { throw PropertyTarget.notEmbedded }
        let found: Value?
        switch (column.collection, step) {
        case (.list, .index(let index)):
            found = try Problem.mapping { () throws(StorageError) in
                let list = try row.list(column, in: snapshot)
                return index < list.count ? try list.value(at: index) : nil
            }
        case (.dictionary, .name(let name)):
            let key = ByteStorage(name)
            found = try Problem.stored(row.dictionary(column, in: snapshot).find(key.view))
        default: throw Problem(.notFound, "there is no such element at this path")
        }
        guard let found, !found.isNull || !isEmbedded else { throw PropertyTarget.nothing }
        return found
    }
}
