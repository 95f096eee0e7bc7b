// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads the stored values of objects into digests, from which their entity tags are made.
///
/// An embedded object is part of its owner's digest; a link to another object counts by its target
/// alone. One reader serves one response, on one thread at a time.
final class DigestReader {
    /// The deepest nesting of embedded objects and of collections in Mixed; deeper ones exist in damaged files only.
    private static let maximumDepth = 128

    /// The leaves that were read last, shared with the encoder of the same response.
    private let leaves: LeafColumns
    /// The version of the realm that the objects are read from.
    private let snapshot: Snapshot
    /// The work that the response may cost.
    private let budget: WorkBudget
    /// Counts the links that the version hides.
    private let hidden: HiddenLinks
    /// The number of embedded objects and nested collections around the value that is being read.
    private var depth = 0

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - snapshot: The version that is read.
    ///   - leaves: Remembers the columns that were attached for the row before.
    ///   - budget: The work that the response may cost.
    init(_ snapshot: Snapshot, _ leaves: LeafColumns, _ budget: WorkBudget) {
        self.snapshot = snapshot
        self.leaves = leaves
        self.budget = budget
        hidden = HiddenLinks(snapshot: snapshot)
    }

    /// Returns the digest of an object with the embedded objects that it owns.
    ///
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    /// - Complexity: O(n) in the size of everything that the object stores.
    func digest(of row: Row, in table: Table) throws(StorageError) -> ObjectDigest {
        var digest = ObjectDigest(of: row.key)
        try add(row, table, isOutermost: true, to: &digest)
        return digest
    }

    /// Adds all properties of an object, each with the key of its column.
    ///
    /// - Throws: `StorageError.corrupt` when objects are embedded too deep, otherwise as
    ///   `digest(of:in:)`.
    private func add(
        _ row: Row, _ table: Table, isOutermost: Bool, to digest: inout ObjectDigest
    ) throws(StorageError) {
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
                if isOutermost { try addHidden(column, row, in: table, to: &digest) }
                continue
            }
            try add(try leaf.value(position, row.index), column, to: &digest)
        }
    }

    // MARK: - Values

    /// Adds the elements of a collection with their number. A property that is not a collection adds nothing.
    ///
    /// - Parameters:
    ///   - digest: The digest that grows.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
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

    /// Adds the number of links that a collection of the object itself leaves out, because `$meta` reports it. It does not for
    /// embedded objects inside of the object.
    ///
    /// - Parameters:
    ///   - digest: The digest that grows.
    /// - Throws: `StorageError` for a damaged file.
    func addHidden(_ column: Column, _ row: Row, in table: Table, to digest: inout ObjectDigest) throws(StorageError) {
        guard hidden.arePossible else { return }
        let count = try hidden.count(column, row, in: table)
        if count > 0 { digest.add(UInt64(truncatingIfNeeded: count) | 1 << 44) }
    }

    /// Adds the entries of a dictionary with their keys and their number.
    ///
    /// - Parameters:
    ///   - column: The property that it is in; nil inside Mixed.
    ///   - digest: The digest that grows.
    ///   - walk: The bound on the nodes of the collection around it; nil for the outermost.
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

    /// Adds one value.
    ///
    /// In Mixed the type counts too, so that for example 1 and 1.0 differ.
    ///
    /// - Parameters:
    ///   - column: The property that the value is in; nil inside Mixed.
    ///   - digest: The digest that grows.
    ///   - walk: The bound on the nodes of the collection around it; nil for the outermost.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
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
        // Inside Mixed the type of a value is part of the digest.
        if column == nil || column?.type == .mixed { digest.add(UInt64(truncatingIfNeeded: value.typeRank) | 1 << 43) }
    }

    /// Enters a collection inside Mixed, as part of the walk around it or of a new one. The caller lowers `depth` afterwards.
    ///
    /// - Throws: `StorageError.corrupt` when collections are nested too deep.
    private func nested(_ root: Ref, _ walk: WalkBudget?) throws(StorageError) -> WalkBudget {
        depth += 1
        guard depth <= DigestReader.maximumDepth else {
            throw .corrupt(ref: root, reason: "collections nested deeper than \(DigestReader.maximumDepth)")
        }
        return walk ?? WalkBudget(snapshot.space)
    }

    /// Adds a link by its target, and the whole object if the target is embedded.
    private func addLink(
        _ tableKey: TableKey, _ key: ObjectKey, _ column: Column?, to digest: inout ObjectDigest
    ) throws(StorageError) {
        digest.add(UInt64(tableKey.rawValue))
        guard column?.type == .link, let table = snapshot.table(tableKey), table.kind == .embedded,
            let row = try table.find(key)
        else { return digest.add(UInt64(bitPattern: key.rawValue)) }
        // The key of an embedded object would reveal how many there are, of owners that the reader may not see.
        try add(row, table, isOutermost: false, to: &digest)
    }
}
