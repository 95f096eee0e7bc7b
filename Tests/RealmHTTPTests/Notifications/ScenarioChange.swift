// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmTestSupport

/// Change sets of the interface, in the words of the vectors.
enum ScenarioChange {
    /// The change set of a kind of observer as a vector would have it; nil for one that says nothing.
    static func vectorForm(_ set: ParsedJSON, kind: String) -> ParsedJSON? {
        switch kind {
        case "object": return object(set)
        case "dictionary": return dictionary(set)
        case "sectioned": return sectioned(set)
        default: return sequence(set)
        }
    }

    /// Whether the places in each array of a change set ascend, and no place is there twice.
    static func isAscending(_ set: ParsedJSON) -> Bool {
        let places: [(list: String, section: String, index: String)] = [
            ("deletions", "section", "index"), ("insertions", "section", "index"), ("modifications", "oldSection", "oldIndex"),
            ("sectionsToDelete", "section", "index"), ("sectionsToInsert", "section", "index"),
        ]
        return places.allSatisfy { list, section, index in
            // Entries of dictionaries have no places.
            let rows = (set[list]?.elements ?? []).filter { $0["entry"] == nil }
            let numbers = rows.map { [$0[section]?.integer ?? 0, $0[index]?.integer ?? 0] }
            return zip(numbers, numbers.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// The rows that a change set of a result takes out and puts in again, by their keys.
    static func movedRows(_ set: ParsedJSON) -> [CollectionChanges.Move] {
        (set["deletions"]?.elements ?? []).compactMap { row in
            guard let key = row["key"], let new = (set["insertions"]?.elements ?? []).first(where: { $0["key"] == key }),
                let from = row["index"]?.integer, let to = new["index"]?.integer
            else { return nil }
            return CollectionChanges.Move(from: Int(from), to: Int(to))
        }
    }

    private static func numbers(_ set: ParsedJSON, _ list: String, _ member: String) -> ParsedJSON {
        .array((set[list]?.elements ?? []).map { $0[member] ?? .null })
    }

    private static func sequence(_ set: ParsedJSON) -> ParsedJSON? {
        let moves = (set["moves"]?.elements ?? []).map { ParsedJSON.array([$0["from"] ?? .null, $0["to"] ?? .null]) }
        var members: [(String, ParsedJSON)] = [
            ("deletions", numbers(set, "deletions", "index")), ("insertions", numbers(set, "insertions", "index")),
            ("modifications", numbers(set, "modifications", "oldIndex")),
            ("modificationsNew", numbers(set, "modifications", "index")),
            ("moves", .array(moves)),
        ]
        if set["cleared"]?.isTrue == true { members.append(("cleared", .bool(true))) }
        if set["deleted"]?.isTrue == true { members.append(("rootDeleted", .bool(true))) }
        return .object(members)
    }

    private static func dictionary(_ set: ParsedJSON) -> ParsedJSON? {
        var members: [(String, ParsedJSON)] = [
            ("deletedKeys", numbers(set, "deletions", "entry")), ("insertedKeys", numbers(set, "insertions", "entry")),
            ("modifiedKeys", numbers(set, "modifications", "entry")),
        ]
        if set["cleared"]?.isTrue == true { members.append(("cleared", .bool(true))) }
        if set["deleted"]?.isTrue == true { members.append(("rootDeleted", .bool(true))) }
        return .object(members)
    }

    private static func object(_ set: ParsedJSON) -> ParsedJSON? {
        if set["deleted"]?.isTrue == true { return .object([("deleted", .bool(true))]) }
        return .object([("properties", .array((set["properties"]?.elements ?? []).map(value)))])
    }

    /// Links by class and primary key.
    private static func value(_ value: ParsedJSON) -> ParsedJSON {
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

    private static func sectioned(_ set: ParsedJSON) -> ParsedJSON? {
        func places(_ list: String, _ section: String, _ index: String) -> ParsedJSON {
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
