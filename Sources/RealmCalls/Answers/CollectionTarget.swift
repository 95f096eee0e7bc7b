// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The collection that the path of a request names: a property of an object, or the objects that link to an object.
package struct CollectionTarget {
    /// The owner of the elements.
    private enum Owner {
        /// A collection property of an object, or of an object embedded in it.
        case property(PropertyTarget)
        /// The class of linking objects.
        case links(Table)
    }

    private let owner: Owner
    package let elements: Elements
    /// The name of the collection as the path has it.
    let name: String

    /// The class of linking objects, their linking property, and the backlink column in the class of
    /// the object that they link to.
    typealias Linking = (origin: Table, column: Column, backlinks: Column)

    /// The kind of property at the end of a path.
    package enum Found {
        case collection(CollectionTarget)
        /// A property with one value, or an embedded object in a collection.
        case single(PropertyTarget)
    }

    /// Resolves a path `…/{key}/{property}`. The property may be a path into embedded objects, or a name of linking objects.
    ///
    /// - Throws: `object_not_found`, or `not_found` for an unknown property.
    package static func property(_ context: ReadContext) throws(Problem) -> Found {
        let table = try context.table()
        let row = try context.row(in: table)
        let name = try context.call.match[.property]
        if let linking = context.planner.linkingObjects(name, table) {
            return .collection(try links(linking, of: row, named: name))
        }
        let target = try PropertyTarget.find(name, from: row, in: table, context.snapshot)
        guard target.column.collection != nil, target.element == nil else { return .single(target) }
        let elements = try Problem.stored(Elements(target.column, of: target.row, in: target.table, context.snapshot))
        return .collection(CollectionTarget(owner: .property(target), elements: elements, name: name))
    }

    /// Finds the linking objects that a path `…/{key}/@links/{Class}/{property}` names.
    ///
    /// - Throws: `object_not_found`, or `not_found` when that property does not exist or does not
    ///   link to the class of the object.
    package static func links(_ context: ReadContext) throws(Problem) -> CollectionTarget {
        let table = try context.table()
        let row = try context.row(in: table)
        let origin = try context.call.match[.originClass]
        let property = try context.call.match[.originProperty]
        let name = "@links.\(origin).\(property)"
        guard let linking = context.planner.linkingObjects(name, table) else {
            throw Problem(.notFound, "no property of this name and class links to class \(table.className ?? "")")
        }
        return try links(linking, of: row, named: name)
    }

    private static func links(_ linking: Linking, of row: Row, named name: String) throws(Problem) -> CollectionTarget {
        let elements = try Problem.stored(Elements(linkingTo: row, from: linking.origin, backlinks: linking.backlinks))
        return CollectionTarget(owner: .links(linking.origin), elements: elements, name: name)
    }

    /// Returns a writer of the elements.
    ///
    /// - Throws: `unknown_key_path` for `fields` or `expand` that lead nowhere.
    package func writer(_ parameters: ReadParameters, _ context: ReadContext) throws(Problem) -> ElementWriter {
        switch owner {
        case .property(let target): return try ElementWriter(target, parameters, context)
        case .links(let origin):
            return ElementWriter(objectsOf: origin, try context.plan(origin, parameters), parameters, context)
        }
    }
}
