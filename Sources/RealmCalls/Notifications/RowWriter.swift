// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Writes rows of a subscription as they are in one version: keys, objects, values and entries.
///
/// It finds the tables and plans once. It is made for one change set or one part of a snapshot, is
/// used by one thread, and keeps the version readable. Where an observed object does not exist in
/// the version, keys are written in their internal form and contents as null.
final class RowWriter {
    let version: Version
    /// The subscription, which decides which parts of an object are written.
    let definition: SubscriptionDefinition
    /// The kind of rows: objects, values, entries or sections.
    let shape: ResolvedSubscription.Shape
    /// The configured names of linking objects.
    private let names: BacklinkNames
    /// Makes plans for objects with selected or expanded properties.
    private let planner: ObjectPlanner
    /// Writes objects and values as JSON, according to a plan.
    private let encoder: ObjectEncoder
    /// The class of rows that are objects, with a finder and a plan; nil for other rows.
    private var objects: (table: Table, finder: ObjectFinder, plan: ObjectPlan)?
    /// The collection whose elements the rows are, with the member to write of an element and, for
    /// links, the plan of the linked objects; nil for other rows.
    private var collection: (elements: Elements, member: ObjectPlan.Member, linked: ObjectPlan?)?

    /// Opens the tables that the rows are read from.
    ///
    /// - Parameters:
    ///   - names: The configured names of linking objects.
    ///   - budget: The limit of the work in time and bytes.
    /// - Throws: The problem of a damaged file, or of `fields` and `expand` that do not fit the schema of the version.
    init(
        _ version: Version, _ definition: SubscriptionDefinition, shape: ResolvedSubscription.Shape,
        names: BacklinkNames,
        budget: WorkBudget
    ) throws(Problem) {
        self.version = version
        self.definition = definition
        self.shape = shape
        self.names = names
        planner = ObjectPlanner(version.snapshot, backlinkNames: names.byClass)
        encoder = ObjectEncoder(version.snapshot, definition.representation, budget)
        switch shape {
        case .objects(let key), .sections(let key): try openTable(key)
        case .object(let object): try openTable(object.table)
        case .values(let property), .entries(let property): try openCollection(property)
        case .realm: break
        }
    }

    /// The contents of the version whose rows are written.
    private var snapshot: Snapshot { version.snapshot }

    /// Finds the class of the rows. Nothing is opened when the version does not have it.
    private func openTable(_ key: TableKey) throws(Problem) {
        guard let table = snapshot.table(key) else { return }
        objects = (table, ObjectFinder(table), try plan(table))
    }

    /// The plan for whole objects, which is shared within the version, or one for the selected and expanded properties.
    private func plan(_ table: Table) throws(Problem) -> ObjectPlan {
        if definition.fields == nil, definition.expand.isEmpty {
            return try PlanCache.of(version).wholeObjects(of: table, in: snapshot)
        }
        let distance = try SelectionParameters.SortTerm.distance(
            shownBy: definition.fields, among: definition.sort, of: table, in: snapshot, mapping: names.mapping)
        return try planned(table, definition.fields.map { PathTree($0) }, PathTree(definition.expand), distance: distance)
    }

    /// Makes a plan for writing objects of a class, and turns a path that names no property into a problem.
    private func planned(
        _ table: Table, _ fields: PathTree?, _ expand: PathTree, distance: DistancePath? = nil
    ) throws(Problem) -> ObjectPlan {
        do throws(ObjectPlanner.UnknownPath) {
            return try planner.plan(table, fields: fields, expand: expand, distance: distance)
        } catch {
            throw Problem(error)
        }
    }

    /// Finds the collection whose elements the rows are. Nothing is opened when its owner was
    /// deleted, because there is nothing to write then.
    private func openCollection(_ property: ObservedProperty) throws(Problem) {
        guard let table = snapshot.table(property.object.table), let column = table.column(property.column),
            let row = try Problem.stored(table.find(property.object.key))
        else { return }
        let elements = try Problem.stored(Elements(column, of: row, in: table, snapshot))
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

    /// Writes the member `key` of a row that is an object.
    ///
    /// - Parameters:
    ///   - key: The internal key of the object.
    ///   - writer: The writer, inside of the object of the row.
    func writeKey(_ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        writer.key("key")
        writer.string(try keyText(key))
    }

    /// Returns the key of an object as text: its primary key, or its internal key when the object
    /// does not exist in this version or its class has no primary key.
    func keyText(_ key: ObjectKey) throws(Problem) -> String {
        guard let objects else { return KeyText.text(key) }
        return try Problem.mapping { () throws(StorageError) in
            guard let row = try objects.finder.find(key) else { return KeyText.text(key) }
            return try KeyText.text(of: row, in: objects.table)
        }
    }

    // MARK: - Rows

    /// Writes the members of a row that is an object: its key, and the object if the subscription includes objects.
    ///
    /// - Parameters:
    ///   - writer: The writer, inside of the object of the row.
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

    /// Whether the rows are embedded objects, which are written as values although the hub reports them by key.
    var rowsAreValues: Bool {
        if case .values = shape { return true }
        return false
    }

    /// Writes the member `value` of a row that is an embedded object.
    func writeEmbedded(_ table: TableKey, _ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        writer.key("value")
        guard let collection else { return writer.null() }
        try Problem.stored(encoder.writeElement(.link(table, key), of: collection.member, to: &writer))
    }

    /// Writes the member `object` if the subscription includes objects; null when the object does not exist in this version.
    func writeObject(_ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        guard definition.include == .objects, let objects else { return }
        try Problem.mapping { () throws(StorageError) in
            writer.key("object")
            guard let row = try objects.finder.find(key) else { return writer.null() }
            try encoder.write(row, objects.plan, to: &writer)
        }
    }

    /// Writes the members of a row that is an element of a collection: its entry in a dictionary,
    /// and then its value, or the key and object that it links to.
    ///
    /// - Parameters:
    ///   - place: The index of the element in the collection. One that does not exist is written as
    ///     null.
    ///   - writer: The writer, inside of the object of the row.
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

    /// Returns the names of properties by their column keys, for the class of the rows. Columns
    /// that the version does not have are left out.
    func names(of columns: [ColumnKey]) -> [String] { columns.compactMap { objects?.table.column($0)?.name } }

    /// Writes the value of one property of an object, with links as stubs of their class and key;
    /// null when the object does not exist in this version.
    func writeValue(of column: ColumnKey, _ key: ObjectKey, to writer: inout JSONWriter) throws(Problem) {
        guard let objects, let name = objects.table.column(column)?.name,
            let row = try Problem.stored(objects.finder.find(key)),
            let member = try planned(objects.table, PathTree([name]), PathTree()).members.first
        else { return writer.null() }
        try Problem.stored(encoder.writeValue(of: member, row, to: &writer))
    }

    /// Returns the column of the rows' class that has a key; nil when there is none.
    func column(_ key: ColumnKey) -> Column? { objects?.table.column(key) }
}
