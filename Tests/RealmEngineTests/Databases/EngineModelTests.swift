// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

/// Random writes against a plain model, with old versions pinned: each must go on showing what it showed.
@Suite struct EngineModelTests {
    private static let classes = [
        ClassInput(
            "Thing", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("n", "int", optional: true, indexed: "general"),
                PropertyInput("text", "string"),
                PropertyInput("tags", "string", collection: "list"), PropertyInput("colors", "int", collection: "set"),
                PropertyInput("marks", "int", collection: "dictionary", optional: true),
                PropertyInput("next", "object", objectType: "Thing"),
                PropertyInput("all", "object", collection: "list", objectType: "Thing"),
                PropertyInput("part", "object", objectType: "Part"),
                PropertyInput("parts", "object", collection: "list", objectType: "Part"),
                PropertyInput("any", "mixed"),
            ]),
        ClassInput("Part", type: "embedded", [PropertyInput("x", "int"), PropertyInput("ys", "string", collection: "list")]),
    ]

    /// What an object should hold.
    private struct Thing {
        var n: Int64?
        var text = ""
        var tags: [String] = []
        var colors: Set<Int64> = []
        var marks: [String: Int64?] = [:]
        var next: Int64?
        var all: [Int64] = []
        var part: Int64?
        var parts: [(x: Int64, ys: [String])] = []
        var any: [Int64]?

        func shown(_ id: Int64) -> String {
            func list(_ items: [String]) -> String { "[" + items.joined(separator: " ") + "]" }
            let entries = marks.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
            return "{_id:\(id) n:\(n.map { "\($0)" } ?? "null") text:'\(text)' tags:\(list(tags.map { "'\($0)'" })) "
                + "colors:\(list(colors.sorted().map { "\($0)" })) "
                + "marks:{\(entries.map { "\($0.key):\($0.value.map { "\($0)" } ?? "null")" }.joined(separator: " "))} "
                + "next:\(next.map { "Thing#\($0)" } ?? "null") all:\(list(all.map { "Thing#\($0)" })) "
                + "part:\(part.map { "{x:\($0) ys:[]}" } ?? "null") "
                + "parts:\(list(parts.map { "{x:\($0.x) ys:\(list($0.ys.map { "'\($0)'" }))}" })) "
                + "any:\(any.map { list($0.map { "\($0)" }) } ?? "null")}"
        }
    }

    private struct Model {
        var things: [Int64: Thing] = [:]
        var random: SeededGenerator

        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        mutating func key() -> Int64? { things.keys.sorted().randomElement(using: &random) }
        mutating func word() -> String { String(repeating: ["a", "bc", "def", ""][number(0..<4)], count: number(1..<30)) }
        /// Now and then longer than a leaf cell.
        mutating func words() -> [String] { (0..<number(0..<6)).map { _ in word() } }

        var shown: [String] { things.sorted { $0.key < $1.key }.map { $0.value.shown($0.key) } }
    }

    private typealias Operation = @Sendable (WriteSession) throws -> Void

    /// A random operation, and what it does to the model.
    private func operation(_ model: inout Model) -> Operation {
        let choice = model.number(0..<16)
        guard choice > 2, let id = model.key() else { return create(&model) }
        let key = ObjectName.text(String(id))
        switch choice {
        case 3: return delete(id, &model)
        case 4: return put(id, &model)
        case 5:
            let n = model.number(0..<4) == 0 ? nil : Int64(model.number(0..<20))
            model.things[id]?.n = n
            return { _ = try $0.patch("Thing", key, ["n": n.map { .integer($0) } ?? .null]) }
        case 6: return editTags(id, &model)
        case 7:
            let values = (0..<model.number(1..<5)).map { _ in Int64(model.number(0..<40)) }
            let isUnion = model.number(0..<2) == 0
            if isUnion { model.things[id]?.colors.formUnion(values) } else { model.things[id]?.colors.subtract(values) }
            let inputs = values.map { InputValue.integer($0) }
            return { _ = try $0.editSet("Thing", key, PropertyAddress("colors"), [isUnion ? .union(inputs) : .minus(inputs)]) }
        case 8:
            let entry = "k\(model.number(0..<12))"
            let value = model.number(0..<3) == 0 ? nil : Int64(model.number(0..<9))
            model.things[id]?.marks[entry] = .some(value)
            return {
                _ = try $0.editDictionary(
                    "Thing", key, PropertyAddress("marks"), [.set(entry, value.map { .integer($0) } ?? .null)])
            }
        case 9:
            let entry = "k\(model.number(0..<12))"
            model.things[id]?.marks[entry] = nil
            return { _ = try $0.patch("Thing", key, ["marks": .object(InputObject([(name: entry, value: .null)]))]) }
        case 10:
            let target = model.number(0..<4) == 0 ? nil : model.key()
            model.things[id]?.next = target
            return { try $0.setProperty("Thing", key, "next", target.map { .integer($0) } ?? .null) }
        case 11:
            let targets = (0..<model.number(0..<6)).compactMap { _ in model.key() }
            model.things[id]?.all = targets
            return { try $0.setProperty("Thing", key, "all", .list(targets.map { .integer($0) })) }
        case 12: return editParts(id, &model)
        case 13:
            let part = model.number(0..<3) == 0 ? nil : Int64(model.number(0..<9))
            model.things[id]?.part = part
            return { try $0.setProperty("Thing", key, "part", part.map { .object(["x": .integer($0)]) } ?? .null) }
        case 14: return editAny(id, &model)
        default: return many(&model)
        }
    }

    private func create(_ model: inout Model) -> Operation {
        let id = Int64(model.number(0..<60)) - 5
        guard model.things[id] == nil else { return { _ in } }
        var thing = Thing()
        thing.text = model.word()
        thing.tags = model.words()
        thing.next = model.key()
        model.things[id] = thing
        return { [thing] session in
            _ = try session.create(
                "Thing",
                [
                    "_id": .integer(id), "text": .text(thing.text), "tags": .list(thing.tags.map { .text($0) }),
                    "next": thing.next.map { .integer($0) } ?? .null,
                ])
        }
    }

    private func delete(_ id: Int64, _ model: inout Model) -> Operation {
        model.things[id] = nil
        for (other, var thing) in model.things {
            if thing.next == id { thing.next = nil }
            thing.all.removeAll { $0 == id }
            model.things[other] = thing
        }
        return { _ = try $0.delete("Thing", .text(String(id))) }
    }

    private func put(_ id: Int64, _ model: inout Model) -> Operation {
        var thing = Thing()
        thing.text = model.word()
        thing.n = Int64(model.number(0..<20))
        model.things[id] = thing
        return { [thing] in _ = try $0.put("Thing", .text(String(id)), ["text": .text(thing.text), "n": .integer(thing.n ?? 0)]) }
    }

    private func editTags(_ id: Int64, _ model: inout Model) -> Operation {
        var tags = model.things[id]?.tags ?? []
        var edits: [ListEdit] = []
        for _ in 0..<model.number(1..<5) {
            let word = model.word()
            switch model.number(0..<5) {
            case 0 where !tags.isEmpty:
                let index = model.number(0..<tags.count)
                tags.remove(at: index)
                edits.append(.remove(index))
            case 1 where !tags.isEmpty:
                let index = model.number(0..<tags.count)
                tags[index] = word
                edits.append(.set(index, .text(word)))
            case 2 where tags.count > 1:
                let (from, to) = (model.number(0..<tags.count), model.number(0..<tags.count))
                tags.insert(tags.remove(at: from), at: to)
                edits.append(.move(from, to))
            case 3 where tags.count > 1:
                let (first, second) = (model.number(0..<tags.count), model.number(0..<tags.count))
                tags.swapAt(first, second)
                edits.append(.swap(first, second))
            default:
                let index = model.number(0..<(tags.count + 1))
                tags.insert(word, at: index)
                edits.append(.insert(index, .text(word)))
            }
        }
        model.things[id]?.tags = tags
        return { [edits] in _ = try $0.editList("Thing", .text(String(id)), PropertyAddress("tags"), edits) }
    }

    private func editParts(_ id: Int64, _ model: inout Model) -> Operation {
        let count = model.things[id]?.parts.count ?? 0
        let x = Int64(model.number(0..<100))
        let words = model.words()
        let part = InputValue.object(["x": .integer(x), "ys": .list(words.map { .text($0) })])
        let key = ObjectName.text(String(id))
        switch model.number(0..<4) {
        case 0 where count > 0:
            let index = model.number(0..<count)
            model.things[id]?.parts.remove(at: index)
            return { _ = try $0.edit("Thing", key, [.remove(path: [.name("parts"), .index(index)])]) }
        case 1 where count > 0:
            let index = model.number(0..<count)
            model.things[id]?.parts[index] = (x, words)
            return { _ = try $0.edit("Thing", key, [.replace(path: [.name("parts"), .index(index)], part)]) }
        case 2 where count > 0:
            let index = model.number(0..<count)
            model.things[id]?.parts[index].x = x
            return { _ = try $0.edit("Thing", key, [.replace(path: [.name("parts"), .index(index), .name("x")], .integer(x))]) }
        default:
            model.things[id]?.parts.append((x, words))
            return { _ = try $0.editList("Thing", key, PropertyAddress("parts"), [.add(part)]) }
        }
    }

    private func editAny(_ id: Int64, _ model: inout Model) -> Operation {
        let key = ObjectName.text(String(id))
        let number = Int64(model.number(0..<1000))
        if model.things[id]?.any != nil, model.number(0..<3) > 0 {
            model.things[id]?.any?.append(number)
            return { _ = try $0.edit("Thing", key, [.add(path: [.name("any"), .name("-")], .integer(number))]) }
        }
        model.things[id]?.any = [number]
        return { _ = try $0.patch("Thing", key, ["any": .list([.integer(number)])]) }
    }

    private func many(_ model: inout Model) -> Operation {
        let bound = Int64(model.number(0..<20))
        let value = Int64(model.number(0..<20))
        for (id, thing) in model.things where thing.n.map({ $0 < bound }) ?? false { model.things[id]?.n = value }
        return { session in
            _ = try session.patchWhere("Thing", try Query.parse("n < $0"), arguments: [.int(bound)], ["n": .integer(value)])
        }
    }

    // MARK: -

    private struct InputError: Error {}

    private static let seeds: [UInt64] = Array(1...(TestRun.isLong ? 40 : 4))

    @Test(arguments: seeds)
    func `random writes do what a plain model does`(_ seed: UInt64) throws {
        var options = FileStore.Options()
        // Small leaves make deep trees.
        if seed % 2 == 1 { options.clusterShift = 2 }
        options.createsMissingFile = true
        let file = try TemporaryRealm()
        let realm = try EngineRealm(try FileStore.open(path: file.path, key: nil, options), Self.classes)
        var model = Model(random: SeededGenerator(seed: seed))
        var pinned: [(version: Version, shown: [String])] = []
        for step in 0..<100 {
            try run(&model, realm, "seed \(seed), step \(step)")
            let version = realm.database.current
            #expect(try shown(version) == model.shown, "seed \(seed), step \(step)")
            try verify(
                version, file, options.clusterShift, "seed \(seed), step \(step)", inspects: TestRun.isLong || step % 25 == 24)
            if model.number(0..<10) == 0 { pinned.append((version, model.shown)) }
            if model.number(0..<8) == 0, !pinned.isEmpty {
                try check(pinned.remove(at: model.number(0..<pinned.count)), seed)
            }
        }
        for pin in pinned { try check(pin, seed) }
        pinned = []
        try realm.finish()
    }

    /// The file is whole after every commit, whoever looks.
    private func verify(
        _ version: Version, _ file: TemporaryRealm, _ clusterShift: Int, _ place: String, inspects: Bool
    ) throws {
        let report = version.snapshot.verify()
        #expect(report.isClean, "\(place): \(report.errors.prefix(5))")
        guard inspects, let error = FileInspector.shared?.errors(file.path, clusterShift: clusterShift) else { return }
        Issue.record("\(place): \(error)")
    }

    /// A version that was pinned shows what it showed when it was new.
    private func check(_ pin: (version: Version, shown: [String]), _ seed: UInt64) throws {
        #expect(try shown(pin.version) == pin.shown, "seed \(seed): version \(pin.version.tokenText)")
    }

    /// Some writes that share one commit; those that fail at their end leave no trace.
    private func run(_ model: inout Model, _ realm: EngineRealm, _ place: String) throws {
        let gate = Monitor((isEntered: false, isOpen: false))
        let held = Awaited<Bool>()
        realm.database.write(EngineRealm.request()) { _ in
            gate.broadcast { $0.isEntered = true }
            _ = gate.wait { $0.isOpen ? true : nil }
        } completion: { _ in
            held.set(true)
        }
        _ = gate.wait { $0.isEntered ? true : nil }
        var answers: [(answer: Awaited<Result<WriteReceipt<Void>, WriteError>>, fails: Bool)] = []
        for _ in 0..<model.number(1..<5) {
            let before = model
            let operations = (0..<model.number(1..<4)).map { _ in operation(&model) }
            let fails = model.number(0..<4) == 0
            if fails {
                let random = model.random
                model = before
                model.random = random
            }
            let answer = Awaited<Result<WriteReceipt<Void>, WriteError>>()
            answers.append((answer, fails))
            realm.database.write(EngineRealm.request()) { session in
                for operation in operations { try operation(session) }
                if fails { throw InputError() }
            } completion: {
                answer.set($0)
            }
        }
        gate.broadcast { $0.isOpen = true }
        _ = try held.wait()
        for (answer, fails) in answers {
            switch try answer.wait() {
            case .success: #expect(!fails, "\(place)")
            case .failure(let error):
                guard case .caller(let cause)? = error.cause else { throw error }
                #expect(fails && cause is InputError, "\(place): \(error)")
            }
        }
    }

    private func shown(_ version: Version) throws -> [String] {
        let snapshot = version.snapshot
        guard let table = snapshot.classTable(named: "Thing"), let column = table.primaryKey else { return [] }
        var lines: [(Int64, String)] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for index in 0..<leaf.count {
                let row = Row(leaf: leaf, index: index)
                guard case .int(let id) = try row.value(column) else { continue }
                lines.append((id, try ObjectText(snapshot).text(of: row, in: table)))
            }
        }
        return lines.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
