// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// A view of a part of the objects and properties, compared with a copy in which nothing else is left.
@Suite("Views that hide objects and properties") struct ScopedViewTests {
    /// What a view hides, chosen at random, and the same as changes of a transaction.
    private struct Plan {
        var hiddenClasses: [TableKey] = []
        var hiddenColumns: [TableKey: [Column]] = [:]
        var rules: [TableKey: [RowRule.Alternative]] = [:]

        init(_ base: Snapshot, _ random: inout SeededGenerator) throws {
            for table in base.classes where table.kind == .topLevel {
                if Int.random(in: 0..<7, using: &random) == 0 {
                    hiddenClasses.append(table.key)
                    continue
                }
                hiddenColumns[table.key] = table.columns.filter { column in
                    column.leafIndex != table.primaryKey?.leafIndex && Int.random(in: 0..<9, using: &random) == 0
                }
                guard Int.random(in: 0..<4, using: &random) > 0 else { continue }
                let alternatives = try (0...Int.random(in: 0...1, using: &random)).compactMap { _ in
                    try Plan.alternative(table, base, &random)
                }
                rules[table.key] = alternatives
            }
        }

        /// A query that some objects of a class match, as it compares a property with the value that an object has.
        private static func alternative(
            _ table: Table, _ base: Snapshot, _ random: inout SeededGenerator
        ) throws -> RowRule.Alternative? {
            guard let column = table.columns.filter({ $0.collection == nil && $0.type != .mixed }).randomElement(using: &random),
                table.count > 0, let row = try table.objects.row(at: Int.random(in: 0..<table.count, using: &random))
            else { return nil }
            let operation = ["==", "!=", ">=", "<"].randomElement(using: &random) ?? "=="
            let argument: QueryArgument
            switch try row.value(column) {
            case .int(let number): argument = .int(number)
            case .bool(let flag): argument = .bool(flag)
            case .double(let number): argument = .double(number)
            case .string(let bytes): argument = .stringBytes(bytes.array)
            case .timestamp(let time): argument = .timestamp(time)
            case .link(let table, let key): argument = .link(table, key)
            default: argument = .null
            }
            for operation in [operation, "=="] {
                guard let query = try? Query.parse("\(column.name) \(operation) $0") else { continue }
                let alternative = RowRule.Alternative(query, [argument])
                if RowRule.defect(of: alternative, for: table, in: base) == nil { return alternative }
            }
            return nil
        }

        func view(of base: Snapshot) -> Snapshot {
            var shown: [TableKey: SnapshotScope.Shown] = [:]
            for table in base.classes where !hiddenClasses.contains(table.key) {
                let rule = rules[table.key].map { alternatives in
                    { @Sendable (table: Table, base: Snapshot) in RowRule.make(alternatives, for: table, in: base) }
                }
                shown[table.key] = SnapshotScope.Shown(hidden: hiddenColumns[table.key] ?? [], rule: rule)
            }
            return Snapshot(SnapshotScope(showing: shown, of: base))
        }

        func apply(to transaction: WriteTransaction, _ base: Snapshot) throws {
            for (key, alternatives) in rules.sorted(by: { $0.key < $1.key }) {
                guard let table = base.table(key) else { continue }
                var visible: Set<ObjectKey> = []
                for alternative in alternatives {
                    let query = try alternative.query.bind(to: table, in: base, arguments: alternative.arguments)
                    visible.formUnion(try query.execute())
                }
                for object in try Query.all.bind(to: table, in: base).execute() where !visible.contains(object) {
                    try transaction.deleteObject(object, in: key)
                }
            }
            for (key, columns) in hiddenColumns.sorted(by: { $0.key < $1.key }) {
                for column in columns { try transaction.removeColumn(column.key, of: key) }
            }
            for hidden in hiddenClasses { try transaction.deleteAllObjects(in: hidden) }
            for table in base.classes where !hiddenClasses.contains(table.key) {
                for column in table.columns where column.targetTable.map(hiddenClasses.contains) ?? false {
                    guard !(hiddenColumns[table.key] ?? []).contains(where: { $0 === column }) else { continue }
                    try transaction.removeColumn(column.key, of: table.key)
                }
            }
            for hidden in hiddenClasses {
                for column in base.table(hidden)?.columns ?? [] where column.type == .link {
                    try transaction.removeColumn(column.key, of: hidden)
                }
            }
            for hidden in hiddenClasses { try transaction.removeTable(hidden) }
        }
    }

