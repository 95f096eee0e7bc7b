// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Writes what of a change set is the same for all who receive it: everything behind `from`.
struct ChangeEncoder {
    let definition: SubscriptionDefinition
    let shape: ResolvedSubscription.Shape
    let names: BacklinkNames
    /// What one change set may cost. One that costs more is not told: those who read are shown the whole state, part by part.
    let budget: WorkBudget

    /// What stands behind `{"sub":…,"from":…`.
    struct Encoded {
        let tail: OutputBuffer
        let count: Int?
        let isLast: Bool
    }

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
        case .unknown: throw Problem(.internalError, "a change that is not known cannot be told")
        }
        return Encoded(tail: ChangeEncoder.end(writer), count: count, isLast: isLast)
    }

    /// A set that says nothing, for those who know already.
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

    private var skippedArrays: [StaticString] {
        switch shape {
        case .sections: return ["sectionsToDelete", "sectionsToInsert", "deletions", "insertions", "modifications"]
        case .entries: return ["deletions", "insertions", "modifications"]
        default: return ["deletions", "insertions", "modifications", "moves"]
        }
    }

    // MARK: - Pieces

    /// Begins behind `from`, so with a comma.
    private func begin(_ token: String) -> JSONWriter {
        let buffer = OutputBuffer(capacity: 256)
        buffer.append(",\"to\":" as StaticString)
        buffer.append(jsonString: token)
        var writer = JSONWriter(buffer)
        writer.noteValue()
        return writer
    }

    private static func end(_ writer: JSONWriter) -> OutputBuffer {
        writer.buffer.append(UInt8(ascii: "}"))
        writer.buffer.append(ChangeSet.lineEnd)
        return writer.buffer
    }

    private static func emptyArray(_ writer: inout JSONWriter) {
        writer.beginArray()
        writer.endArray()
    }

    private static let unitsPerRow = 8

    private var showsRows: Bool { definition.include != .none }

    private func writeCount(_ count: Int, _ writer: inout JSONWriter) { number("count", count, &writer) }

    private func number(_ name: StaticString, _ value: Int, _ writer: inout JSONWriter) {
        writer.key(name)
        writer.integer(value, definition.representation)
    }

    private func rowWriter(_ version: Version) throws(Problem) -> RowWriter {
        try RowWriter(version, definition, shape: shape, names: names, budget: budget)
    }

    /// An array of objects, one for each index of a sequence.
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

    private func flags(isCleared: Bool, isDeleted: Bool, _ writer: inout JSONWriter) {
        if isCleared { writer.member("cleared", bool: true) }
        if isDeleted { writer.member("deleted", bool: true) }
    }

    // MARK: - Rows

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

    /// `key`, `properties`, `object`, in this order.
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

    private func write(_ change: ValuesChange, _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
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

    private func write(_ steps: [KeyPathStep], _ event: ObservationEvent, _ writer: inout JSONWriter) throws(Problem) {
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

    /// The name that the configuration gives to linking objects, or the long form.
    private func linkingName(of target: TableKey, _ origin: TableKey, _ column: ColumnKey, in snapshot: Snapshot) -> String {
        guard let table = snapshot.table(origin), let className = table.className, let property = table.column(column)?.name
        else {
            return "@links"
        }
        let targetName = snapshot.table(target)?.className ?? ""
        return names.name(of: targetName, origin: className, property: property) ?? "@links.\(className).\(property)"
    }

    // MARK: - Sections

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

    private func write(_ tables: [TableKey], _ event: ObservationEvent, _ writer: inout JSONWriter) {
        guard showsRows else { return }
        let classes = tables.compactMap { event.to.snapshot.table($0)?.className ?? event.from.snapshot.table($0)?.className }
        writer.key("classes")
        writer.beginArray()
        for name in classes.sorted() { writer.string(name) }
        writer.endArray()
    }
}

extension SectionIdentity {
    /// JSON of the key's type.
    func write(_ representation: Representation, to writer: inout JSONWriter) {
        var values = ValueWriter(representation)
        SectionKey(self).write(&values, to: &writer)
    }
}
