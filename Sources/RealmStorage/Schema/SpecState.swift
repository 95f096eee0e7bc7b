// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The columns of a table as its spec stores them, taken apart so that they can be changed.
///
/// Public columns come first; backlink columns follow and have no name. Source: docs/format.md, "Spec".
struct SpecState: Sendable {
    /// The type number of each column; for a dictionary with the type of its keys from bit 16 on.
    var types: [Int64] = []
    /// The names of the public columns, in the order of their declaration.
    var names: [String] = [] { didSet { knownNames = nil } }
    /// The attribute bits of each column, as in `ColumnAttributes`.
    var attributes: [Int64] = []
    /// The key of each column, as in `ColumnKey`.
    var keys: [Int64] = []
    /// The roots of lists of distinct strings, one per public column; nil when no column is enumerated.
    var enumerations: [Ref]?

    /// The names as a set, made when it is first needed; nil after a change of `names`.
    private var knownNames: Set<ByteText>?
    /// The leaf indexes in use, and a number below which none is free; nil when they have to be computed again.
    private var leafIndexes: (used: Set<Int>, firstFree: Int)?

    /// Makes the spec of a table without columns.
    init() {}

    /// Reads the spec of a table at `node`, with types and keys of older formats converted to those of format 24.
    ///
    /// - Throws: `.corrupt` for another shape.
    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        types = try SpecState.integers(node, 0, space).map {
            $0 == Int64(ColumnType.historicLinkList) ? Int64(ColumnType.link.rawValue) : $0
        }
        names = try TableReader.names(try space.node(at: try node.requiredRef(1, "column names")), space)
        attributes = try SpecState.integers(node, 2, space)
        keys = try SpecState.integers(node, 5, space).map { ColumnKey($0).modern.rawValue }
        let list = try node.optionalRef(4, "enumerated columns")
        guard !list.isNone else { return }
        let refs = try space.node(at: list)
        var roots: [Ref] = []
        for index in 0..<names.count { roots.append(try refs.optionalRef(index, "enumerated column")) }
        enumerations = roots
    }

    /// Reads an array of the spec; throws `.corrupt` when it is not a node of integers.
    private static func integers(_ node: Node, _ slot: Int, _ space: NodeSpace) throws(StorageError) -> [Int64] {
        let values = try space.node(at: try node.requiredRef(slot, "spec")).integers()
        return (0..<values.count).map { values[$0] }
    }

    /// Writes a new spec node and its arrays; returns its ref.
    func write(_ writes: WriteSpace) throws(StorageError) -> Ref {
        var slots = [
            try writes.makeIntegers(types).ref, try writes.makeNames(names), try writes.makeIntegers(attributes).ref,
            .none, .none, try writes.makeIntegers(keys).ref,
        ]
        if let enumerations, enumerations.contains(where: { !$0.isNone }) {
            slots[4] = try writes.makeRefs(enumerations)
        }
        return try writes.makeRefs(slots)
    }

    /// Discards the nodes of the spec at `ref`, but not the lists of distinct strings, which the new spec takes over.
    static func discard(_ ref: Ref, _ writes: WriteSpace) throws(StorageError) {
        let node = try writes.node(at: ref)
        for slot in [0, 1, 2, 4, 5] {
            let child = try node.optionalRef(slot, "spec")
            if !child.isNone { try writes.discard(child) }
        }
        writes.discard(node)
    }

    // MARK: - Columns

    /// Returns the position of the column with that key, or nil; only the leaf index in the key is compared.
    func position(of key: ColumnKey) -> Int? {
        let index = key.leafIndex
        // Where no column was ever removed, leaves are in the order of the columns. No two columns have one leaf index.
        if index < keys.count, ColumnKey(keys[index]).leafIndex == index { return index }
        return keys.firstIndex { ColumnKey($0).leafIndex == index }
    }

    /// Returns whether a public column has the name.
    mutating func contains(_ name: String) -> Bool {
        let known = knownNames ?? Set(texts: names)
        knownNames = known
        return known.contains(name)
    }

    /// Returns the lowest leaf index that no column uses.
    mutating func freeLeafIndex() -> Int {
        var known = leafIndexes ?? (used: Set(keys.map { ColumnKey($0).leafIndex }), firstFree: 0)
        leafIndexes = nil
        while known.used.contains(known.firstFree) { known.firstFree += 1 }
        leafIndexes = known
        return known.firstFree
    }

    /// Adds a column: a public one after the public ones, a backlink column at the end.
    ///
    /// - Parameters:
    ///   - type: The type number, for dictionaries with that of the keys.
    ///   - name: The name; nil for a backlink column.
    mutating func insert(_ key: ColumnKey, type: Int64, attributes bits: Int64, name: String?) {
        let position = name == nil ? keys.count : names.count
        types.insert(type, at: position)
        attributes.insert(bits, at: position)
        keys.insert(key.rawValue, at: position)
        leafIndexes?.used.insert(key.leafIndex)
        guard let name else { return }
        var known = knownNames
        knownNames = nil
        names.append(name)
        known?.insert(name)
        knownNames = known
        enumerations?.append(.none)
    }

    /// Removes the column at a position; returns the root of its list of distinct strings, or `Ref.none`.
    mutating func remove(at position: Int) -> Ref {
        types.remove(at: position)
        attributes.remove(at: position)
        keys.remove(at: position)
        leafIndexes = nil
        guard position < names.count else { return .none }
        names.remove(at: position)
        return enumerations?.remove(at: position) ?? .none
    }
}

/// Nodes of refs and of names, as specs and lists of tables have them.
extension WriteSpace {
    func makeRefs(_ refs: [Ref], _ kind: NodeKind = .refs) throws(StorageError) -> Ref {
        try makeIntegers(refs.map { Int64(bitPattern: $0.rawValue) }, kind).ref
    }

    /// Makes a list of names and returns its ref: cells of equal width that end with the number of unused bytes.
    ///
    /// - Throws: `.limit` for a name of more than 63 bytes of UTF-8.
    func makeNames(_ names: [String]) throws(StorageError) -> Ref {
        let longest = names.map(\.utf8.count).max() ?? 0
        guard longest < 64 else { throw .limit("a name may have at most 63 bytes") }
        // No name is null, so cells of width 0, which read as null, occur in empty lists only.
        let code = names.allSatisfy(\.isEmpty) ? 0 : longest == 0 ? 0 : Int.bitWidth - longest.leadingZeroBitCount + 1
        let width = (1 << code) >> 1
        let node = try makeNode(.elements, widthCode: code, count: names.count)
        guard width > 0 else { return node.ref }
        for (index, name) in names.enumerated() {
            let bytes = ByteStorage(name)
            withExtendedLifetime(bytes) { node.store(bytes.view, atByte: index * width) }
            node.store(UInt8(width - 1 - name.utf8.count), atByte: (index + 1) * width - 1)
        }
        return node.ref
    }
}
