// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes change sets as JSON: the part that is the same for all subscribers of a feed.
///
/// A change set begins with the name of the subscription and the position `from`, which differ from
/// subscriber to subscriber. Everything after that is written once, by the feed, on the thread of
/// the observation hub. A value is made for one change set.
struct ChangeEncoder {
    /// The subscription, which decides which parts of a row are written.
    let definition: SubscriptionDefinition
    /// The kind of rows: objects, values, entries or sections.
    let shape: ResolvedSubscription.Shape
    /// The names of linking objects that the configuration of the realm gives, used in change sets.
    let names: BacklinkNames
    /// The budget in time and bytes of one change set.
    ///
    /// A change set that exceeds it is not delivered: the feed is reset, and its subscribers get the contents again, part by
    /// part.
    let budget: WorkBudget

    /// A change set in JSON without its first two members, `sub` and `from`.
    struct Encoded {
        /// The text from the comma before `to` up to the line break that ends an event.
        let tail: OutputBuffer
        /// The number of rows after the change; nil for an object and for a whole realm.
        let count: Int?
        /// Whether the observed object or collection was deleted, so that no change set follows.
        let isLast: Bool
    }

    /// Encodes one event of the observation hub.
    ///
    /// - Parameter event: The difference between two versions, both of which are still readable.
    /// - Returns: The text, with the facts that the feed has to know about it.
    /// - Throws: A problem when the file is damaged at a row of the change, when the budget is
    ///   exceeded, or for a change of unknown content.
    /// - Complexity: O(rows in the change), each of which is read and written as a whole object
    ///   where the subscription includes objects.
    func encode(_ event: ObservationEvent) throws(Problem) -> Encoded {
        var writer = begin(event.to.tokenText)
        let count: Int?
        var isLast = false
        switch event.change {
        case .rows(let change):
            count = change.count
            isLast = change.isLast || change.changes.isRootDeleted
            try write(change, event, &writer)
        case .values(let change):
            count = change.count
            isLast = change.changes.isRootDeleted
            try write(change, event, &writer)
        case .dictionary(let change):
            count = change.count
            isLast = change.isRootDeleted
            try write(change, event, &writer)
        case .object(let steps):
            count = nil
            try write(steps, event, &writer)
        case .objectDeleted:
            count = nil
            isLast = true
            writer.member("deleted", bool: true)
        case .sections(let change):
            count = change.count
            try write(change, event, &writer)
        case .realm(let tables):
            count = nil
            write(tables, event, &writer)
        case .unknown: throw Problem(.internalError, "a change of unknown content cannot be encoded")
        }
        return Encoded(tail: ChangeEncoder.end(writer), count: count, isLast: isLast)
    }

    /// Encodes an empty change set with `"skipped":true`, for a subscription that asked not to be notified of a write.
    ///
    /// - Parameters:
    ///   - token: The version token of that write.
    ///   - count: The number of rows, which the write may have changed; nil is written as 0.
    /// - Returns: The text after `from`.
    func skipped(_ token: String, count: Int?) -> OutputBuffer {
        var writer = begin(token)
        writer.member("skipped", bool: true)
        switch shape {
        case .realm:
            writer.key("classes")
            ChangeEncoder.emptyArray(&writer)
        case .object:
            guard definition.include != .none else { break }
            writer.key("properties")
            ChangeEncoder.emptyArray(&writer)
        case .objects, .values, .entries, .sections:
            writeCount(count ?? 0, &writer)
            guard definition.include != .none else { break }
            for name in skippedArrays {
                writer.key(name)
                ChangeEncoder.emptyArray(&writer)
            }
        }
        return ChangeEncoder.end(writer)
    }

    /// The names of the arrays that a change set of this shape always has.
    private var skippedArrays: [StaticString] {
        switch shape {
        case .sections: return ["sectionsToDelete", "sectionsToInsert", "deletions", "insertions", "modifications"]
        case .entries: return ["deletions", "insertions", "modifications"]
        default: return ["deletions", "insertions", "modifications", "moves"]
        }
    }

