// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// A client's copy of what a subscription shows, kept up by its change sets alone.
struct ClientCopy: Equatable, CustomStringConvertible {
    /// Rows of results, lists and sets; entries of dictionaries with their key in front.
    var rows: [ParsedJSON] = []
    var sections: [(key: ParsedJSON, rows: [ParsedJSON])] = []
    var object: ParsedJSON?
    /// How many rows there are, where only that is told.
    var count: Int?
    var isGone = false
    /// Whether it shows one section of a whole that counts its sections.
    var isOneSection = false

    static func == (left: ClientCopy, right: ClientCopy) -> Bool {
        left.rows == right.rows && left.object == right.object && left.count == right.count && left.isGone == right.isGone
            && left.sections.map(\.key) == right.sections.map(\.key) && left.sections.map(\.rows) == right.sections.map(\.rows)
    }

    /// As JSON, for messages.
    var description: String {
        if isGone { return "gone" }
        if let count { return "\(count) rows" }
        if let object { return object.serialized }
        let all = sections.map { ParsedJSON.object([("key", $0.key), ("items", .array($0.rows))]) }
        return ParsedJSON.array(sections.isEmpty ? rows : all).serialized
    }

    /// Without its places: what a row shows.
    private static func content(_ row: ParsedJSON) -> ParsedJSON {
        .object(
            (row.members ?? []).filter {
                !["index", "oldIndex", "section", "oldSection", "properties"].contains($0.name)
            }.map { ($0.name, $0.value) })
    }

    private static func number(_ row: ParsedJSON, _ name: String) -> Int { Int(row[name]?.integer ?? -1) }

    /// Takes a snapshot, or a part of one.
    mutating func take(snapshot: ParsedJSON) {
        if let object = snapshot["object"] { self.object = object }
        if snapshot["items"] == nil, snapshot["sections"] == nil { count = snapshot["count"]?.integer.map { Int($0) } }
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
    mutating func apply(_ set: ParsedJSON) throws {
        if set["skipped"]?.isTrue == true { return }
        if set["deleted"]?.isTrue == true { isGone = true }
        if let properties = set["properties"], properties.elements != nil {
            object = set["object"] ?? object
            return
        }
        if set["sectionsToDelete"] != nil { return try isOneSection ? applyOneSection(set) : applySections(set) }
        if isGone, set["count"] == nil {
            object = nil
            return
        }
        guard let deletions = set["deletions"]?.elements else {
            count = set["count"]?.integer.map { Int($0) }
            return
        }
        if (deletions + (set["insertions"]?.elements ?? []) + (set["modifications"]?.elements ?? [])).contains(where: {
            $0["entry"] != nil
        }) {
            try applyEntries(set)
        } else {
            try applyRows(set)
        }
        guard rows.count == set["count"]?.integer.map({ Int($0) }) else {
            throw Mismatch(description: "\(rows.count) rows, but the count of \(set.serialized)")
        }
    }

    private mutating func applyRows(_ set: ParsedJSON) throws {
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

    private mutating func applyEntries(_ set: ParsedJSON) throws {
        func name(_ row: ParsedJSON) -> String { row["entry"]?.text ?? "" }
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

    private mutating func applySections(_ set: ParsedJSON) throws {
        func list(_ name: String) -> [ParsedJSON] { set[name]?.elements ?? [] }
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

    /// Sections are counted in the whole result, of which the copy has one.
    private mutating func applyOneSection(_ set: ParsedJSON) throws {
        if set["sectionsToDelete"]?.elements?.isEmpty == false { sections = [] }
        for section in set["sectionsToInsert"]?.elements ?? [] {
            guard sections.isEmpty else { throw Mismatch(description: "a second section: \(set.serialized)") }
            sections = [(section["key"] ?? .null, [])]
        }
        func isAlone(_ row: ParsedJSON, _ extra: Int) -> Bool {
            sections.count == 1 && (0..<sections[0].rows.count + extra).contains(ClientCopy.number(row, "index"))
        }
        for row in (set["deletions"]?.elements ?? []).reversed() {
            guard isAlone(row, 0) else { throw Mismatch(description: "no row to delete: \(set.serialized)") }
            sections[0].rows.remove(at: ClientCopy.number(row, "index"))
        }
        for row in set["insertions"]?.elements ?? [] {
            guard isAlone(row, 1) else { throw Mismatch(description: "no place to insert: \(set.serialized)") }
            sections[0].rows.insert(ClientCopy.content(row), at: ClientCopy.number(row, "index"))
        }
        for row in set["modifications"]?.elements ?? [] {
            guard isAlone(row, 0) else { throw Mismatch(description: "no row to modify: \(set.serialized)") }
            sections[0].rows[ClientCopy.number(row, "index")] = ClientCopy.content(row)
        }
        guard sections.reduce(0, { $0 + $1.rows.count }) == ClientCopy.number(set, "count") else {
            throw Mismatch(description: "\(sections) instead of the count of \(set.serialized)")
        }
    }

    /// Whether a set tells of no change at all. Where only counts are told, that cannot be seen.
    static func saysNothing(_ set: ParsedJSON) -> Bool {
        guard set["skipped"] == nil, set["cleared"] == nil, set["deleted"] == nil, set["classes"] == nil else { return false }
        let lists = ["deletions", "insertions", "modifications", "moves", "sectionsToDelete", "sectionsToInsert", "properties"]
            .compactMap { set[$0]?.elements }
        return !lists.isEmpty && lists.allSatisfy(\.isEmpty)
    }
}
