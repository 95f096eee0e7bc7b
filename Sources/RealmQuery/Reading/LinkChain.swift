// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A sequence of steps, walked for one object at a time.
final class LinkChain {
    let steps: [LinkStep]
    /// Does every step lead to one object at most?
    let isUnary: Bool
    let cancellation: CancellationCheck?
    private let readers: [ColumnReader]
    private let finders: [ObjectFinder]

    init(_ steps: [LinkStep], _ cancellation: CancellationCheck? = nil) {
        self.steps = steps
        self.cancellation = cancellation
        isUnary = steps.allSatisfy { $0.kind == .link }
        readers = steps.map { ColumnReader($0.column) }
        finders = steps.map { ObjectFinder($0.target) }
    }

    var isEmpty: Bool { steps.isEmpty }
    var target: Table? { steps.last?.target }

    /// Calls `body` with the key of every object the chain reaches, in order; it returns false to stop.
    /// Null and unresolved links lead nowhere. A chain without steps reaches the object itself.
    func forEachKey(
        from row: borrowing Row, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard !steps.isEmpty else {
            _ = try body(row.key)
            return
        }
        _ = try walk(0, row, body)
    }

    /// Calls `body` with every object the chain reaches, in order; it returns false to stop.
    func forEachRow(
        from row: borrowing Row, _ body: (Row) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard let finder = finders.last else {
            _ = try body(copy row)
            return
        }
        _ = try walk(0, row) { key throws(StorageError) in
            guard let target = try finder.find(key) else { return true }
            return try body(target)
        }
    }

    /// The one object that a unary chain reaches, if any.
    func target(of row: borrowing Row) throws(StorageError) -> Row? {
        var current = copy row
        for index in steps.indices {
            guard let next = try finders[index].find(try readers[index].link(current)) else { return nil }
            current = next
        }
        return current
    }

    private func walk(
        _ level: Int, _ row: borrowing Row, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        try forEachTarget(level, row) { key throws(StorageError) in
            try cancellation?.step()
            guard level + 1 < steps.count else { return try body(key) }
            guard let next = try finders[level].find(key) else { return true }
            return try walk(level + 1, next, body)
        }
    }

    /// The objects that one step leads to.
    private func forEachTarget(
        _ level: Int, _ row: borrowing Row, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        let step = steps[level]
        switch step.kind {
        case .link:
            let key = try readers[level].link(row)
            if key.rawValue < 0 { return true }
            return try body(key)
        case .list, .set: return try forEachElement(step, at: try readers[level].root(row), in: row.leaf.space, body)
        case .dictionary: return try forEachEntry(step, at: try readers[level].root(row), in: row.leaf.space, body)
        case .backlink:
            let keys = try row.leaf.backlinks(step.column, row: row.index).keys()
            try cancellation?.step(keys.count / 8)
            for key in keys where key.rawValue >= 0 {
                if try !body(key) { return false }
            }
            return true
        }
    }

    private func forEachElement(
        _ step: LinkStep, at root: Ref, in space: NodeSpace, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        guard !root.isNone else { return true }
        let list = try ListView(
            root: root, space: space, shape: step.column.elementShape, mayHoldUnresolved: step.target.hasTombstones)
        switch step.selector {
        case .index(let index):
            guard index < list.count, case .link(_, let key) = try list.value(at: index) else { return true }
            return try body(key)
        case .last:
            guard list.count > 0, case .link(_, let key) = try list.value(at: list.count - 1) else { return true }
            return try body(key)
        case .all, .key:
            var elements = list.elements()
            while let value = try elements.next() {
                if case .link(_, let key) = value, try !body(key) { return false }
            }
            return true
        }
    }

    private func forEachEntry(
        _ step: LinkStep, at root: Ref, in space: NodeSpace, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        guard !root.isNone else { return true }
        let dictionary = try DictionaryView(
            root: root, space: space, keyType: step.column.dictionaryKeyType, fileFormat: step.source.fileFormat)
        if case .key(let wanted) = step.selector {
            guard case .link(_, let key)? = try dictionary.find(wanted) else { return true }
            return try body(key)
        }
        var entries = dictionary.entries()
        while let entry = try entries.next() {
            if case .link(_, let key) = entry.value, try !body(key) { return false }
        }
        return true
    }
}
