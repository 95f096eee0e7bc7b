// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Writes rows of a subscription as they are in one version.
///
/// Not Sendable: made for one change set or one part of a snapshot.
final class RowWriter {
    let version: Version
    let definition: SubscriptionDefinition
    let shape: ResolvedSubscription.Shape
    private let planner: ObjectPlanner
    private let encoder: ObjectEncoder
    /// Rows that are objects.
    private var objects: (table: Table, finder: ObjectFinder, plan: ObjectPlan)?
    /// The collection whose elements rows are, and how its elements stand in it.
    private var collection: (elements: Elements, member: ObjectPlan.Member, linked: ObjectPlan?)?

    init(
        _ version: Version, _ definition: SubscriptionDefinition, shape: ResolvedSubscription.Shape,
        names: BacklinkNames,
        budget: WorkBudget
    ) throws(Problem) {
        self.version = version
        self.definition = definition
        self.shape = shape
        planner = ObjectPlanner(version.snapshot, backlinkNames: names.byClass)
        encoder = ObjectEncoder(version.snapshot, definition.representation, budget)
        switch shape {
        case .objects(let key), .sections(let key): try openTable(key)
        case .object(let object): try openTable(object.table)
        case .values(let property), .entries(let property): try openCollection(property)
        case .realm: break
        }
    }

    private var snapshot: Snapshot { version.snapshot }
    var representation: Representation { definition.representation }

    private func openTable(_ key: TableKey) throws(Problem) {
        guard let table = snapshot.table(key) else { return }
        objects = (table, ObjectFinder(table), try plan(table))
    }

    private func plan(_ table: Table) throws(Problem) -> ObjectPlan {
        if definition.fields == nil, definition.expand.isEmpty {
            return try PlanCache.of(version).wholeObjects(of: table, in: snapshot)
        }
        return try planned(table, definition.fields.map { PathTree($0) }, PathTree(definition.expand))
    }

    private func planned(_ table: Table, _ fields: PathTree?, _ expand: PathTree) throws(Problem) -> ObjectPlan {
        do throws(ObjectPlanner.UnknownPath) {
            return try planner.plan(table, fields: fields, expand: expand)
        } catch {
            throw Problem(error)
        }
    }

    /// Nothing is opened when the owner is gone: there is nothing to write then.
    private func openCollection(_ property: ObservedProperty) throws(Problem) {
        guard let table = snapshot.table(property.object.table), let column = table.column(property.column),
            let row = try Problem.mapping({ () throws(StorageError) in try table.find(property.object.key) })
        else { return }
        let elements = try Problem.mapping { () throws(StorageError) in try Elements(column, of: row, in: table, snapshot) }
        let target = column.type == .link ? column.targetTable.flatMap { snapshot.table($0) } : nil
        let linked = try target.flatMap { $0.kind == .embedded ? nil : $0 }.map { table throws(Problem) in try plan(table) }
        // `fields` and `expand` count from the elements.
        let isWhole = linked != nil || definition.fields == nil
        let fields = isWhole ? [column.name] : (definition.fields ?? []).map { column.name + "." + $0 }
        let expand = linked != nil ? [] : definition.expand.map { column.name + "." + $0 }
        guard let member = try planned(table, PathTree(fields), PathTree(expand)).members.first else { return }
        collection = (elements, member, linked)
    }

    // MARK: - Keys

    /// Writes `"key":…` of a row; one that is not there any more has its object key.
    func writeKey(_ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        writer.key("key")
        writer.string(try keyText(key))
    }

    func keyText(_ key: ObjectKey) throws(Problem) -> String {
        guard let objects else { return KeyText.text(key) }
        return try Problem.mapping { () throws(StorageError) in
            guard let row = try objects.finder.find(key) else { return KeyText.text(key) }
            return try KeyText.text(of: row, in: objects.table)
        }
    }

    // MARK: - Rows

    /// The members of a row that is an object: its key, and the object if rows have them.
    func writeObjectMembers(_ key: ObjectKey, of table: TableKey, to writer: inout JSONWriter) throws(Problem) {
        if rowsAreValues { return try writeEmbedded(table, key, to: &writer) }
        guard let objects else { return try writeKey(key, to: &writer) }
        try Problem.mapping { () throws(StorageError) in
            guard let row = try objects.finder.find(key) else { return writer.member("key", text: KeyText.text(key)) }
            writer.member("key", text: try KeyText.text(of: row, in: objects.table))
            guard definition.include == .objects else { return }
            writer.key("object")
            try encoder.write(row, objects.plan, to: &writer)
        }
    }

    /// Whether rows that the engine tells by their keys are embedded objects: values.
    var rowsAreValues: Bool {
        if case .values = shape { return true }
        return false
    }

    /// `"value":…` of an embedded object.
    func writeEmbedded(_ table: TableKey, _ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        writer.key("value")
        guard let collection else { return writer.null() }
        try Problem.mapping { () throws(StorageError) in
            try encoder.writeElement(.link(table, key), of: collection.member, to: &writer)
        }
    }

    /// `"object":…` of an observed object.
    func writeObject(_ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        guard definition.include == .objects, let objects else { return }
        try Problem.mapping { () throws(StorageError) in
            writer.key("object")
            guard let row = try objects.finder.find(key) else { return writer.null() }
            try encoder.write(row, objects.plan, to: &writer)
        }
    }

    /// The members of a row that is an element: a value, or in a dictionary of links an object, with its entry.
    func writeElementMembers(at place: Int, to writer: inout JSONWriter) throws(Problem) {
        guard let collection, place >= 0, place < collection.elements.count else { return writer.nullMember("value") }
        try Problem.mapping { () throws(StorageError) in
            let element = try collection.elements.element(at: place)
            if let entry = element.entry, case .entries = shape {
                writer.key("entry")
                ElementWriter.write(entry, to: &writer)
            }
            if let plan = collection.linked, case .link(_, let key) = element.value, let row = try plan.table.find(key) {
                writer.member("key", text: try KeyText.text(of: row, in: plan.table))
                guard definition.include == .objects else { return }
                writer.key("object")
                try encoder.write(row, plan, to: &writer)
            } else {
                writer.key("value")
                try encoder.writeElement(element.value, of: collection.member, to: &writer)
            }
        }
    }

    // MARK: - Properties

    /// The names of columns of the class that rows have.
    func names(of columns: [ColumnKey]) -> [String] { columns.compactMap { objects?.table.column($0)?.name } }

    /// The value of one property of an object as it is here, with stubs for links; null when there is no such object.
    func writeValue(of column: ColumnKey, _ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        guard let objects, let name = objects.table.column(column)?.name,
            let row = try Problem.mapping({ () throws(StorageError) in try objects.finder.find(key) }),
            let member = try planned(objects.table, PathTree([name]), PathTree()).members.first
        else { return writer.null() }
        try Problem.mapping { () throws(StorageError) in try encoder.writeValue(of: member, row, to: &writer) }
    }

    /// The column of an observed object's class.
    func column(_ key: ColumnKey) -> Column? { objects?.table.column(key) }
}