    // MARK: - Pieces

    /// Begins the text after `from`, which is why it starts with a comma.
    private func begin(_ token: String) -> JSONWriter {
        let buffer = OutputBuffer(capacity: 256)
        buffer.append(",\"to\":" as StaticString)
        buffer.append(jsonString: token)
        var writer = JSONWriter(buffer)
        writer.noteValue()
        return writer
    }

    /// Ends the JSON object of a change set and the event that carries it.
    private static func end(_ writer: JSONWriter) -> OutputBuffer {
        writer.buffer.append(UInt8(ascii: "}"))
        writer.buffer.append(ChangeSet.lineEnd)
        return writer.buffer
    }

    /// Writes an empty JSON array, `[]`.
    private static func emptyArray(_ writer: inout JSONWriter) {
        writer.beginArray()
        writer.endArray()
    }

    /// The units of the work budget that one row costs.
    private static let unitsPerRow = 8

    private var showsRows: Bool { definition.include != .none }

    /// Writes the member `count`, the number of rows after the change.
    private func writeCount(_ count: Int, _ writer: inout JSONWriter) { number("count", count, &writer) }

    /// Writes an integer member, as a string if the client wants integers as strings.
    private func number(_ name: StaticString, _ value: Int, _ writer: inout JSONWriter) {
        writer.key(name)
        writer.integer(value, definition.representation)
    }

    /// Makes a writer for rows as they are in a version. Deleted rows are read in the version
    /// before, all others in the version after.
    private func rowWriter(_ version: Version) throws(Problem) -> RowWriter {
        try RowWriter(version, definition, shape: shape, names: names, budget: budget)
    }

