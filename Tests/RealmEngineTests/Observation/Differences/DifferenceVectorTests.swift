// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("Vectors: differences of sequences")
struct DifferenceVectorTests {
    @Test func `sequences of keys differ as the reference engine says`() throws {
        let vectors = try NotificationVectors.vectors("diff")
        #expect(vectors.count >= 54)
        for vector in vectors {
            let before = (vector["before"]?.elements ?? []).map(\.integer)
            let after = (vector["after"]?.elements ?? []).compactMap(\.integer)
            let modified = Set((vector["modified"]?.elements ?? []).compactMap(\.integer))
            let canReorder = vector["sorted"] == .bool(true)
            let isUnique = Set(before).count == before.count && Set(after).count == after.count
            for promise in isUnique ? [false, true] : [false] {
                let changes = SequenceDiff.changes(
                    from: before, to: after, isModified: { modified.contains(after[$0]) }, canReorder: canReorder,
                    isUnique: promise)
                #expect(changes == CollectionChanges(vector: vector["expect"] ?? .null), "\(vector["id"]?.text ?? "")")
                #expect(changes.apply(to: before, fresh: after) == after)
            }
        }
    }

    @Test func `operations on a list are told as the reference engine tells them, several commits of them joined`() throws {
        let vectors = try NotificationVectors.vectors("list-log")
        #expect(vectors.count >= 23)
        for vector in vectors {
            let expected = CollectionChanges(vector: vector["expect"] ?? .null)
            var size = Int(vector["size"]?.integer ?? 0)
            var merged = ListChangeLog()
            for transaction in vector["transactions"]?.elements ?? [] {
                var log = ListChangeLog()
                for operation in transaction.elements ?? [] {
                    for change in DifferenceVectorTests.changes(operation, &size) { log.add(change) }
                }
                log.dropIdleMoves()
                merged.merge(log)
            }
            #expect(merged.changes() == expected, "\(vector["id"]?.text ?? "")")
        }
    }

    private static func changes(_ operation: ParsedJSON, _ size: inout Int) -> [CollectionChange] {
        let parts = operation.elements ?? []
        let numbers = parts.compactMap(\.integer).map { Int($0) }
        switch parts.first?.text {
        case "insert":
            size += 1
            return [.insert(numbers[0])]
        case "erase":
            size -= 1
            return [.erase(numbers[0])]
        case "set": return [.set(numbers[0])]
        case "move": return [.move(from: numbers[0], to: numbers[1])]
        case "swap":
            let low = min(numbers[0], numbers[1])
            let high = max(numbers[0], numbers[1])
            let first = CollectionChange.move(from: low, to: high)
            return high - low > 1 ? [first, .move(from: high - 1, to: low)] : [first]
        default:
            defer { size = 0 }
            return [.clear(count: size)]
        }
    }

    @Test func `change sets are joined as the reference engine joins them`() throws {
        let vectors = try NotificationVectors.vectors("merge")
        #expect(vectors.count >= 15)
        for vector in vectors {
            var log = ListChangeLog()
            for set in vector["sets"]?.elements ?? [] {
                let input = CollectionChanges(vector: set)
                log.merge(
                    ListChangeLog(
                        deletions: input.deletions, insertions: input.insertions, modified: input.modifications,
                        moves: input.moves, isCleared: input.isCleared))
            }
            #expect(log.changes() == CollectionChanges(vector: vector["expect"] ?? .null), "\(vector["id"]?.text ?? "")")
        }
    }

    @Test(arguments: 0..<200)
    func `the difference of random sequences leads from one to the other`(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let hasDuplicates = seed % 3 == 0
        let size = Int.random(in: 0..<40, using: &generator)
        func sequence() -> [Int64] {
            let keys = (0..<60).map { hasDuplicates ? Int64($0 % 9) : Int64($0) }
            return Array(keys.shuffled(using: &generator).prefix(Int.random(in: 0...size, using: &generator)))
        }
        var before = sequence()
        var after = sequence()
        let canReorder = seed % 2 == 0 || hasDuplicates
        if !canReorder {
            before.sort()
            after.sort()
        }
        let changes = SequenceDiff.changes(
            from: before, to: after, isModified: { after[$0] % 4 == 0 }, canReorder: canReorder, isUnique: !hasDuplicates)
        #expect(changes.apply(to: before, fresh: after) == after, "seed \(seed)")
        for (old, new) in zip(changes.modifications, changes.modificationsNew) {
            #expect(before[old] == after[new], "seed \(seed)")
        }
        #expect(changes.modificationsNew.allSatisfy { after[$0] % 4 == 0 }, "seed \(seed)")
    }

    @Test func `a big shuffle is told in reasonable time, though not in the fewest words`() {
        var generator = SeededGenerator(seed: 1)
        let before = (0..<60_000).map { Int64($0) }
        let after = before.shuffled(using: &generator)
        let changes = SequenceDiff.changes(from: before, to: after, isModified: nil, canReorder: true, isUnique: true)
        #expect(changes.deletions.count == changes.insertions.count)
        var kept = before
        for index in changes.deletions.reversed() { kept[index] = -1 }
        let inserted = Set(changes.insertions)
        #expect(kept.filter { $0 >= 0 } == after.indices.filter { !inserted.contains($0) }.map { after[$0] })
    }

    @Test(arguments: 0..<100)
    func `logs of random operations lead from one list to the other`(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var list = (0..<Int.random(in: 0..<12, using: &generator)).map { Element(id: $0) }
        let before = list
        var next = 100
        var log = ListChangeLog()
        var merged = ListChangeLog()
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            var part = ListChangeLog()
            for _ in 0..<Int.random(in: 0..<8, using: &generator) {
                let change = DifferenceVectorTests.randomChange(&list, &next, &generator)
                log.add(change)
                part.add(change)
            }
            merged.merge(part)
        }
        for changes in [log.changes(), merged.changes()] {
            #expect(changes.apply(to: before, fresh: list) == list, "seed \(seed)")
            #expect(changes.moves.allSatisfy { before[$0.from].id == list[$0.to].id }, "seed \(seed)")
        }
    }

    private struct Element: Equatable {
        let id: Int
        var version = 0
    }

    private static func randomChange(
        _ list: inout [Element], _ next: inout Int, _ generator: inout SeededGenerator
    ) -> CollectionChange {
        next += 1
        let kind = Int.random(in: 0..<20, using: &generator)
        guard !list.isEmpty, kind > 4 else {
            let index = Int.random(in: 0...list.count, using: &generator)
            list.insert(Element(id: next), at: index)
            return .insert(index)
        }
        let index = list.indices.randomElement(using: &generator) ?? 0
        switch kind {
        case 5:
            defer { list = [] }
            return .clear(count: list.count)
        case 6..<10:
            list.remove(at: index)
            return .erase(index)
        case 10..<14:
            list[index].version = next
            return .set(index)
        default:
            let target = list.indices.randomElement(using: &generator) ?? 0
            list.insert(list.remove(at: index), at: target)
            return .move(from: index, to: target)
        }
    }
}
