// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes objects as documents of MongoDB in canonical Extended JSON, version 2.
///
/// `_id` comes first: the primary key, or else the key of the object. A link is the `_id` of its target;
/// in Mixed, where the class is not known otherwise, it is a `DBRef`. One thread at a time uses it.
final class MongoWriter {
    /// The version that is read.
    private let snapshot: Snapshot
    /// The work that may be done.
    private let budget: WorkBudget
    private var values = ValueWriter(Representation(format: .ejson(isRelaxed: false)))
    /// The nesting depth of values at the moment.
    private var nesting = 0
    /// The deepest nesting of MongoDB is less than what realms permit.
    private static let maximumNesting = 128

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - snapshot: The version, as its reader sees it.
    ///   - budget: The work that may be done.
    init(_ snapshot: Snapshot, _ budget: WorkBudget) {
        self.snapshot = snapshot
        self.budget = budget
    }

    /// Writes the document of an object.
    ///
    /// - Parameters:
    ///   - writer: The writer, in which a value is due.
    func write(_ row: Row, of table: Table, to writer: inout JSONWriter) throws(StorageError) {
        writer.beginObject()
        // A property of this name that is no key gives way to the identity of the document.
        let own = table.kind == .embedded ? nil : table.column(named: "_id")
        if table.kind != .embedded {
            writer.key("_id")
            try writeIdentity(of: row, in: table, to: &writer)
        }
        try budget.spend(table.columns.count)
        for column in table.columns where column.key != own?.key || table.primaryKey?.key != column.key {
            try budget.requireRoom(for: writer.count)
            writer.key(column.key == own?.key ? "_id_" : MemberNaming.documents.member(column.name))
            try writeMember(column, row, &writer)
        }
        writer.endObject()
    }

    private func writeIdentity(of row: Row, in table: Table, to writer: inout JSONWriter) throws(StorageError) {
        guard let column = table.primaryKey else { return values.write(.int(row.key.rawValue), to: &writer) }
        values.write(try row.value(column), to: &writer)
    }

    private func writeMember(_ column: Column, _ row: Row, _ writer: inout JSONWriter) throws(StorageError) {
        switch column.collection {
        case nil: try write(try row.value(column), column, &writer)
        case .list, .set:
            writer.beginArray()
            var elements = try row.list(column, in: snapshot).elements()
            while let element = try elements.next() {
                try budget.spend()
                try budget.requireRoom(for: writer.count)
                try write(element, column, &writer)
            }
            writer.endArray()
        case .dictionary:
            writer.beginObject()
            var entries = try row.dictionary(column, in: snapshot).entries()
            while let entry = try entries.next() {
                try budget.spend()
                try budget.requireRoom(for: writer.count)
                writer.key(MongoWriter.name(of: entry.key))
                try write(entry.value, column, &writer)
            }
            writer.endObject()
        }
    }

    /// Returns the name of an entry.
    private static func name(of key: DictionaryKey) -> String {
        switch key {
        case .text(let bytes): return bytes.validatedString ?? "@b64." + Base64.encode(bytes.array, .url)
        case .integer(let number): return String(number)
        }
    }

    /// Writes a value or an element.
    private func write(_ value: Value, _ column: Column, _ writer: inout JSONWriter) throws(StorageError) {
        try budget.meet(byteCount: value.byteCount)
        switch column.type {
        case .mixed: try writeMixed(value, &writer)
        case .link: try writeLink(value, &writer)
        default: values.write(value, to: &writer)
        }
    }

    /// Writes a link: the document of an embedded object, the `_id` of any other. A hidden target is null.
    private func writeLink(_ value: Value, _ writer: inout JSONWriter) throws(StorageError) {
        guard case .link(let tableKey, let key) = value, let table = snapshot.table(tableKey), let row = try table.find(key)
        else { return writer.null() }
        guard table.kind == .embedded else { return try writeIdentity(of: row, in: table, to: &writer) }
        try descend(row.leaf.node.ref)
        try write(row, of: table, to: &writer)
        nesting -= 1
    }

    /// Counts a value inside another.
    private func descend(_ ref: Ref) throws(StorageError) {
        nesting += 1
        guard nesting <= MongoWriter.maximumNesting else {
            throw .corrupt(ref: ref, reason: "values nested deeper than \(MongoWriter.maximumNesting)")
        }
    }

    private func writeMixed(_ value: Value, _ writer: inout JSONWriter) throws(StorageError) {
        switch value {
        case .link(let tableKey, let key):
            guard let table = snapshot.table(tableKey), let row = try table.find(key) else { return writer.null() }
            writer.beginObject()
            writer.member("$ref", text: table.className ?? table.name)
            writer.key("$id")
            try writeIdentity(of: row, in: table, to: &writer)
            writer.endObject()
        case .list(let root):
            try descend(root)
            writer.beginArray()
            var elements = try ListView(nested: root, space: snapshot.space).elements(within: WalkBudget(snapshot.space))
            while let element = try elements.next() {
                try budget.spend()
                try budget.requireRoom(for: writer.count)
                try writeMixed(element, &writer)
            }
            writer.endArray()
            nesting -= 1
        case .dictionary(let root):
            try descend(root)
            writer.beginObject()
            var entries = try DictionaryView(root: root, space: snapshot.space, fileFormat: snapshot.fileFormat).entries(
                within: WalkBudget(snapshot.space))
            while let entry = try entries.next() {
                try budget.spend()
                try budget.requireRoom(for: writer.count)
                writer.key(MongoWriter.name(of: entry.key))
                try writeMixed(entry.value, &writer)
            }
            writer.endObject()
            nesting -= 1
        // MongoDB knows no 32-bit floats.
        case .float(let number): values.write(.double(Double(number)), to: &writer)
        default: values.write(value, to: &writer)
        }
    }
}
