// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// Change sets of the interface, in the words of the vectors.
enum ScenarioChange {
    /// The change set of a kind of observer as a vector would have it; nil for one that says nothing.
    static func vectorForm(_ set: JSONValue, kind: String) -> JSONValue? {
        switch kind {
        case "object": return object(set)
        case "dictionary": return dictionary(set)
        case "sectioned": return sectioned(set)
        default: return sequence(set)
        }
    }

    private static func numbers(_ set: JSONValue, _ list: String, _ member: String) -> JSONValue {
        .array((set[list]?.elements ?? []).map { $0[member] ?? .null })
    }

    private static func sequence(_ set: JSONValue) -> JSONValue? {
        let moves = (set["moves"]?.elements ?? []).map { JSONValue.array([$0["from"] ?? .null, $0["to"] ?? .null]) }
        var members: [(String, JSONValue)] = [
            ("deletions", numbers(set, "deletions", "index")), ("insertions", numbers(set, "insertions", "index")),
            ("modifications", numbers(set, "modifications", "oldIndex")), ("modificationsNew", numbers(set, "modifications", "index")),
            ("moves", .array(moves)),
        ]
        if set["cleared"]?.isTrue == true { members.append(("cleared", .bool(true))) }
        if set["deleted"]?.isTrue == true { members.append(("rootDeleted", .bool(true))) }
        return .object(members)
    }

    private static func dictionary(_ set: JSONValue) -> JSONValue? {
        var members: [(String, JSONValue)] = [
            ("deletedKeys", numbers(set, "deletions", "entry")), ("insertedKeys", numbers(set, "insertions", "entry")),
            ("modifiedKeys", numbers(set, "modifications", "entry")),
        ]
        if set["cleared"]?.isTrue == true { members.append(("cleared", .bool(true))) }
        if set["deleted"]?.isTrue == true { members.append(("rootDeleted", .bool(true))) }
        return .object(members)
    }

    private static func object(_ set: JSONValue) -> JSONValue? {
        if set["deleted"]?.isTrue == true { return .object([("deleted", .bool(true))]) }
        return .object([("properties", .array((set["properties"]?.elements ?? []).map(value)))])
    }

    /// Links by class and primary key.
    private static func value(_ value: JSONValue) -> JSONValue {
        if let link = value["$link"] {
            let key = Int64(link["key"]?.text ?? "") ?? -1
            return .object([("$link", .object([("class", link["class"] ?? .null), ("_id", .integer(key))]))])
        }
        switch value {
        case .array(let elements): return .array(elements.map(self.value))
        case .object(let members): return .object(members.map { ($0.name, self.value($0.value)) })
        default: return value
        }
    }

    private static func sectioned(_ set: JSONValue) -> JSONValue? {
        func places(_ list: String, _ section: String, _ index: String) -> JSONValue {
            .array((set[list]?.elements ?? []).map { .array([$0[section] ?? .null, $0[index] ?? .null]) })
        }
        return .object([
            ("sectionsToDelete", numbers(set, "sectionsToDelete", "section")),
            ("sectionsToInsert", numbers(set, "sectionsToInsert", "section")),
            ("deletions", places("deletions", "section", "index")), ("insertions", places("insertions", "section", "index")),
            ("modifications", places("modifications", "oldSection", "oldIndex")),
        ])
    }
}

/// A client's copy of what a subscription shows, kept up by its change sets alone.
struct ClientCopy: Equatable {
    /// Rows of results, lists and sets; entries of dictionaries with their key in front.
    var rows: [JSONValue] = []
    var sections: [(key: JSONValue, rows: [JSONValue])] = []
    var object: JSONValue?
    var isGone = false

    static func == (left: ClientCopy, right: ClientCopy) -> Bool {
        left.rows == right.rows && left.object == right.object && left.isGone == right.isGone
            && left.sections.map(\.key) == right.sections.map(\.key) && left.sections.map(\.rows) == right.sections.map(\.rows)
    }

    /// Without its places: what a row shows.
    private static func content(_ row: JSONValue) -> JSONValue {
        .object((row.members ?? []).filter {
            !["index", "oldIndex", "section", "oldSection", "properties"].contains($0.name)
        }.map { ($0.name, $0.value) })
    }

    private static func number(_ row: JSONValue, _ name: String) -> Int { Int(row[name]?.integer ?? -1) }

