// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Writes elements of a collection as rows of a page: objects for links, else values; in dictionaries with their entry.
final class ElementWriter {
    /// The target's plan where elements are objects of their own.
    private let objects: ObjectPlan?
    /// How elements that are values stand in an object.
    private let member: ObjectPlan.Member?
    /// A single link is shown as the object when the request says what of it.
    private let expandsLinks: Bool
    private let encoder: ObjectEncoder

    /// For a property.
    init(_ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext) throws(Problem) {
        encoder = ObjectEncoder(context.snapshot, parameters.representation, context.request.budget)
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

    /// For linking objects.
    init(objectsOf table: Table, _ plan: ObjectPlan, _ parameters: ReadParameters, _ context: ReadContext) {
        expandsLinks = true
        encoder = ObjectEncoder(context.snapshot, parameters.representation, context.request.budget)
        objects = plan
        member = nil
    }

    /// The plan of one property; `fields` and `expand` count from the embedded objects in it.
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

    private static func member(
        _ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> ObjectPlan.Member? {
        try member(target, (parameters.fields, parameters.expand), context)
    }

    /// What the elements that were written lose in this representation.
    var notes: RepresentationNotes { encoder.notes }

    /// Writes a row of a page, unless the answer is full before its end; see `ObjectEncoder.fits`.
    func fits(_ element: Elements.Element, in writer: inout JSONWriter) throws(StorageError) -> Bool {
        try encoder.budget.spend()
        return try encoder.fits(&writer) { writer throws(StorageError) in try write(element, to: &writer) }
    }

    /// One row of a page.
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

    /// The plan of the objects, embedded or not, that elements are; nil where they are values.
    var rowPlan: ObjectPlan? { objects ?? member?.embeddedPlan }

    /// The object that an element is; nil for null.
    func row(of value: Value) throws(StorageError) -> Row? {
        guard let rowPlan, case .link(_, let key) = value else { return nil }
        return try rowPlan.table.find(key)
    }

    /// Puts an element that is a value into a cell; false for null.
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

    /// The value of a property that is no collection.
    func writeSingle(_ target: PropertyTarget, to writer: inout JSONWriter) throws(StorageError) {
        if let element = target.element { return try writeValue(element, to: &writer) }
        if expandsLinks, objects != nil { return try writeRow(try target.row.value(target.column), to: &writer) }
        guard let member else { return writer.null() }
        try encoder.writeValue(of: member, target.row, to: &writer)
    }

    private func writeRow(_ value: Value, to writer: inout JSONWriter) throws(StorageError) {
        guard let (row, plan) = try object(value) else { return try writeValue(value, to: &writer) }
        try encoder.write(row, plan, to: &writer)
    }

    private func writeValue(_ value: Value, to writer: inout JSONWriter) throws(StorageError) {
        guard let member else { return writer.null() }
        try encoder.writeElement(value, of: member, to: &writer)
    }

    /// The object that an element is, where elements are objects of their own.
    private func object(_ value: Value) throws(StorageError) -> (Row, ObjectPlan)? {
        guard let objects, case .link(_, let key) = value, let row = try objects.table.find(key) else { return nil }
        return (row, objects)
    }

    /// Writes the key of a dictionary as the name of a member.
    static func write(_ key: DictionaryKey, to writer: inout JSONWriter) {
        if case .text(let bytes) = key, writer.string(bytes) { return }
        writer.string(text(of: key))
    }

    /// A dictionary key as text; one that is not UTF-8 in base64url.
    static func text(of key: DictionaryKey) -> String {
        switch key {
        case .text(let bytes): return bytes.validatedString ?? "@b64." + Base64.encode(bytes.array, .url)
        case .integer(let number): return String(number)
        }
    }
}

extension ReadParameters {
    /// Whole objects with stubs for links.
    fileprivate static let none: (fields: [String]?, expand: [String]) = (nil, [])
}
