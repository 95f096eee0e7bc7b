// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Reads what objects store into digests.
///
/// Used by one thread at a time.
final class DigestReader {
    private static let maximumDepth = 128

    private let leaves: LeafColumns
    private let snapshot: Snapshot
    private let budget: WorkBudget
    private var depth = 0

    /// `leaves` remembers what was attached for the row before.
    init(_ snapshot: Snapshot, _ leaves: LeafColumns, _ budget: WorkBudget) {
        self.snapshot = snapshot
        self.leaves = leaves
        self.budget = budget
    }

    /// The digest of an object with the embedded objects that it owns.
    func digest(of row: Row, in table: Table) throws(StorageError) -> ObjectDigest {
        var digest = ObjectDigest(of: row.key)
        try add(row, table, to: &digest)
        return digest
    }

    private func add(_ row: Row, _ table: Table, to digest: inout ObjectDigest) throws(StorageError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= DigestReader.maximumDepth else {
            throw .corrupt(ref: row.leaf.node.ref, reason: "objects embedded deeper than \(DigestReader.maximumDepth)")
        }
        try budget.spend(table.columns.count)
        let leaf = leaves.attached(table, row.leaf)
        for position in table.columns.indices {
            let column = table.columns[position]
            digest.add(UInt64(bitPattern: column.key.rawValue))
            guard column.collection == nil else {
                try addCollection(column, row, to: &digest)
                continue
            }
            try add(try leaf.value(position, row.index), column, to: &digest)
        }
    }

    // MARK: - Values

    func addCollection(_ column: Column, _ row: Row, to digest: inout ObjectDigest) throws(StorageError) {
        switch column.collection {
        case nil: break
        case .list, .set:
            let list = try row.list(column, in: snapshot)
            digest.add(UInt64(truncatingIfNeeded: list.count))
            var elements = list.elements()
            while let element = try elements.next() {
                try budget.spend()
                try add(element, column, to: &digest)
            }
        case .dictionary: try add(try row.dictionary(column, in: snapshot), column, to: &digest)
        }
    }

    private func add(
        _ dictionary: DictionaryView, _ column: Column?, to digest: inout ObjectDigest, within walk: WalkBudget? = nil
    ) throws(StorageError) {
        digest.add(UInt64(truncatingIfNeeded: dictionary.count))
        var entries = dictionary.entries(within: walk)
        while let entry = try entries.next() {
            try budget.spend()
            switch entry.key {
            case .text(let bytes): digest.add(bytes)
            case .integer(let number): digest.add(UInt64(bitPattern: number))
            }
            try add(entry.value, column, to: &digest, within: walk)
        }
    }

    /// `column` is the property a value stands in; nil inside Mixed.
    func add(
        _ value: Value, _ column: Column?, to digest: inout ObjectDigest, within walk: WalkBudget? = nil
    ) throws(StorageError) {
        switch value {
        case .link(let table, let key): try addLink(table, key, column, to: &digest)
        case .list(let root):
            let walk = try nested(root, walk)
            let list = try ListView(nested: root, space: snapshot.space)
            digest.add(UInt64(truncatingIfNeeded: list.count) | 1 << 42)
            var elements = list.elements(within: walk)
            while let element = try elements.next() {
                try budget.spend()
                try add(element, nil, to: &digest, within: walk)
            }
            depth -= 1
        case .dictionary(let root):
            let walk = try nested(root, walk)
            let dictionary = try DictionaryView(root: root, space: snapshot.space, fileFormat: snapshot.fileFormat)
            try add(dictionary, nil, to: &digest, within: walk)
            depth -= 1
        case .string(let bytes), .binary(let bytes):
            try budget.meet(byteCount: bytes.count)
            digest.addScalar(value)
        default: digest.addScalar(value)
        }
        // In Mixed types count.
        if column == nil || column?.type == .mixed { digest.add(UInt64(truncatingIfNeeded: value.typeRank) | 1 << 43) }
    }

    /// Goes into a collection, as a part of the walk around it or of a new one.
    private func nested(_ root: Ref, _ walk: WalkBudget?) throws(StorageError) -> WalkBudget {
        depth += 1
        guard depth <= DigestReader.maximumDepth else {
            throw .corrupt(ref: root, reason: "collections nested deeper than \(DigestReader.maximumDepth)")
        }
        return walk ?? WalkBudget(snapshot.space)
    }

    private func addLink(
        _ tableKey: TableKey, _ key: ObjectKey, _ column: Column?, to digest: inout ObjectDigest
    ) throws(StorageError) {
        digest.add(UInt64(tableKey.rawValue))
        digest.add(UInt64(bitPattern: key.rawValue))
        guard column?.type == .link, let table = snapshot.table(tableKey), table.kind == .embedded,
            let row = try table.find(key)
        else { return }
        try add(row, table, to: &digest)
    }
}
