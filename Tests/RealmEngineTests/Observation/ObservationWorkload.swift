// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Random writes to a small realm with links of all kinds.
enum ObservationWorkload {
    static let classes = [
        ClassInput(
            "Node", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("value", "int"), PropertyInput("group", "string"),
                PropertyInput("next", "object", objectType: "Node"), PropertyInput("other", "object", objectType: "Other"),
                PropertyInput("list", "object", collection: "list", objectType: "Node"),
                PropertyInput("set", "object", collection: "set", objectType: "Node"),
                PropertyInput("dict", "object", collection: "dictionary", objectType: "Node"),
                PropertyInput("any", "mixed"), PropertyInput("ints", "int", collection: "list"),
                PropertyInput("intSet", "int", collection: "set"), PropertyInput("marks", "int", collection: "dictionary"),
                PropertyInput("things", "mixed", collection: "list"), PropertyInput("child", "object", objectType: "Child"),
                PropertyInput("children", "object", collection: "list", objectType: "Child"),
            ]),
        ClassInput(
            "Other", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("value", "int"), PropertyInput("node", "object", objectType: "Node"),
            ]),
        ClassInput(
            "Child", type: "embedded", [PropertyInput("value", "int"), PropertyInput("node", "object", objectType: "Node")]),
        ClassInput("Lonely", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("value", "int")]),
    ]

    static let names = BacklinkNames(["Node": ["linkers": "Node.next", "listers": "Node.list"]])

    /// Writes several steps in one transaction.
    static func write(_ realm: EngineRealm, _ count: Int, _ generator: inout SeededGenerator) throws {
        let seed = generator.next()
        try realm.write { session in
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<count { try step(session, &generator) }
        }
    }

    /// Writes a few transactions, and returns what is wrong with the first copy that does not follow.
    static func round(
        _ realm: EngineRealm, checking replays: [ObservationReplay], _ recorder: CommitRecorder,
        _ generator: inout SeededGenerator
    ) throws -> [String] {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            try write(realm, Int.random(in: 1...5, using: &generator), &generator)
        }
        for replay in replays {
            let failures = try replay.step(recorder)
            if !failures.isEmpty { return failures }
        }
        return []
    }

    /// Objects that observers belong to are deleted seldom.
    static func step(_ session: WriteSession, _ generator: inout SeededGenerator) throws {
        let id = Int64.random(in: 0..<14, using: &generator)
        let other = Int64.random(in: 0..<5, using: &generator)
        let value = InputValue.integer(Int64.random(in: 0..<6, using: &generator))
        let key = ObjectName.text("\(id)")
        guard try session.find(key, class: "Node") != nil else {
            _ = try session.create(
                "Node",
                [
                    "_id": .integer(id), "value": value, "group": .text(group(&generator)), "next": try link(session, &generator),
                    "list": .list([try link(session, &generator)].filter(isLink)),
                ])
            return
        }
        switch Int.random(in: 0..<22, using: &generator) {
        case 0 where id > 1 || Bool.random(using: &generator) && id == 1: _ = try session.delete("Node", key)
        case 1...3: _ = try session.patch("Node", key, ["value": value])
        case 4: _ = try session.patch("Node", key, ["group": .text(group(&generator))])
        case 5, 6: _ = try session.patch("Node", key, ["next": try link(session, &generator)])
        case 7: try writeOther(other, value, session, &generator)
        case 8: _ = try session.patch("Node", key, ["other": try otherLink(other, session)])
        case 9...12: try editList(key, session, &generator)
        case 13:
            let member = try link(session, &generator)
            guard isLink(member) else { return }
            let edit: SetEdit = Bool.random(using: &generator) ? .insert(member) : .remove(member)
            _ = try session.editSet("Node", key, PropertyAddress("set"), [edit])
        case 14:
            let entry = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
            let edit: DictionaryEdit =
                Bool.random(using: &generator) ? .set(entry, try link(session, &generator)) : .remove(entry)
            _ = try session.editDictionary("Node", key, PropertyAddress("dict"), [edit])
        case 15: _ = try session.patch("Node", key, ["any": try link(session, &generator)])
        case 16, 17: try editInts(key, value, session, &generator)
        case 18: _ = try session.patch("Node", key, ["child": .object(["value": value, "node": try link(session, &generator)])])
        case 19: _ = try session.patch("Node", key, ["children": .list([.object(["value": value])])])
        case 20: try editThings(key, value, session, &generator)
        default: _ = try session.upsert("Lonely", ["_id": .integer(id), "value": value], .all)
        }
    }

    private static func isLink(_ value: InputValue) -> Bool {
        if case .link = value { return true }
        return false
    }

    private static func group(_ generator: inout SeededGenerator) -> String {
        ["ab", "ac", "b", "bc", "cd"].randomElement(using: &generator) ?? ""
    }

    /// A link to an object that is there, or null.
    private static func link(_ session: WriteSession, _ generator: inout SeededGenerator) throws -> InputValue {
        let key = ObjectName.text("\(Int64.random(in: 0..<14, using: &generator))")
        return try session.find(key, class: "Node") == nil ? .null : .link(.stub(className: "Node", key: key))
    }

    private static func otherLink(_ id: Int64, _ session: WriteSession) throws -> InputValue {
        let key = ObjectName.text("\(id)")
        return try session.find(key, class: "Other") == nil ? .null : .link(.stub(className: "Other", key: key))
    }

    private static func writeOther(
        _ id: Int64, _ value: InputValue, _ session: WriteSession, _ generator: inout SeededGenerator
    ) throws {
        if try session.find(.text("\(id)"), class: "Other") != nil, Int.random(in: 0..<5, using: &generator) == 0 {
            _ = try session.delete("Other", .text("\(id)"))
        } else {
            _ = try session.upsert(
                "Other", ["_id": .integer(id), "value": value, "node": try link(session, &generator)], .all)
        }
    }

    /// How many elements a collection has now.
    private static func count(_ key: ObjectName, _ property: String, _ session: WriteSession) throws -> Int {
        let view = try session.view()
        guard let place = try session.find(key, class: "Node"), let table = view.table(place.table),
            let row = try table.find(place.object), let column = table.column(named: property)
        else { return 0 }
        return try row.list(column, in: view).count
    }

    private static func editList(_ key: ObjectName, _ session: WriteSession, _ generator: inout SeededGenerator) throws {
        let count = try count(key, "list", session)
        let member = try link(session, &generator)
        func edit(_ edit: ListEdit) throws { _ = try session.editList("Node", key, PropertyAddress("list"), [edit]) }
        let kind = Int.random(in: 0..<10, using: &generator)
        guard count > 1, kind > 2 else {
            if isLink(member) { try edit(.insert(Int.random(in: 0...count, using: &generator), member)) }
            return
        }
        let first = Int.random(in: 0..<count, using: &generator)
        let second = Int.random(in: 0..<count, using: &generator)
        switch kind {
        case 3: try edit(.remove(first))
        case 4: if isLink(member) { try edit(.set(first, member)) }
        case 5, 6: try edit(.move(first, second))
        case 7: try edit(.swap(first, second))
        case 8: if count > 6 { try edit(.clear) }
        default: if isLink(member) { try edit(.add(member)) }
        }
    }

    private static func editInts(
        _ key: ObjectName, _ value: InputValue, _ session: WriteSession, _ generator: inout SeededGenerator
    ) throws {
        let count = try count(key, "ints", session)
        func edit(_ edit: ListEdit) throws { _ = try session.editList("Node", key, PropertyAddress("ints"), [edit]) }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0 where count > 0: try edit(.remove(Int.random(in: 0..<count, using: &generator)))
        case 1 where count > 0: try edit(.set(Int.random(in: 0..<count, using: &generator), value))
        case 2 where count > 1: try edit(.move(0, count - 1))
        case 3 where count > 1: try edit(.swap(0, Int.random(in: 0..<count, using: &generator)))
        case 4: _ = try session.patch("Node", key, ["ints": .list([value, .integer(9)])])
        case 5: _ = try session.editSet("Node", key, PropertyAddress("intSet"), [.insert(value)])
        case 6: _ = try session.editSet("Node", key, PropertyAddress("intSet"), [.remove(value)])
        case 7: _ = try session.editDictionary("Node", key, PropertyAddress("marks"), [.set(group(&generator), value)])
        case 8: _ = try session.editDictionary("Node", key, PropertyAddress("marks"), [.remove(group(&generator))])
        case 9: _ = try session.editDictionary("Node", key, PropertyAddress("marks"), [.clear])
        default: try edit(.insert(Int.random(in: 0...count, using: &generator), value))
        }
    }

    private static func editThings(
        _ key: ObjectName, _ value: InputValue, _ session: WriteSession, _ generator: inout SeededGenerator
    ) throws {
        let count = try count(key, "things", session)
        let nested = InputValue.list([value, .object(["k": value])])
        let edit: ListEdit = count > 0 && Bool.random(using: &generator) ? .set(count - 1, value) : .add(nested)
        _ = try session.editList("Node", key, PropertyAddress("things"), [edit])
    }
}
