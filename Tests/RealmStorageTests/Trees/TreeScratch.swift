// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A transaction over a fixture that is never committed, and a check that no node is lost or given up twice.
struct TreeScratch {
    let snapshot: Snapshot
    let writes: WriteSpace

    init(_ fixture: String = "store", clusterShift: Int = 8, arenaByteCount: Int = 1 << 28) throws {
        let key = Fixtures.isEncrypted(fixture) ? try EncryptionKey(bytes: Fixtures.key) : nil
        let file = try RealmFile(path: try Fixtures.path(fixture), key: key)
        snapshot = try Snapshot(file: file, clusterShift: clusterShift)
        writes = WriteSpace(base: snapshot.space, arena: try NodeArena(byteCount: arenaByteCount))
    }

    /// What the nodes below some roots take up.
    private struct Reach {
        var committed: Set<UInt64> = []
        var young: Set<UInt64> = []
        var youngByteCount = 0
        var shared: [Ref] = []
    }

    private func reach(_ roots: [Ref]) throws -> Reach {
        var reach = Reach()
        var pending = roots.filter { !$0.isNone }
        while let ref = pending.popLast() {
            let node = try writes.node(at: ref)
            let isNew = WriteSpace.isNew(ref)
            let inserted = isNew ? reach.young.insert(ref.rawValue).inserted : reach.committed.insert(ref.rawValue).inserted
            guard inserted else {
                reach.shared.append(ref)
                continue
            }
            if isNew { reach.youngByteCount += Int(UInt32(truncatingIfNeeded: node.header)) << 3 }
            guard node.hasRefs else { continue }
            for index in 0..<node.count {
                if case .ref(let child) = try node.slot(index) { pending.append(child) }
            }
        }
        return reach
    }

    /// Whatever `old` roots named is now named by `new` roots or counted as freed, once; new nodes are all in use.
    ///
    /// Holds as long as no savepoint was made.
    func expectNothingLost(old: [Ref], new: [Ref], _ what: String) throws {
        let before = try reach(old)
        let after = try reach(new)
        #expect(after.shared.isEmpty, "\(what): nodes with two parents: \(after.shared)")
        let freed = writes.freed.map(\.ref.rawValue)
        let freedOnce = Set(freed)
        #expect(freed.count == freedOnce.count, "\(what): nodes freed twice")
        #expect(freedOnce.isDisjoint(with: after.committed), "\(what): freed nodes in use")
        let lost = before.committed.subtracting(freedOnce).subtracting(after.committed)
        #expect(lost.isEmpty, "\(what): committed nodes lost: \(lost.sorted().prefix(5))")
        #expect(freedOnce.union(after.committed) == before.committed, "\(what): nodes of others were freed")
        #expect(after.youngByteCount == writes.arena.liveByteCount, "\(what): new nodes lost or given up twice")
    }
}

/// Makes values from numbers, and keeps their bytes.
final class ValueMaker {
    private var storage: [ByteStorage] = []

    func text(_ string: String) -> ByteView {
        let bytes = ByteStorage(string)
        storage.append(bytes)
        return bytes.view
    }

    /// One of about `variety` values of the shape.
    func value(
        _ shape: ElementShape, variety: Int = 1000, using random: inout SeededGenerator
    ) -> Value {
        if shape.isNullable, Int.random(in: 0..<10, using: &random) == 0 { return .null }
        let number = Int.random(in: 0..<variety, using: &random)
        switch shape.type {
        case .int: return .int(Int64(number - variety / 3) << Int64([0, 0, 7, 20, 40][number % 5]))
        case .bool: return .bool(number % 2 == 0)
        case .string: return .string(text(string(number)))
        case .binary: return .binary(text(string(number)))
        case .timestamp: return .timestamp(Timestamp(seconds: Int64(number) * 1000, nanoseconds: Int32(number % 7)))
        case .float: return .float(Float(number) / 4)
        case .double: return .double(Double(number) / 8 - 10)
        case .decimal: return .decimal(Decimal128(Int64(number)))
        case .objectID: return .objectID(ObjectID(first: UInt64(number) << 20, last: UInt32(number)))
        case .uuid: return .uuid(UUIDValue(first: UInt64(number), last: ~UInt64(number)))
        case .link: return .link(shape.targetTable, ObjectKey(Int64(number)))
        case .mixed: return mixed(number, using: &random)
        case .backlink: return .null
        }
    }

    private func mixed(_ number: Int, using random: inout SeededGenerator) -> Value {
        let types: [ColumnType] = [
            .int, .bool, .string, .binary, .timestamp, .double, .objectID, .uuid, .link, .decimal, .float,
        ]
        let type = types[number % types.count]
        let shape = ElementShape(type: type, isNullable: false, targetTable: TableKey(3))
        return value(shape, using: &random)
    }

    /// Short, medium and long text.
    private func string(_ number: Int) -> String {
        let tail = number % 11 == 0 ? 80 : number % 5 == 0 ? 30 : number % 3
        return "s\(number)" + String(repeating: "x", count: tail)
    }
}

extension Value {
    /// The value as text, to be compared and kept.
    var plain: String {
        switch self {
        case .string(let bytes): return "string \(bytes.string)"
        case .binary(let bytes): return "binary \(bytes.string)"
        default: return "\(self)"
        }
    }
}