    @Test(arguments: QueryVectors.groups)
    func `queries have the results that they have in a copy without what is hidden`(_ group: String) throws {
        var failures: [String] = []
        var hiddenCount = 0
        for suite in try QueryVectors(group: group).suites {
            for seed in TestRun.seeds(quick: 2, long: 20) {
                var random = SeededGenerator(seed: seed &* 31 &+ UInt64(suite.cases.count))
                let store = try FileStore(try MemoryBackend(try FileMapping.contents(ofFile: suite.realmPath, limit: 1 << 28)))
                let base = store.current
                let plan = try Plan(base, &random)
                let view = plan.view(of: base)
                let transaction = try store.beginTransaction()
                try plan.apply(to: transaction, base)
                let copy = try transaction.view()
                hiddenCount += base.classes.reduce(0) { $0 + $1.count } - copy.classes.reduce(0) { $0 + $1.count }
                let place = "\(suite.name), seed \(seed)"
                failures += try differences(view, copy).map { "\(place): \($0)" }
                for entry in suite.cases
                where !entry.isParseOnly && base.classTable(named: entry.className)?.kind != .embedded {
                    let seen = outcome(of: entry, in: view)
                    let expected = outcome(of: entry, in: copy)
                    if seen != expected { failures.append("\(place): \(entry.label)\n   seen \(seen)\n   copy \(expected)") }
                }
                transaction.end()
            }
        }
        #expect(failures.isEmpty, "\(failures.count):\n\(failures.prefix(12).joined(separator: "\n"))")
        if group == "links" || group == "store" { #expect(hiddenCount > 0) }
    }

    /// The result of a case as text: keys in order, or the category of the error.
    private func outcome(of entry: QueryVectors.Case, in snapshot: Snapshot) -> String {
        do {
            guard let table = snapshot.classTable(named: entry.className) else { return "no class" }
            let arguments = try entry.arguments.map { try VectorArguments.argument($0, in: snapshot) }
            let query = try Query.parse(entry.query).bind(
                to: table, in: snapshot, arguments: arguments, mapping: VectorArguments.mapping(entry.json["mapping"]))
            let keys = try query.execute()
            let count = try query.count()
            return "\(keys.map(\.rawValue)), \(count)"
        } catch let error as QueryError {
            return "error \(error.category.map { "\($0)" } ?? "\(error)")"
        } catch {
            return "error \(error)"
        }
    }

    // MARK: - Contents

    /// Where what a view shows differs from a copy: classes, properties, and each value.
    private func differences(_ view: Snapshot, _ copy: Snapshot) throws -> [String] {
        // Embedded classes that nothing visible leads to are in the copy, without objects.
        let names = view.classes.filter { $0.kind != .embedded }.compactMap(\.className)
        let expected = copy.classes.filter { $0.kind != .embedded }.compactMap(\.className)
        if names != expected { return ["classes \(names) instead of \(expected)"] }
        var result: [String] = []
        for table in view.classes {
            guard let other = copy.table(table.key) else { return ["\(table.name) is not in the copy"] }
            let seen = try contents(of: table, view)
            let expected = try contents(of: other, copy)
            for (line, wanted) in zip(seen, expected) where line != wanted {
                result.append("\(table.name): \(line)\n   copy \(wanted)")
                if result.count > 5 { return result }
            }
            if seen.count != expected.count { result.append("\(table.name): \(seen.count) lines instead of \(expected.count)") }
            // Embedded objects are compared inside of their owners as well.
            guard table.kind == .topLevel else { continue }
            for column in table.columns where column.collection == nil && column.type != .mixed {
                for text in ["SORT(\(column.name) ASC)", "DISTINCT(\(column.name))"] {
                    let query = "TRUEPREDICATE " + text
                    guard let parsed = try? Query.parse(query) else { continue }
                    let seen = (try? parsed.bind(to: table, in: view).execute()).map { "\($0)" } ?? "error"
                    let wanted = (try? parsed.bind(to: other, in: copy).execute()).map { "\($0)" } ?? "error"
                    if seen != wanted { result.append("\(table.name) \(query): \(seen)\n   copy \(wanted)") }
                }
            }
        }
        return result
    }

    /// A line for each visible object, with the values of all of its properties and the incoming links.
    private func contents(of table: Table, _ snapshot: Snapshot) throws -> [String] {
        var keys: [ObjectKey] = []
        if table.kind == .embedded {
            // What is embedded in a hidden object still lies in the table of the view, which cannot be listed.
            return [table.columns.map(\.name).joined(separator: " ")]
        }
        keys = try Query.all.bind(to: table, in: snapshot).execute()
        var lines = [table.columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")]
        lines.append(
            "incoming \(table.backlinks.map { "\($0.targetTable?.rawValue ?? 0).\($0.oppositeColumn?.leafIndex ?? 0)" }.sorted())"
        )
        for key in keys {
            guard let row = try table.find(key) else {
                lines.append("\(key) is listed, but cannot be found")
                continue
            }
            lines.append(try text(of: row, table, snapshot))
        }
        return lines
    }

    private func text(of row: Row, _ table: Table, _ snapshot: Snapshot) throws -> String {
        var parts = ["\(row.key.rawValue)"]
        for column in table.columns { parts.append("\(column.name)=\(try text(of: column, row, table, snapshot))") }
        for column in table.backlinks {
            let keys = try row.leaf.backlinks(column, row: row.index)
            #expect(try keys.keys().count == keys.count)
            parts.append(
                "@\(column.targetTable?.rawValue ?? 0).\(column.oppositeColumn?.leafIndex ?? 0)=\(try keys.keys().sorted())")
        }
        return parts.joined(separator: " ")
    }

    private func text(of column: Column, _ row: Row, _ table: Table, _ snapshot: Snapshot) throws -> String {
        switch column.collection {
        case nil: return try text(try row.value(column), snapshot)
        case .list, .set:
            let root = try row.leaf.collectionRoot(column, row: row.index)
            let mayHold = column.targetTable.map { snapshot.hasTombstones($0) } ?? false
            let list = try ListView(root: root, space: row.leaf.space, shape: column.elementShape, mayHoldUnresolved: mayHold)
            return try text(list, snapshot)
        case .dictionary:
            let root = try row.leaf.collectionRoot(column, row: row.index)
            let view = try DictionaryView(
                root: root, space: row.leaf.space, keyType: column.dictionaryKeyType, fileFormat: table.fileFormat)
            return try text(view, snapshot)
        }
    }

    private func text(_ list: ListView, _ snapshot: Snapshot) throws -> String {
        var elements: [String] = []
        var cursor = list.elements()
        while let value = try cursor.next() { elements.append(try text(value, snapshot)) }
        #expect(elements.count == list.count)
        for index in 0..<list.count { #expect(try text(try list.value(at: index), snapshot) == elements[index]) }
        return "[" + elements.joined(separator: ",") + "]"
    }

    private func text(_ dictionary: DictionaryView, _ snapshot: Snapshot) throws -> String {
        var entries: [String] = []
        var cursor = dictionary.entries()
        while let entry = try cursor.next() { entries.append("\(entry.key.bytes.array):\(try text(entry.value, snapshot))") }
        return "{" + entries.joined(separator: ",") + "}"
    }

    private func text(_ value: Value, _ snapshot: Snapshot) throws -> String {
        switch value {
        case .string(let bytes): return "text \(bytes.array)"
        case .binary(let bytes): return "data \(bytes.array)"
        case .list(let root): return try text(try ListView(nested: root, space: snapshot.space), snapshot)
        case .dictionary(let root): return try text(try DictionaryView(root: root, space: snapshot.space), snapshot)
        case .link(let key, let object):
            guard let table = snapshot.table(key), table.kind == .embedded else {
                return "link \(key.rawValue) \(object.rawValue)"
            }
            guard let row = try table.find(object) else { return "embedded, lost" }
            return "embedded (" + (try text(of: row, table, snapshot)) + ")"
        default: return "\(value)"
        }
    }
}
