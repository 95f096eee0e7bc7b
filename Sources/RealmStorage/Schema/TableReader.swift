// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Reads the top node of a table and its spec.
///
/// | slot | meaning |
/// |---|---|
/// | 0 | spec |
/// | 2 | cluster tree |
/// | 3 | table key |
/// | 4 | search index roots by leaf index |
/// | 7, 8 | opposite table and column keys by leaf index |
/// | 11 | key of the primary key column |
/// | 12 | flags; bits 1:0 the table kind |
/// | 13 | tombstones |
///
/// Source: docs/format.md, "Tables" and "Spec".
struct TableReader {
    /// The place that everything in a table but its trees is read from.
    ///
    /// Nodes never change while a version that has them is kept, so a later version with the same source has the same columns.
    struct Source: Sendable {
        /// The ref of the table's top node.
        let ref: Ref
        /// The slots of the top node that columns and keys are read from, as stored.
        fileprivate let slots: [UInt64]
        /// The slot with the roots of search indexes, which change with the objects.
        fileprivate let indexes: UInt64
        /// The full name of the table.
        fileprivate let name: String

        /// Returns whether all columns are the same, except for the roots of their search indexes.
        func hasSameSchema(as other: Source) -> Bool { slots == other.slots && name == other.name }
    }

    /// The contents of the spec and the per-column arrays of a table.
    struct Parts {
        /// The place that the parts were read from.
        let source: Source
        /// The key of the table, whose lowest bits are its position.
        let key: TableKey
        /// The full name of the table.
        let name: String
        /// The role of the table's objects: top-level, embedded or asymmetric.
        let kind: TableKind
        /// The public columns in the order of their declaration.
        let columns: [Column]
        /// The hidden columns of incoming links, which have no name.
        let backlinks: [Column]
        /// The column of the primary key; nil when the class has none.
        let primaryKey: Column?
    }

    /// The arrays of a spec, all with one entry per column except `names`, which has public columns only.
    private struct Spec {
        /// Type numbers, with that of dictionary keys in the upper bits.
        let types: PackedIntegers
        /// The names of the public columns.
        let names: [String]
        /// The attribute bits of each column, as in `ColumnAttributes`.
        let attributes: PackedIntegers
        /// The key of each column, as in `ColumnKey`.
        let keys: PackedIntegers
        /// The lists of distinct strings, by position.
        let enumerations: Node?
    }

    private static let specSlotCount = 6
    /// The greatest number of columns that is accepted; a key cannot name more.
    private static let maximumColumnCount = 0x10000

    private let top: Node
    private let space: NodeSpace
    /// The full name of the table.
    private let name: String
    /// The format version of the file.
    private let fileFormat: Int
    /// The table, for error messages.
    private let what: String

    /// Attaches the top node of a table.
    ///
    /// - Throws: `.corrupt` for a node without refs or with too few slots.
    init(ref: Ref, name: String, space: NodeSpace, fileFormat: Int) throws(StorageError) {
        top = try space.node(at: ref)
        self.space = space
        self.name = name
        self.fileFormat = fileFormat
        what = "table '\(name)'"
        guard top.hasRefs, !top.isInner, top.count >= 10 else { throw top.corrupt("\(what): bad top node") }
    }

    /// Reads the table, or takes the columns of the same table in another version if they are equal.
    ///
    /// - Parameters:
    ///   - clusterShift: log2 of the capacity of cluster leaves.
    ///   - previous: The same table in a version that is still kept.
    /// - Throws: `.corrupt` when a part of the table is damaged.
    func table(clusterShift: Int, previous: Table? = nil) throws(StorageError) -> Table {
        let objects = ClusterTree(root: try top.requiredRef(2, "\(what): objects"), space: space, shift: clusterShift)
        let tombstones = ClusterTree(
            root: try top.optionalRef(13, "\(what): tombstones"), space: space, shift: clusterShift)
        let source = source
        if let previous, previous.fileFormat == fileFormat, source.hasSameSchema(as: previous.source),
            // A list of distinct strings is read in the space of its version.
            previous.columns.allSatisfy({ $0.enumeration == nil })
        {
            guard source.indexes != previous.source.indexes else {
                return try Table(previous, source, previous.columns, objects: objects, tombstones: tombstones)
            }
            let columns = try reindexed(previous.columns)
            return try Table(previous, source, columns, objects: objects, tombstones: tombstones)
        }
        return try Table(try parts(), objects: objects, tombstones: tombstones, fileFormat: fileFormat)
    }

    /// Adds the nodes that belong to this table alone to `claimed`: those of its spec, of its
    /// arrays, and the roots of its trees.
    ///
    /// - Throws: `.corrupt` when one of them belongs to another table too.
    func claimNodes(_ claimed: inout Set<Ref>) throws(StorageError) {
        try claim(top.ref, &claimed)
        try claimChildren(of: top, &claimed)
        for slot in [0, 4] {
            let ref = try top.optionalRef(slot, what)
            if !ref.isNone { try claimChildren(of: try space.node(at: ref), &claimed) }
        }
    }

