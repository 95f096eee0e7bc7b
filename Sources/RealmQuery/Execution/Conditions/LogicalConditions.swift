// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Matches everything or nothing.
final class ConstantCondition: Condition {
    let isTrue: Bool

    init(_ isTrue: Bool) { self.isTrue = isTrue }

    override var cost: Double { 0 }

    override func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) -> Mask { isTrue ? candidates : .none }

    override func matches(_ row: Row) -> Bool { isTrue }

    override var hasIndex: Bool { !isTrue }

    override func indexedKeys(_ table: Table) -> [ObjectKey]? { isTrue ? nil : [] }

    override func explain(_ depth: Int, into lines: inout [String]) {
        lines.appendPlan(depth, isTrue ? "every object" : "no object")
    }
}

/// All children match. The cheapest is asked first, the others only about the rows that remain.
final class AndCondition: Condition {
    let children: [Condition]

    init(_ children: [Condition]) { self.children = children.sortedByCost() }

    override var cost: Double { children.reduce(0) { $0 + $1.cost } }

    override func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var remaining = candidates
        for child in children {
            remaining = try child.evaluate(leaf, remaining)
            if remaining.isEmpty { break }
        }
        return remaining
    }

    override func matches(_ row: Row) throws(StorageError) -> Bool {
        for child in children where try !child.matches(row) { return false }
        return true
    }

    override var hasIndex: Bool { children.contains { $0.hasIndex } }

    /// Any child's objects will do: the fewest are the best.
    override func indexedKeys(_ table: Table) throws(StorageError) -> [ObjectKey]? {
        var best: [ObjectKey]?
        for child in children where child.hasIndex {
            guard let keys = try child.indexedKeys(table), keys.count < best?.count ?? .max else { continue }
            best = keys
            if keys.count <= 64 { break }
        }
        return best
    }

    override func explain(_ depth: Int, into lines: inout [String]) {
        lines.appendPlan(depth, "all of, in this order:")
        for child in children { child.explain(depth + 1, into: &lines) }
    }
}

/// Some child matches. Each is asked only about the rows that no earlier one matched.
final class OrCondition: Condition {
    let children: [Condition]

    init(_ children: [Condition]) { self.children = children.sortedByCost() }

    override var cost: Double { children.reduce(0) { $0 + $1.cost } }

    override func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        var open = candidates
        var found = Mask.none
        for child in children {
            let matches = try child.evaluate(leaf, open)
            found = found | matches
            open = open.subtracting(matches)
            if open.isEmpty { break }
        }
        return found
    }

    override func matches(_ row: Row) throws(StorageError) -> Bool {
        for child in children where try child.matches(row) { return true }
        return false
    }

    override var hasIndex: Bool { children.allSatisfy { $0.hasIndex } }

    /// The objects of all children together.
    override func indexedKeys(_ table: Table) throws(StorageError) -> [ObjectKey]? {
        guard hasIndex else { return nil }
        var union: Set<ObjectKey> = []
        for child in children {
            guard let keys = try child.indexedKeys(table) else { return nil }
            union.formUnion(keys)
        }
        return union.sorted()
    }

    override func explain(_ depth: Int, into lines: inout [String]) {
        lines.appendPlan(depth, "any of:")
        for child in children { child.explain(depth + 1, into: &lines) }
    }
}

/// The child does not match.
final class NotCondition: Condition {
    let child: Condition

    init(_ child: Condition) { self.child = child }

    override var cost: Double { child.cost }

    override func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        candidates.subtracting(try child.evaluate(leaf, candidates))
    }

    override func matches(_ row: Row) throws(StorageError) -> Bool { try !child.matches(row) }

    override func explain(_ depth: Int, into lines: inout [String]) {
        lines.appendPlan(depth, "not:")
        child.explain(depth + 1, into: &lines)
    }
}

extension [Condition] {
    /// Cheap ones first, otherwise in the order of the query.
    fileprivate func sortedByCost() -> [Condition] {
        enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
    }
}
