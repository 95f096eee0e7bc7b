// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Notes as bytes, which are the second part of a record.
extension CommitNotes {
    /// The kinds of changes as the bytes name them.
    private enum Kind: UInt8 {
        case created = 1, deleted, modified, schema
        case insert, set, erase, move, clear
    }

    func write(to writer: inout RecordWriter) {
        writer.number(UInt64(skips.count))
        for skip in skips { writer.text(skip) }
        writer.number(UInt64(changes.reduce(0) { $0 + $1.objectCount }))
        for change in changes { CommitNotes.write(change, to: &writer) }
    }

    private static func write(_ change: ObjectChange, to writer: inout RecordWriter) {
        switch change {
        case .created(let table, let object): write(.created, table, object, to: &writer)
        case .createdRun(let table, let first, let count):
            for object in ObjectChange.keys(of: (first, count)) { write(.created, table, object, to: &writer) }
        case .deleted(let table, let object): write(.deleted, table, object, to: &writer)
        case .modified(let table, let object, let column):
            write(.modified, table, object, to: &writer)
            writer.signed(column.rawValue)
        case .schema(let table):
            writer.byte(Kind.schema.rawValue)
            writer.number(UInt64(table.rawValue))
        case .collection(let table, let object, let column, let operation):
            let (kind, numbers) = parts(of: operation)
            write(kind, table, object, to: &writer)
            writer.signed(column.rawValue)
            for number in numbers { writer.signed(Int64(number)) }
        }
    }

    /// Writes what the changes of objects have in common.
    private static func write(_ kind: Kind, _ table: TableKey, _ object: ObjectKey, to writer: inout RecordWriter) {
        writer.byte(kind.rawValue)
        writer.number(UInt64(table.rawValue))
        writer.signed(object.rawValue)
    }

    /// Returns the kind of an operation on a collection, and its numbers.
    private static func parts(of operation: CollectionChange) -> (Kind, [Int]) {
        switch operation {
        case .insert(let index): return (.insert, [index])
        case .set(let index): return (.set, [index])
        case .erase(let index): return (.erase, [index])
        case .move(let from, let to): return (.move, [from, to])
        case .clear(let count): return (.clear, [count])
        }
    }

    /// Reads notes.
    ///
    /// - Throws: `.corrupt` for bytes that are no notes.
    init(from reader: inout RecordReader) throws(StorageError) {
        skips = []
        for _ in 0..<(try reader.count()) { skips.append(try reader.text()) }
        changes = []
        let count = try reader.count()
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try CommitNotes.change(from: &reader)) }
    }

    private static func change(from reader: inout RecordReader) throws(StorageError) -> ObjectChange {
        guard let kind = Kind(rawValue: try reader.byte()), let number = UInt32(exactly: try reader.number()) else {
            throw RecordReader.damaged("a change has an unknown kind")
        }
        let table = TableKey(number)
        if kind == .schema { return .schema(table) }
        let object = ObjectKey(try reader.signed())
        switch kind {
        case .created: return .created(table, object)
        case .deleted: return .deleted(table, object)
        default: break
        }
        let column = ColumnKey(try reader.signed())
        if kind == .modified { return .modified(table, object, column) }
        return .collection(table, object, column, try operation(kind, from: &reader))
    }

    /// Reads the numbers of an operation on a collection.
    private static func operation(_ kind: Kind, from reader: inout RecordReader) throws(StorageError) -> CollectionChange {
        let first = Int(truncatingIfNeeded: try reader.signed())
        switch kind {
        case .insert: return .insert(first)
        case .set: return .set(first)
        case .erase: return .erase(first)
        case .clear: return .clear(count: first)
        default: return .move(from: first, to: Int(truncatingIfNeeded: try reader.signed()))
        }
    }
}