    /// Claims all nodes that a node refers to.
    private func claimChildren(of node: Node, _ claimed: inout Set<Ref>) throws(StorageError) {
        guard node.hasRefs else { throw node.corrupt("\(what): expected a node with refs, found one without") }
        for index in 0..<node.count {
            if case .ref(let child) = try node.slot(index) { try claim(child, &claimed) }
        }
    }

    /// Claims one node; throws `.corrupt` when it was claimed before.
    private func claim(_ ref: Ref, _ claimed: inout Set<Ref>) throws(StorageError) {
        guard claimed.insert(ref).inserted else { throw .corrupt(ref: ref, reason: "\(what) shares a node") }
    }

    /// The place that columns and keys are read from in this version.
    private var source: Source {
        let slots = [0, 3, 7, 8, 11, 12].map { slot($0) }
        return Source(ref: top.ref, slots: slots, indexes: slot(4), name: name)
    }

    /// Returns a slot of the top node as stored; 0 where it is missing.
    private func slot(_ index: Int) -> UInt64 { index < top.count ? UInt64(bitPattern: top.integer(index)) : 0 }

    /// Returns the same columns with the present roots of their search indexes.
    private func reindexed(_ columns: [Column]) throws(StorageError) -> [Column] {
        let indexes = try indexRoots()
        var result: [Column] = []
        result.reserveCapacity(columns.count)
        for column in columns {
            let root = column.leafIndex < indexes.count ? try indexes.optionalRef(column.leafIndex, "search index") : .none
            result.append(root == column.searchIndex ? column : column.with(searchIndex: root))
        }
        return result
    }

    /// Returns the node with the roots of search indexes.
    private func indexRoots() throws(StorageError) -> Node {
        let indexes = try space.node(at: try top.requiredRef(4, "\(what): search indexes"))
        guard indexes.hasRefs else { throw indexes.corrupt("\(what): expected refs of search indexes, found none") }
        return indexes
    }

    /// Reads the spec and the per-column arrays.
    private func parts() throws(StorageError) -> Parts {
        let columns = try columns(of: spec())
        let primaryKey = try primaryKey(among: columns)
        guard let kind = TableKind(rawValue: Int(try top.number(12, "\(what): flags") & 3)) else {
            throw top.corrupt("\(what): table kind 3 is not defined")
        }
        return Parts(
            source: source,
            key: TableKey(UInt32(truncatingIfNeeded: try top.number(3, "\(what): key"))), name: name, kind: kind,
            columns: columns.filter { $0.type != .backlink }, backlinks: columns.filter { $0.type == .backlink },
            primaryKey: primaryKey)
    }

    /// Returns the column that slot 11 names; throws `.corrupt` when it cannot be a primary key.
    private func primaryKey(among columns: [Column]) throws(StorageError) -> Column? {
        // A tagged 0 is a column key: the first int column of a table may have it.
        guard case .tagged(let key) = try top.slot(11) else { return nil }
        let wanted = ColumnKey(Int64(bitPattern: key))
        guard let column = columns.first(where: { $0.type != .backlink && $0.key == wanted }) else {
            throw top.corrupt("\(what): the primary key is not a column")
        }
        guard [.int, .string, .objectID, .uuid].contains(column.type), column.collection == nil else {
            throw top.corrupt("\(what): '\(column.name)' cannot be a primary key")
        }
        return column
    }

    // MARK: - Spec

    /// Reads the spec; throws `.corrupt` unless its arrays have the same length.
    private func spec() throws(StorageError) -> Spec {
        let node = try space.node(at: try top.requiredRef(0, "\(what): spec"))
        guard node.hasRefs, node.count == TableReader.specSlotCount else {
            throw node.corrupt("\(what): a spec of \(node.count) slots")
        }
        let types = try integers(node, 0)
        let attributes = try integers(node, 2)
        let keys = try integers(node, 5)
        guard types.count == attributes.count, types.count == keys.count, types.count <= TableReader.maximumColumnCount else {
            throw node.corrupt("\(what): the arrays of the spec differ in length")
        }
        let names = try TableReader.names(try space.node(at: try node.requiredRef(1, "\(what): column names")), space)
        let enumerations = try node.optionalRef(4, "\(what): enumerated columns")
        let list = enumerations.isNone ? nil : try space.node(at: enumerations)
        if let list, !list.hasRefs || list.count < names.count { throw list.corrupt("\(what): bad list of enumerated columns") }
        return Spec(types: types, names: names, attributes: attributes, keys: keys, enumerations: list)
    }

    /// Attaches an array of the spec; throws `.corrupt` when it is not a plain node of integers.
    private func integers(_ node: Node, _ slot: Int) throws(StorageError) -> PackedIntegers {
        let child = try space.node(at: try node.requiredRef(slot, what))
        guard !child.hasRefs else { throw child.corrupt("\(what): a plain integer node belongs here") }
        return try child.integers()
    }

