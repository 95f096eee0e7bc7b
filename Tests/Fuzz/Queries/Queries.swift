// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmQuery
import RealmStorage

/// Parses the bytes as a query, and binds and runs what is one.
@_cdecl("LLVMFuzzerTestOneInput")
public func query(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    guard let query = try? Query.parse(text), let realm = SampleRealm.shared else { return 0 }
    guard let bound = try? query.bind(to: realm.table, in: realm.snapshot) else { return 0 }
    _ = try? bound.execute(ResultWindow(limit: 10))
    return 0
}

/// A class with a property of every type, and a few objects.
private final class SampleRealm: Sendable {
    let snapshot: Snapshot
    let table: Table

    static let shared = try? SampleRealm()

    private init() throws {
        let transaction = try FileStore.inMemory().beginTransaction()
        let key = try transaction.createTable("class_A")
        let types: [(String, ColumnType)] = [
            ("i", .int), ("b", .bool), ("s", .string), ("d", .double), ("f", .float), ("m", .mixed), ("t", .timestamp),
            ("n", .decimal), ("x", .binary), ("o", .objectID), ("u", .uuid),
        ]
        for (name, type) in types {
            try transaction.addColumn(ColumnDefinition(name, type, isNullable: true), to: key)
            try transaction.addColumn(ColumnDefinition(name + "s", type, isNullable: true, collection: .list), to: key)
        }
        try transaction.addColumn(ColumnDefinition("l", .link, target: key), to: key)
        try transaction.addColumn(ColumnDefinition("ls", .link, collection: .list, target: key), to: key)
        try transaction.addColumn(ColumnDefinition("md", .mixed, collection: .dictionary), to: key)
        for _ in 0..<3 { _ = try transaction.createObject(in: key) }
        snapshot = try transaction.commit()
        guard let table = snapshot.table(key) else { throw StorageError.limit("no table") }
        self.table = table
    }
}
