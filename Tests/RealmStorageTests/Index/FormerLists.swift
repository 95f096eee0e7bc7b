// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
@testable import RealmStorage

/// Index lists in the order that texts had before format 24, in which the reference engine leaves them when it upgrades a file.
enum FormerLists {
    /// Returns whether a text came before another one in format 23: letters of both cases together, the small one first.
    static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let (left, right) = (left.map(rank), right.map(rank))
        return left.lexicographicallyPrecedes(right)
    }

    private static func rank(_ letter: UInt8) -> UInt16 { UInt16(letter | 0x20) << 1 | (letter & 0x20 == 0 ? 1 : 0) }

    /// Brings all lists of different texts below `root`, which were made in this transaction, into the former order.
    static func age(_ root: Ref, _ writes: WriteSpace, depth: Int = 0, _ textOf: (ObjectKey) throws -> [UInt8]) throws {
        let node = try IndexNode(root, writes.space)
        for position in 0..<node.count {
            if node.isInner {
                try age(try node.child(position), writes, depth: depth, textOf)
                continue
            }
            switch try node.slot(position) {
            case .subindex(let ref): try age(ref, writes, depth: depth + 1, textOf)
            case .list(let ref) where depth * 4 >= IndexData.maximumOffset: try reorder(ref, writes, textOf)
            default: break
            }
        }
    }

    private static func reorder(_ list: Ref, _ writes: WriteSpace, _ textOf: (ObjectKey) throws -> [UInt8]) throws {
        var members: [(key: ObjectKey, text: [UInt8])] = []
        for key in try KeyList(list, writes.space).all() { members.append((key, try textOf(key))) }
        members.sort { left, right in left.text == right.text ? left.key < right.key : isBefore(left.text, right.text) }
        var pending = [list]
        var next = 0
        while let ref = pending.popLast() {
            var node = try writes.writable(ref)
            precondition(node.ref == ref, "a list of an older transaction")
            guard node.isInner else {
                for index in 0..<node.count {
                    try node.set(index, members[next].key.rawValue)
                    next += 1
                }
                continue
            }
            for index in (1..<node.count - 1).reversed() { pending.append(node.ref(index)) }
        }
    }

    /// Returns the objects that the reference engine finds under a value in a list. It takes a list whose ends are equal for one of
    /// a single value, and equal values for neighbours.
    static func found(_ value: Value, in list: [ObjectKey], _ valueOf: (ObjectKey) throws -> Value) throws -> [ObjectKey] {
        guard let first = list.first, let last = list.last else { return [] }
        let atEnds = (try valueOf(first), try valueOf(last))
        if list.count > 1, Value.order(atEnds.0, atEnds.1) == 0 { return Value.order(value, atEnds.0) == 0 ? list : [] }
        guard let start = try list.firstIndex(where: { Value.order(try valueOf($0), value) == 0 }) else { return [] }
        if Value.order(atEnds.1, value) == 0 { return Array(list[start...]) }
        let end = try list[start...].firstIndex { Value.order(try valueOf($0), value) != 0 } ?? list.endIndex
        return Array(list[start..<end])
    }
}