    /// Takes a snapshot, or a part of one.
    mutating func take(snapshot: JSONValue) {
        if let object = snapshot["object"] { self.object = object }
        rows += (snapshot["items"]?.elements ?? []).map(ClientCopy.content)
        for section in snapshot["sections"]?.elements ?? [] {
            let rows = (section["items"]?.elements ?? []).map(ClientCopy.content)
            if sections.last?.key == section["key"] {
                sections[sections.count - 1].rows += rows
            } else {
                sections.append((section["key"] ?? .null, rows))
            }
        }
    }

    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// Applies a change set in the order that the interface prescribes.
    mutating func apply(_ set: JSONValue) throws {
        if set["skipped"]?.isTrue == true { return }
        if set["deleted"]?.isTrue == true { isGone = true }
        if let properties = set["properties"], properties.elements != nil {
            object = set["object"] ?? object
            return
        }
        if set["sectionsToDelete"] != nil { return try applySections(set) }
        if isGone, set["count"] == nil {
            object = nil
            return
        }
        let deletions = set["deletions"]?.elements ?? []
        if (deletions + (set["insertions"]?.elements ?? []) + (set["modifications"]?.elements ?? [])).contains(where: { $0["entry"] != nil }) {
            try applyEntries(set)
        } else {
            try applyRows(set)
        }
        guard rows.count == set["count"]?.integer.map({ Int($0) }) else {
            throw Mismatch(description: "\(rows.count) rows, but the count of \(set.serialized)")
        }
    }

    private mutating func applyRows(_ set: JSONValue) throws {
        for row in (set["deletions"]?.elements ?? []).reversed() {
            let index = ClientCopy.number(row, "index")
            guard rows.indices.contains(index) else { throw Mismatch(description: "no row to delete: \(set.serialized)") }
            if let key = row["key"], key != rows[index]["key"] {
                throw Mismatch(description: "another key is deleted than \(rows[index].serialized): \(set.serialized)")
            }
            rows.remove(at: index)
        }
        for row in set["insertions"]?.elements ?? [] {
            let index = ClientCopy.number(row, "index")
            guard (0...rows.count).contains(index) else { throw Mismatch(description: "no place to insert: \(set.serialized)") }
            rows.insert(ClientCopy.content(row), at: index)
        }
        for row in set["modifications"]?.elements ?? [] {
            let index = ClientCopy.number(row, "index")
            guard rows.indices.contains(index) else {
                throw Mismatch(description: "no row to modify: \(set.serialized)")
            }
            rows[index] = ClientCopy.content(row)
        }
    }

    private mutating func applyEntries(_ set: JSONValue) throws {
        func name(_ row: JSONValue) -> String { row["entry"]?.text ?? "" }
        for row in set["deletions"]?.elements ?? [] {
            guard let index = rows.firstIndex(where: { name($0) == name(row) }) else {
                throw Mismatch(description: "no entry to delete: \(set.serialized)")
            }
            rows.remove(at: index)
        }
        for row in set["insertions"]?.elements ?? [] { rows.append(ClientCopy.content(row)) }
        for row in set["modifications"]?.elements ?? [] {
            guard let index = rows.firstIndex(where: { name($0) == name(row) }) else {
                throw Mismatch(description: "no entry to modify: \(set.serialized)")
            }
            rows[index] = ClientCopy.content(row)
        }
        rows.sort { Array(name($0).utf8).lexicographicallyPrecedes(Array(name($1).utf8)) }
    }

    private mutating func applySections(_ set: JSONValue) throws {
        func list(_ name: String) -> [JSONValue] { set[name]?.elements ?? [] }
        let number = ClientCopy.number
        for row in list("deletions").reversed() {
            guard sections.indices.contains(number(row, "section")),
                sections[number(row, "section")].rows.indices.contains(number(row, "index"))
            else { throw Mismatch(description: "no row to delete: \(set.serialized)") }
            let gone = sections[number(row, "section")].rows.remove(at: number(row, "index"))
            guard gone["key"] == row["key"] else { throw Mismatch(description: "another row is deleted: \(set.serialized)") }
        }
        for section in list("sectionsToDelete").reversed() {
            guard sections.indices.contains(number(section, "section")) else {
                throw Mismatch(description: "no section to delete: \(set.serialized)")
            }
            sections.remove(at: number(section, "section"))
        }
        for section in list("sectionsToInsert") {
            guard (0...sections.count).contains(number(section, "section")) else {
                throw Mismatch(description: "no place for a section: \(set.serialized)")
            }
            sections.insert((section["key"] ?? .null, []), at: number(section, "section"))
        }
        for row in list("insertions") {
            guard sections.indices.contains(number(row, "section")),
                (0...sections[number(row, "section")].rows.count).contains(number(row, "index"))
            else { throw Mismatch(description: "no place to insert: \(set.serialized)") }
            sections[number(row, "section")].rows.insert(ClientCopy.content(row), at: number(row, "index"))
        }
        for row in list("modifications") {
            guard sections.indices.contains(number(row, "section")),
                sections[number(row, "section")].rows.indices.contains(number(row, "index"))
            else { throw Mismatch(description: "no row to modify: \(set.serialized)") }
            sections[number(row, "section")].rows[number(row, "index")] = ClientCopy.content(row)
        }
        let total = sections.reduce(0) { $0 + $1.rows.count }
        guard total == ClientCopy.number(set, "count") else { throw Mismatch(description: "\(total) rows: \(set.serialized)") }
    }
}
