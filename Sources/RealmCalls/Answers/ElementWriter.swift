// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Writes the elements of a collection as rows: objects for links, else values. In dictionaries each row has its entry.
///
/// A writer is made for one request and used by one thread at a time. It also writes single values of properties.
package final class ElementWriter {
    /// The plan for linked objects; nil where elements are values or embedded objects.
    private let objects: ObjectPlan?
    /// The form of values of the property inside an object; nil for linking objects, which belong to no property.
    private let member: ObjectPlan.Member?
    /// Whether a single link is written as the object it leads to. It is when the request has `fields` or `expand`.
    private let expandsLinks: Bool
    /// Writes objects and values, within the budget of the request.
    private let encoder: ObjectEncoder

    /// Creates a writer for the value or the elements of a property.
    ///
    /// - Parameters:
    ///   - parameters: Which properties of objects are shown, and the representation.
    ///   - context: The version that is read, and the request.
    /// - Throws: `unknown_key_path` for `fields` or `expand` that lead nowhere.
    package init(_ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext) throws(Problem) {
        encoder = ObjectEncoder(context.snapshot, parameters.representation, context.call.request.budget)
        expandsLinks = parameters.fields != nil || !parameters.expand.isEmpty
        let linked = target.column.type == .link ? target.column.targetTable.flatMap { context.snapshot.table($0) } : nil
        if let linked, linked.kind != .embedded {
            objects = try context.plan(linked, parameters)
            member = try ElementWriter.member(target, ReadParameters.none, context)
        } else {
            objects = nil
            member = try ElementWriter.member(target, parameters, context)
        }
    }

    /// Creates a writer for linking objects, which are all of one class.
    init(objectsOf table: Table, _ plan: ObjectPlan, _ parameters: ReadParameters, _ context: ReadContext) {
        expandsLinks = true
        encoder = ObjectEncoder(context.snapshot, parameters.representation, context.call.request.budget)
        objects = plan
        member = nil
    }

    /// Returns how one property is written inside its object. The paths of `fields` and `expand`
    /// begin at the embedded objects in it.
    private static func member(
        _ target: PropertyTarget, _ choice: (fields: [String]?, expand: [String]), _ context: ReadContext
    ) throws(Problem) -> ObjectPlan.Member? {
        let name = target.column.name
        let fields = choice.fields.map { $0.map { name + "." + $0 } } ?? [name]
        do throws(ObjectPlanner.UnknownPath) {
            return try context.planner.plan(
                target.table, fields: PathTree(fields), expand: PathTree(choice.expand.map { name + "." + $0 })
            ).members.first
        } catch {
            throw Problem(error)
        }
    }

    /// Returns how one property is written, with the `fields` and `expand` of a request.
    private static func member(
        _ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> ObjectPlan.Member? {
        try member(target, (parameters.fields, parameters.expand), context)
    }

    /// Notes on values that could not be represented exactly in the elements written so far.
    package var notes: RepresentationNotes { encoder.notes }

    /// Writes a row of a page, unless the response is full before its end. Then nothing of it is
    /// written, and false is returned.
    func fits(_ element: Elements.Element, in writer: inout JSONWriter) throws(StorageError) -> Bool {
        try encoder.budget.spend()
        return try encoder.fits(&writer) { writer throws(StorageError) in try write(element, to: &writer) }
    }

    /// Writes one row: the element itself, or for a dictionary an object with `entry` and either
    /// `key` and `object`, or `value`.
    func write(_ element: Elements.Element, to writer: inout JSONWriter) throws(StorageError) {
        guard let entry = element.entry else { return try writeRow(element.value, to: &writer) }
        writer.beginObject()
        writer.key("entry")
        ElementWriter.write(entry, to: &writer)
        if let (row, plan) = try object(element.value) {
            writer.key("key")
            writer.string(try KeyText.text(of: row, in: plan.table))
            writer.key("object")
            try encoder.write(row, plan, to: &writer)
        } else {
            writer.key("value")
            try writeValue(element.value, to: &writer)
        }
        writer.endObject()
    }

    // MARK: - Rows of tables

    /// The plan for elements that are objects, embedded or linked; nil where elements are values.
    var rowPlan: ObjectPlan? { objects ?? member?.embeddedPlan }

    /// Returns the object that an element is; nil for null.
    func row(of value: Value) throws(StorageError) -> Row? {
        guard let rowPlan, case .link(_, let key) = value else { return nil }
        return try rowPlan.table.find(key)
    }

    /// Writes an element that is a value into a cell of CSV; returns false for null, which leaves the cell empty.
    ///
    /// Strings and other texts have no quotes, but Mixed values are complete JSON, because their type must be recognizable.
    func fill(_ cell: OutputBuffer, _ value: Value) throws(StorageError) -> Bool {
        let isMixed = member?.source.column.type == .mixed
        switch value {
        case .null: return false
        case .string(let text) where !isMixed: cell.append(text)
        default:
            var writer = JSONWriter(cell)
            try writeValue(value, to: &writer)
            if !isMixed { cell.removeQuotes() }
        }
        return true
    }

    // MARK: - Single values

    /// Writes the value of a property that is no collection, or the embedded object at the end of a path.
    package func writeSingle(_ target: PropertyTarget, to writer: inout JSONWriter) throws(StorageError) {
        if let element = target.element {
            return expandsLinks ? try writeRow(element, to: &writer) : try writeValue(element, to: &writer)
        }
        if expandsLinks, objects != nil { return try writeRow(try target.row.value(target.column), to: &writer) }
        guard let member else { return writer.null() }
        try encoder.writeValue(of: member, target.row, to: &writer)
    }

    /// Writes an element: a link as the object that it leads to, anything else as a value.
    private func writeRow(_ value: Value, to writer: inout JSONWriter) throws(StorageError) {
        guard let (row, plan) = try object(value) else { return try writeValue(value, to: &writer) }
        try encoder.write(row, plan, to: &writer)
    }

    /// Writes an element in the form that it has inside its object: a stub for a link.
    private func writeValue(_ value: Value, to writer: inout JSONWriter) throws(StorageError) {
        guard let member else { return writer.null() }
        try encoder.writeElement(value, of: member, to: &writer)
    }

    /// Returns the linked object that an element is, and how it is written; nil for values and for null.
    private func object(_ value: Value) throws(StorageError) -> (Row, ObjectPlan)? {
        guard let objects, case .link(_, let key) = value, let row = try objects.table.find(key) else { return nil }
        return (row, objects)
    }

    /// Writes the key of a dictionary entry as a JSON string.
    static func write(_ key: DictionaryKey, to writer: inout JSONWriter) {
        if case .text(let bytes) = key, writer.string(bytes) { return }
        writer.string(text(of: key))
    }

    /// Returns the key of a dictionary entry as text. A key that is not UTF-8 becomes `@b64.` and the base64url of its bytes.
    static func text(of key: DictionaryKey) -> String {
        switch key {
        case .text(let bytes): return bytes.validatedString ?? "@b64." + Base64.encode(bytes.array, .url)
        case .integer(let number): return String(number)
        }
    }
}

/// The name of the choice of properties for values that are written next to linked objects.
extension ReadParameters {
    /// Whole objects with stubs for links: neither `fields` nor `expand`.
    fileprivate static let none: (fields: [String]?, expand: [String]) = (nil, [])
}
