// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Vectors: results")
struct ResultVectorTests {
    @Test(arguments: QueryVectors.groups)
    func `every case has the outcome of the reference engine`(_ group: String) throws {
        let vectors = try QueryVectors(group: group)
        #expect(!vectors.cases.isEmpty)
        var failures: [String] = []
        for suite in vectors.suites {
            let cases = suite.cases.filter { !$0.isParseOnly }
            guard !cases.isEmpty else { continue }
            let snapshot = try Snapshot(file: try RealmFile(path: suite.realmPath))
            for entry in cases {
                if let failure = failure(of: entry, in: snapshot) { failures.append("\(entry.label)\n      \(failure)") }
            }
        }
        print("\(group): \(vectors.cases.count) cases, \(failures.count) failed")
        #expect(failures.isEmpty, "\(failures.count) of \(vectors.cases.count) failed:\n\(failures.joined(separator: "\n"))")
    }

    /// What is wrong with the outcome of a case; nil when it is right.
    private func failure(of entry: QueryVectors.Case, in snapshot: Snapshot) -> String? {
        do {
            guard let table = snapshot.classTable(named: entry.className) else { return "no class '\(entry.className)'" }
            let arguments = try entry.arguments.map { try VectorArguments.argument($0, in: snapshot) }
            let query = try Query.parse(entry.query).bind(
                to: table, in: snapshot, arguments: arguments, mapping: VectorArguments.mapping(entry.json["mapping"]))
            let keys = try query.execute()
            if let error = entry.error { return "expected \(error), got \(keys.count) objects" }
            return try mismatch(keys, entry, query)
        } catch let error as QueryError {
            if let category = error.category, category.rawValue == entry.error { return nil }
            return "expected \(entry.error ?? "\(entry.json["count"]?.integer ?? -1) objects"), got \(error)"
        } catch {
            return "\(error)"
        }
    }

    private func mismatch(_ keys: [ObjectKey], _ entry: QueryVectors.Case, _ query: BoundQuery) throws -> String? {
        let ids = try keys.map { try id(of: $0, in: query.table) }
        let expected = entry.json["keys"]?.elements ?? entry.json["matches"]?.elements
        let count = Int(entry.json["count"]?.integer ?? -1)
        if keys.count != count { return "expected \(count) objects \(expected ?? []), got \(keys.count): \(ids)" }
        if try query.count() != count { return "count is \(try query.count()) instead of \(count)" }
        guard let expected else { return nil }
        let isOrdered = entry.json["keys"] != nil
        let wanted = expected.map(text)
        let found = ids.map(text)
        let agrees = isOrdered ? wanted == found : wanted.sorted() == found.sorted()
        return agrees ? nil : "expected \(wanted), got \(found)"
    }

    private func text(_ json: ParsedJSON) -> String { "\(json)" }

    /// The id by which vectors name an object.
    private func id(of key: ObjectKey, in table: Table) throws -> ParsedJSON {
        guard let primaryKey = table.primaryKey, let row = try table.find(key) else { return .integer(key.rawValue) }
        switch try row.value(primaryKey) {
        case .int(let number): return .integer(number)
        case .string(let bytes): return .string(bytes.string)
        case .objectID(let id): return .object([.init(name: "$oid", value: .string(id.description))])
        case .uuid(let id): return .object([.init(name: "$uuid", value: .string(id.description))])
        default: return .null
        }
    }
}
