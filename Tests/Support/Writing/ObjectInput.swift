// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
import RealmPlatform
package import RealmStorage

/// Stored objects as inputs that would write them.
package struct ObjectInput {
    private let snapshot: Snapshot

    package init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    package func body(of row: Row, in table: Table) throws -> InputObject {
        InputObject(
            try table.columns.map { column in
                (name: column.name.hasPrefix("$") ? "$" + column.name : column.name, value: try input(column, row))
            })
    }

    private func input(_ column: Column, _ row: Row) throws -> InputValue {
        switch column.collection {
        case nil: return try input(try row.value(column))
        case .list, .set:
            let mayHoldUnresolved = column.targetTable.flatMap { snapshot.table($0) }?.hasTombstones ?? false
            return try input(
                try ListView(
                    root: try row.leaf.collectionRoot(column, row: row.index), space: snapshot.space, shape: column.elementShape,
                    mayHoldUnresolved: mayHoldUnresolved))
        case .dictionary:
            return try input(
                try DictionaryView(
                    root: try row.leaf.collectionRoot(column, row: row.index), space: snapshot.space))
        }
    }

    private func input(_ list: ListView) throws -> InputValue {
        .list(try (0..<list.count).map { try input(try list.value(at: $0)) })
    }

    private func input(_ dictionary: DictionaryView) throws -> InputValue {
        .object(
            InputObject(
                try (0..<dictionary.count).map { index in
                    (name: try dictionary.key(at: index).bytes.string, value: try input(try dictionary.value(at: index)))
                }))
    }

    private func input(_ value: Value) throws -> InputValue {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .int(let number): return .typed(.int(number))
        case .float(let number): return .typed(.float(number))
        case .double(let number): return .typed(.double(number))
        case .string(let bytes): return .typed(.stringBytes(bytes.array))
        case .binary(let bytes): return .typed(.binary(bytes.array))
        case .timestamp(let date): return .typed(.timestamp(date))
        case .decimal(let number): return .typed(.decimal(number))
        case .objectID(let id): return .typed(.objectID(id))
        case .uuid(let id): return .typed(.uuid(id))
        case .link(let key, let object):
            guard let table = snapshot.table(key), let row = try table.find(object) else { return .null }
            if table.kind == .embedded { return .object(try body(of: row, in: table)) }
            return .link(.stub(className: table.className ?? "", key: .objectKey(object)))
        case .list(let root): return try input(try ListView(nested: root, space: snapshot.space))
        case .dictionary(let root): return try input(try DictionaryView(root: root, space: snapshot.space))
        }
    }
}
