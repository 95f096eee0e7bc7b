// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads where one step of a path leads from an object, and keeps the leaves that it read last.
///
/// Used by one thread at a time.
final class StepReader {
    let step: LinkStep
    /// The reader of the link column.
    private let reader: ColumnReader
    /// The check that can stop the query; nil where a caller limits the work itself.
    private let cancellation: CancellationCheck?

    /// Creates a reader for a step; nothing is read from the file yet.
    init(_ step: LinkStep, _ cancellation: CancellationCheck?) {
        self.step = step
        self.cancellation = cancellation
        reader = ColumnReader(step.column, cancellation)
    }

    /// Returns the key that an object holds in a step of one link; null or negative when there is none.
    func link(_ row: borrowing Row) throws(StorageError) -> ObjectKey { try reader.link(row) }

    /// Calls a closure with the keys of the objects that the step leads to. Null and unresolved links lead nowhere.
    ///
    /// - Parameters:
    ///   - row: The object at which the step starts.
    ///   - body: Takes a key and returns whether to continue.
    /// - Returns: False when the closure asked to stop.
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop, and what `body` throws.
    func forEachTarget(
        of row: borrowing Row, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        switch step.kind {
        case .link:
            let key = try reader.link(row)
            if key.rawValue < 0 { return true }
            return try body(key)
        case .list, .set: return try forEachElement(at: try reader.root(row), in: row.leaf.space, body)
        case .dictionary: return try forEachEntry(at: try reader.root(row), in: row.leaf.space, body)
        case .backlink:
            let keys = try row.leaf.backlinks(step.column, row: row.index).keys()
            try cancellation?.step(keys.count / 8)
            for key in keys where key.rawValue >= 0 {
                if try !body(key) { return false }
            }
            return true
        }
    }

    /// Calls a closure with the links of a list or set, or with the one link that the step selects.
    ///
    /// - Parameters:
    ///   - root: The root of the collection; `Ref.none` for an empty one.
    ///   - body: Takes a key and returns whether to continue.
    /// - Returns: False when the closure asked to stop.
    func forEachElement(
        at root: Ref, in space: NodeSpace, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        guard !root.isNone else { return true }
        if !step.hasSelector, let links = try LinkLeaf(ofShortList: root, space, targetTable: step.target.key) {
            for row in 0..<links.count {
                let key = links.key(row)
                if key.rawValue >= 0, try !body(key) { return false }
            }
            return true
        }
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

    /// Calls a closure with the links of a dictionary in the order of its keys, or with the one link that the step selects.
    private func forEachEntry(
        at root: Ref, in space: NodeSpace, _ body: (ObjectKey) throws(StorageError) -> Bool
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