    /// Writes an array of objects, one for each index of a sequence, and charges each to the budget.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - count: The number of objects.
    ///   - writer: The writer, inside of an object.
    ///   - body: Writes the members of the object at an index.
    /// - Throws: The errors of `body`, and the problem when the budget is exceeded.
    private func array(
        _ name: StaticString, count: Int, to writer: inout JSONWriter,
        _ body: (Int, inout JSONWriter) throws(Problem) -> Void
    ) throws(Problem) {
        writer.key(name)
        writer.beginArray()
        for index in 0..<count {
            try Problem.mapping { () throws(StorageError) in
                try budget.spend(ChangeEncoder.unitsPerRow)
                try budget.requireRoom(for: writer.count)
            }
            writer.beginObject()
            try body(index, &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Writes the members `cleared` and `deleted`, each only when it is true.
    private func flags(isCleared: Bool, isDeleted: Bool, _ writer: inout JSONWriter) {
        if isCleared { writer.member("cleared", bool: true) }
        if isDeleted { writer.member("deleted", bool: true) }
    }

    // MARK: - Rows

    /// Writes the change of a sequence of objects: results, lists and sets of objects, and linking objects. Deletions have the
    /// key at the old index, insertions and modifications the object at the new index.
    private func write(_ change: RowsChange, _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
        writeCount(change.count, &writer)
        let changes = change.changes
        if showsRows {
            let old = try rowWriter(event.from)
            let new = try rowWriter(event.to)
            try array("deletions", count: changes.deletions.count, to: &writer) { (index, writer) throws(Problem) in
                number("index", changes.deletions[index], &writer)
                if !new.rowsAreValues { try old.writeKey(change.deletedKeys[index], to: &writer) }
            }
            try array("insertions", count: changes.insertions.count, to: &writer) { (index, writer) throws(Problem) in
                number("index", changes.insertions[index], &writer)
                try new.writeObjectMembers(change.insertedKeys[index], of: change.table, to: &writer)
            }
            try array("modifications", count: changes.modifications.count, to: &writer) { (index, writer) throws(Problem) in
                number("oldIndex", changes.modifications[index], &writer)
                number("index", changes.modificationsNew[index], &writer)
                if new.rowsAreValues { return try new.writeEmbedded(change.table, change.modifiedKeys[index], to: &writer) }
                try writeModified(change.modifiedKeys[index], columns: change.modifiedColumns[index], in: new, to: &writer)
            }
            try array("moves", count: changes.moves.count, to: &writer) { (index, writer) throws(Problem) in
                number("from", changes.moves[index].from, &writer)
                number("to", changes.moves[index].to, &writer)
                if !new.rowsAreValues { try new.writeKey(change.moveKeys[index], to: &writer) }
            }
        }
        flags(isCleared: changes.isCleared, isDeleted: changes.isRootDeleted, &writer)
    }

    /// Writes the members `key`, `properties` and `object` of a modified row, in this order.
    ///
    /// - Parameters:
    ///   - rows: The writer for the version after the change.
    ///   - writer: The writer, inside of the object of the row.
    private func writeModified(
        _ key: ObjectKey, columns: [ColumnKey], in rows: RowWriter, to writer: inout JSONWriter
    ) throws(Problem) {
        try rows.writeKey(key, to: &writer)
        writer.key("properties")
        writer.beginArray()
        for name in rows.names(of: columns) { writer.string(name) }
        writer.endArray()
        try rows.writeObject(key, to: &writer)
    }

    // MARK: - Values

    /// Writes the change of a sequence of values, whose rows have an index and a value and no key.
    private func write(_ change: ObservedChange.Values, _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
        writeCount(change.count, &writer)
        let changes = change.changes
        if showsRows {
            let rows = try rowWriter(event.to)
            try array("deletions", count: changes.deletions.count, to: &writer) { (index, writer) throws(Problem) in
                number("index", changes.deletions[index], &writer)
            }
            try array("insertions", count: changes.insertions.count, to: &writer) { (index, writer) throws(Problem) in
                number("index", changes.insertions[index], &writer)
                try rows.writeElementMembers(at: change.insertedPlaces[index], to: &writer)
            }
            try array("modifications", count: changes.modifications.count, to: &writer) { (index, writer) throws(Problem) in
                number("oldIndex", changes.modifications[index], &writer)
                number("index", changes.modificationsNew[index], &writer)
                try rows.writeElementMembers(at: change.modifiedPlaces[index], to: &writer)
            }
            try array("moves", count: changes.moves.count, to: &writer) { (index, writer) throws(Problem) in
                number("from", changes.moves[index].from, &writer)
                number("to", changes.moves[index].to, &writer)
            }
        }
        flags(isCleared: changes.isCleared, isDeleted: changes.isRootDeleted, &writer)
    }

    /// Writes the change of a dictionary, whose rows have the name of their entry instead of an index.
    private func write(_ change: DictionaryChange, _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
        writeCount(change.count, &writer)
        if showsRows {
            let rows = try rowWriter(event.to)
            try array("deletions", count: change.deleted.count, to: &writer) { (index, writer) throws(Problem) in
                writer.key("entry")
                ElementWriter.write(change.deleted[index], to: &writer)
            }
            for (name, places) in [
                ("insertions" as StaticString, change.insertedPlaces), ("modifications", change.modifiedPlaces),
            ] {
                try array(name, count: places.count, to: &writer) { (index, writer) throws(Problem) in
                    try rows.writeElementMembers(at: places[index], to: &writer)
                }
            }
        }
        flags(isCleared: change.isCleared, isDeleted: change.isRootDeleted, &writer)
    }

    // MARK: - Objects

    /// Writes the change of a single object: the name of each changed property with its old and its new value, and the whole
    /// object. Of collections and linking objects only the name is reported.
    private func write(_ steps: [KeyPathFilter.Step], _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
        guard showsRows, case .object(let object) = shape else { return }
        let old = try rowWriter(event.from)
        let new = try rowWriter(event.to)
        try array("properties", count: steps.count, to: &writer) { (index, writer) throws(Problem) in
            switch steps[index] {
            case .property(_, let key):
                guard let column = new.column(key) else { return }
                writer.member("name", text: column.name)
                guard column.collection == nil else { return writer.member("collection", bool: true) }
                writer.key("oldValue")
                try old.writeValue(of: key, object.key, to: &writer)
                writer.key("newValue")
                try new.writeValue(of: key, object.key, to: &writer)
            case .linkingObjects(_, let origin, let key):
                writer.member("name", text: linkingName(of: object.table, origin, key, in: event.to.snapshot))
                writer.member("linkingObjects", bool: true)
            }
        }
        try new.writeObject(object.key, to: &writer)
    }

    /// The name of linking objects: the configured one, or the long form `@links.Class.property`.
    private func linkingName(of target: TableKey, _ origin: TableKey, _ column: ColumnKey, in snapshot: Snapshot) -> String {
        guard let table = snapshot.table(origin), let className = table.className, let property = table.column(column)?.name
        else {
            return "@links"
        }
        let targetName = snapshot.table(target)?.className ?? ""
        return names.name(of: targetName, origin: className, property: property) ?? "@links.\(className).\(property)"
    }

    // MARK: - Sections

    /// Writes the change of a result in sections: the sections that were deleted and inserted, and
    /// the rows with their section and index.
    private func write(_ change: SectionedChange, _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
        writeCount(change.count, &writer)
        guard showsRows else { return }
        let changes = change.changes
        let old = try rowWriter(event.from)
        let new = try rowWriter(event.to)
        try writeSections("sectionsToDelete", changes.sectionsToDelete, change.deletedSections, to: &writer)
        try writeSections("sectionsToInsert", changes.sectionsToInsert, change.insertedSections, to: &writer)
        try array("deletions", count: changes.deletions.count, to: &writer) { (index, writer) throws(Problem) in
            number("section", changes.deletions[index].section, &writer)
            number("index", changes.deletions[index].row, &writer)
            try old.writeKey(change.deletedKeys[index], to: &writer)
        }
        try array("insertions", count: changes.insertions.count, to: &writer) { (index, writer) throws(Problem) in
            number("section", changes.insertions[index].section, &writer)
            number("index", changes.insertions[index].row, &writer)
            try new.writeObjectMembers(change.insertedKeys[index], of: change.table, to: &writer)
        }
        try array("modifications", count: changes.modifications.count, to: &writer) { (index, writer) throws(Problem) in
            let places = changes.modifications[index]
            number("oldSection", places.old.section, &writer)
            number("oldIndex", places.old.row, &writer)
            number("section", places.new.section, &writer)
            number("index", places.new.row, &writer)
            try writeModified(change.modifiedKeys[index], columns: change.modifiedColumns[index], in: new, to: &writer)
        }
    }

    /// Writes an array of sections, each with its index and key.
    private func writeSections(
        _ name: StaticString, _ sections: [Int], _ keys: [SectionIdentity], to writer: inout JSONWriter
    ) throws(Problem) {
        try array(name, count: sections.count, to: &writer) { (index, writer) throws(Problem) in
            number("section", sections[index], &writer)
            writer.key("key")
            keys[index].write(definition.representation, to: &writer)
        }
    }

    // MARK: - The realm

    /// Writes the names of the classes that a commit has changed, sorted. A class that the commit removed has its old name.
    private func write(_ tables: [TableKey], _ event: ObservationEvent, _ writer: inout JSONWriter) {
        guard showsRows else { return }
        let classes = tables.compactMap { event.to.snapshot.table($0)?.className ?? event.from.snapshot.table($0)?.className }
        writer.key("classes")
        writer.beginArray()
        for name in classes.sorted() { writer.string(name) }
        writer.endArray()
    }
}

/// The form of the key of a section in JSON.
extension SectionIdentity {
    /// Writes the key of the section as a value of its type.
    ///
    /// - Parameters:
    ///   - representation: The client's choice for integers and wrapped values.
    ///   - writer: The writer, at a place where a value may follow.
    func write(_ representation: Representation, to writer: inout JSONWriter) {
        var values = ValueWriter(representation)
        SectionKey(self).write(&values, to: &writer)
    }
}
