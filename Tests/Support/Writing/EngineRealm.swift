// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmEngine
import RealmPlatform
package import RealmStorage
import RealmVerify
internal import Synchronization

/// A database for tests of the engine. Every one is verified when it is finished with.
package final class EngineRealm: Sendable {
    package let database: Database

    /// In memory, with a schema.
    package init(
        _ classes: [ClassInput], limits: WriteLimits = WriteLimits(), backlinkNames: BacklinkNames = .none,
        observation: ObservationLimits = ObservationLimits()
    ) throws {
        var options = Database.OpenOptions()
        options.limits = limits
        options.backlinkNames = backlinkNames
        options.observation = observation
        database = try Database.openInMemory(name: EngineRealm.name, identifier: "test", options)
        if !classes.isEmpty { try write { session in try session.createSchema(SchemaInput(classes: classes)) } }
    }

    /// A file that exists, or a new one.
    package init(
        path: String, _ classes: [ClassInput] = [], key: EncryptionKey? = nil, limits: WriteLimits = WriteLimits(),
        logger: Logger = EngineLog.silent
    ) throws {
        var options = Database.OpenOptions(key: key, mode: .readWrite)
        options.logger = logger
        options.createsMissingFile = true
        options.limits = limits
        database = try Database.open(name: EngineRealm.name, path: path, options)
        if !classes.isEmpty { try write { session in try session.createSchema(SchemaInput(classes: classes)) } }
    }

    /// A database that somebody else has opened.
    package init(_ database: Database) { self.database = database }

    /// A private copy of a file.
    package init(copyOf path: String) throws {
        database = try Database.open(name: EngineRealm.name, path: path, Database.OpenOptions(mode: .copy))
    }

    /// A store with a backend of the test's own.
    package init(
        _ store: FileStore, _ classes: [ClassInput], limits: WriteLimits = WriteLimits(), logger: Logger = EngineLog.silent
    ) throws {
        var options = Database.OpenOptions()
        options.logger = logger
        options.limits = limits
        database = Database.open(name: EngineRealm.name, store: store, options)
        try write { session in try session.createSchema(SchemaInput(classes: classes)) }
    }

    private static let name = RealmName("test")!

    /// Closes the database and checks its last version.
    package func finish() throws {
        let snapshot = database.current.snapshot
        database.close()
        let report = snapshot.verify()
        guard report.isClean else { throw Damaged(errors: report.errors) }
    }

    package struct Damaged: Error, CustomStringConvertible {
        let errors: [String]
        package init(errors: [String]) { self.errors = errors }
        package var description: String { errors.joined(separator: "\n") }
    }

    // MARK: - Writing

    package static func request(seconds: Double = 120) -> WriteRequest { WriteRequest(deadline: .now().adding(seconds: seconds)) }

    /// Writes and waits for the commit.
    @discardableResult
    package func write<Value: Sendable>(
        _ request: WriteRequest = EngineRealm.request(), waiting seconds: Double = 180,
        _ body: @escaping @Sendable (WriteSession) throws -> Value
    ) throws -> WriteReceipt<Value> {
        let answer = Awaited<Result<WriteReceipt<Value>, WriteError>>()
        database.write(request, body) { answer.set($0) }
        return try answer.wait(seconds: seconds).get()
    }

    /// The error of a write that has to fail.
    package func failure<Value: Sendable>(
        _ request: WriteRequest = EngineRealm.request(), _ body: @escaping @Sendable (WriteSession) throws -> Value
    ) -> WriteError? {
        do {
            try write(request, body)
            return nil
        } catch {
            return error as? WriteError
        }
    }

    // MARK: - Reading

    /// An object as text, or nil when there is none.
    package func show(_ className: String, _ key: Int64) throws -> String? {
        let snapshot = database.current.snapshot
        guard let table = snapshot.classTable(named: className), let row = try table.findByPrimaryKey(.int(key)) else {
            return nil
        }
        return try ObjectText(snapshot).text(of: row, in: table)
    }

    package func count(_ className: String) -> Int { database.current.snapshot.classTable(named: className)?.count ?? -1 }
}

/// A value that another thread will give.
package final class Awaited<Value: Sendable>: Sendable {
    private let monitor = Monitor<Value?>(nil)

    package init() {}

    package func set(_ value: Value) { monitor.broadcast { $0 = value } }

    package func wait(seconds: Double = 60) throws -> Value {
        guard let value = monitor.wait(until: .now().adding(seconds: seconds), { $0 }) else { throw Late() }
        return value
    }

    package var isSet: Bool { monitor.withLock { $0 != nil } }

    package struct Late: Error {}
}

/// Objects as short texts, for expectations.
package struct ObjectText {
    private let snapshot: Snapshot

    package init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    package func text(of row: Row, in table: Table) throws -> String {
        var members: [String] = []
        for column in table.columns { members.append("\(column.name):\(try text(of: column, row))") }
        return "{" + members.joined(separator: " ") + "}"
    }

    private func text(of column: Column, _ row: Row) throws -> String {
        switch column.collection {
        case nil: return try text(try row.value(column), column)
        case .list, .set:
            let root = try row.leaf.collectionRoot(column, row: row.index)
            let mayHoldUnresolved = column.targetTable.flatMap { snapshot.table($0) }?.hasTombstones ?? false
            let list = try ListView(
                root: root, space: snapshot.space, shape: column.elementShape, mayHoldUnresolved: mayHoldUnresolved)
            return try text(list, column)
        case .dictionary:
            let root = try row.leaf.collectionRoot(column, row: row.index)
            return try text(try DictionaryView(root: root, space: snapshot.space), column)
        }
    }

    private func text(_ list: ListView, _ column: Column?) throws -> String {
        var elements: [String] = []
        for index in 0..<list.count { elements.append(try text(try list.value(at: index), column)) }
        return "[" + elements.joined(separator: " ") + "]"
    }

    private func text(_ dictionary: DictionaryView, _ column: Column?) throws -> String {
        var entries: [String] = []
        for index in 0..<dictionary.count {
            entries.append("\(try dictionary.key(at: index).bytes.string):\(try text(try dictionary.value(at: index), column))")
        }
        return "{" + entries.joined(separator: " ") + "}"
    }

    private func text(_ value: Value, _ column: Column?) throws -> String {
        switch value {
        case .null: return "null"
        case .bool(let flag): return "\(flag)"
        case .int(let number): return "\(number)"
        case .float(let number): return "\(number)f"
        case .double(let number): return "\(number)"
        case .string(let bytes): return "'\(bytes.string)'"
        case .binary(let bytes): return "<\(bytes.array.map { "\($0)" }.joined(separator: ","))>"
        case .timestamp(let date): return date.rfc3339 ?? "\(date)"
        case .decimal(let number): return "\(number)d"
        case .objectID(let id): return "\(id)"
        case .uuid(let id): return "\(id)"
        case .link(let table, let key): return try link(table, key)
        case .list(let root): return try text(try ListView(nested: root, space: snapshot.space), nil)
        case .dictionary(let root): return try text(try DictionaryView(root: root, space: snapshot.space), nil)
        }
    }

    private func link(_ key: TableKey, _ object: ObjectKey) throws -> String {
        guard let table = snapshot.table(key), let row = try table.find(object) else { return "lost" }
        if table.kind == .embedded { return try text(of: row, in: table) }
        guard let primaryKey = table.primaryKey else { return "\(table.className ?? "")@\(object.rawValue)" }
        return "\(table.className ?? "")#\(try text(try row.value(primaryKey), nil))"
    }
}