    /// Reads a list of names of tables or columns. Names are not nullable: a null is read as "".
    ///
    /// - Throws: `.corrupt` when the node is not a leaf of short strings.
    static func names(_ node: Node, _ space: NodeSpace) throws(StorageError) -> [String] {
        guard !node.hasRefs, node.widthType == Node.WidthType.multiply.rawValue, node.count <= 0xffff else {
            throw node.corrupt("a list of names is a leaf of short strings")
        }
        let leaf = try StringLeaf(node, space)
        var names: [String] = []
        for index in 0..<leaf.count { names.append(try leaf.string(index)?.string ?? "") }
        return names
    }

    /// Returns all columns, hidden ones included; throws `.corrupt` for two of the same name or leaf index.
    private func columns(of spec: Spec) throws(StorageError) -> [Column] {
        let opposites = try Opposites(top, indexes: try indexRoots(), space, what)
        var columns: [Column] = []
        var leafIndexes: Set<Int> = []
        var names: Set<ByteText> = []
        for index in 0..<spec.types.count {
            let column = try column(index, spec, opposites)
            guard leafIndexes.insert(column.leafIndex).inserted else {
                throw top.corrupt("\(what): two columns share leaf index \(column.leafIndex)")
            }
            if column.type != .backlink {
                guard names.insert(column.name).inserted else {
                    throw top.corrupt("\(what): two columns are named '\(column.name)'")
                }
            }
            columns.append(column)
        }
        guard columns.count(where: { $0.type != .backlink }) == spec.names.count else {
            throw top.corrupt("\(what): column names do not match the columns")
        }
        return columns
    }

    /// Makes one column from the spec and the per-column arrays.
    private func column(_ index: Int, _ spec: Spec, _ opposites: Opposites) throws(StorageError) -> Column {
        let word = spec.types[index]
        let key = ColumnKey(spec.keys[index])
        let attributes = ColumnAttributes(rawValue: Int(truncatingIfNeeded: spec.attributes[index]))
        let type = try type(number: Int(word & 0xffff), index)
        guard (type == .backlink) == (index >= spec.names.count) else {
            throw top.corrupt("\(what): column \(index) is among the wrong kind of columns")
        }
        let collection = try collection(attributes, index)
        try check(key, type, attributes, ofColumn: index)
        return Column(
            name: type == .backlink ? "" : spec.names[index], key: key, type: type, attributes: attributes,
            collection: collection,
            dictionaryKeyType: ColumnType(rawValue: Int(word >> 16)) == .int && collection == .dictionary ? .int : .string,
            targetTable: try opposites.table(key.leafIndex, type), oppositeColumn: opposites.column(key.leafIndex, type),
            searchIndex: try opposites.searchIndex(key.leafIndex),
            enumeration: try enumeration(index, type, spec))
    }

    /// Returns the type with that number; throws `.corrupt` for an unknown one.
    private func type(number: Int, _ index: Int) throws(StorageError) -> ColumnType {
        // The SDKs' own upgrade to format 24 corrects the keys of such columns, but not their types.
        if number == ColumnType.historicLinkList { return .link }
        guard let type = ColumnType(rawValue: number) else {
            throw top.corrupt("\(what): column \(index) has unknown type \(number)")
        }
        return type
    }

    /// Returns the kind of collection that the attributes state; throws `.corrupt` for two at once.
    private func collection(_ attributes: ColumnAttributes, _ index: Int) throws(StorageError) -> CollectionKind? {
        let kinds: [(ColumnAttributes, CollectionKind)] = [(.list, .list), (.set, .set), (.dictionary, .dictionary)]
        let present = kinds.filter { attributes.contains($0.0) }
        guard present.count <= 1 else { throw top.corrupt("\(what): column \(index) is several collections at once") }
        return present.first?.1
    }

    /// Checks that the key states the same type and attributes as the spec, and throws `.corrupt` otherwise.
    private func check(
        _ key: ColumnKey, _ type: ColumnType, _ attributes: ColumnAttributes, ofColumn index: Int
    ) throws(StorageError) {
        guard key.rawValue >= 0 else { throw top.corrupt("\(what): column \(index) has the impossible key \(key.rawValue)") }
        let inKey =
            key.typeNumber == ColumnType.historicLinkList && fileFormat < 24
            ? ColumnType.link.rawValue : key.typeNumber
        let relevant: ColumnAttributes = [.list, .set, .dictionary, .nullable]
        let keyAttributes = ColumnAttributes(rawValue: key.attributeBits)
        guard inKey == type.rawValue, keyAttributes.intersection(relevant) == attributes.intersection(relevant) else {
            throw top.corrupt("\(what): the key of column \(index) disagrees with its type or attributes")
        }
    }

    /// Returns the list of distinct strings of a column; nil for columns that have none.
    private func enumeration(_ index: Int, _ type: ColumnType, _ spec: Spec) throws(StorageError) -> StringEnumeration? {
        guard type == .string, let list = spec.enumerations else { return nil }
        let root = try list.optionalRef(index, "\(what): enumerated column")
        return root.isNone ? nil : StringEnumeration(root: root, space: space)
    }
}
