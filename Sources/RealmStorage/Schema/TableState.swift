// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A table in a write transaction: its top node taken apart.
///
/// It is a value, so that a savepoint is a copy. It is copied for every step of a write, so the
/// parts that seldom change are in one object. `flush` writes what changed back into nodes.
package struct TableState {
    /// The table node as it was last flushed.
    private(set) var ref: Ref
    /// The key of the table in its file.
    package let key: TableKey
    /// The role of the table's objects: top-level, embedded or asymmetric.
    package internal(set) var kind: TableKind
    /// The name, the spec and the per-column arrays, shared between copies until one changes.
    private var definition: TableDefinition
    /// The full name of the table.
    package internal(set) var name: String {
        get { definition.name }
        set { ownDefinition().name = newValue }
    }
    /// The columns as the spec stores them. It is changed in place, as schemas may be large.
    var spec: SpecState {
        get { definition.spec }
        _modify {
            let own = ownDefinition()
            yield &own.spec
        }
    }
    /// The root of the cluster tree of the objects.
    package internal(set) var objects: Ref { didSet { isChanged = true } }
    /// The root of the tree of tombstones; `Ref.none` when there never was one.
    var tombstones: Ref { didSet { isChanged = true } }
    /// Whether links to this table may be unresolved.
    package var hasTombstones: Bool { !tombstones.isNone }
    /// The roots of search indexes by leaf index; `Ref.none` for columns without one.
    var indexes: [Ref] { didSet { isChanged = true } }
    /// The other table of each link or backlink column, by leaf index.
    var oppositeTables: [Int64] {
        get { definition.oppositeTables }
        _modify {
            let own = ownDefinition()
            yield &own.oppositeTables
        }
    }
    /// The other column of each link or backlink column, by leaf index.
    var oppositeColumns: [Int64] {
        get { definition.oppositeColumns }
        _modify {
            let own = ownDefinition()
            yield &own.oppositeColumns
        }
    }
    /// A counter that is raised when a column is removed, so that a later one has another key.
    var columnSequence: UInt64
    /// The sequence number from which the key of the next object follows.
    var objectSequence: UInt64 { didSet { isChanged = true } }
    /// The key of the primary key column; nil when the class has none.
    var primaryKeyColumn: ColumnKey?
    /// The columns; another object whenever one of them changes.
    ///
    /// It is made when it is first needed, so that many changes one after another do not make it every time.
    var columnSet: TableDefinition.ColumnSet {
        if let known = definition.columnSet { return known }
        let made = makeColumns()
        definition.columnSet = made
        return made
    }
    /// Whether anything below the table changed since the transaction began.
    private(set) var isChanged = false
    /// Whether the spec or the per-column arrays have to be written again.
    var isSchemaChanged = false
    /// Whether the content version counter of the table was raised by this transaction already.
    private var isCounted = false

    /// The number of slots of top nodes that are written here.
    private static let slotCount = 14
    /// The slots of the top node. Source: docs/format.md, "Tables".
    private enum Slot {
        /// The slots of the top node of a table.
        static let spec = 0, objects = 2, key = 3, indexes = 4, columnSequence = 5, changes = 6, oppositeTables = 7
        /// Other slots of the top node of a table.
        static let oppositeColumns = 8, objectSequence = 9, primaryKey = 11, flags = 12, tombstones = 13
    }

    /// Takes the table node at `ref` apart. The snapshot that the transaction starts from has read
    /// the same node with all checks of `TableReader`.
    ///
    /// - Throws: `.corrupt` for a damaged node.
    init(ref: Ref, name: String, _ space: NodeSpace) throws(StorageError) {
        let top = try space.node(at: ref)
        let what = "table '\(name)'"
        self.ref = ref
        key = TableKey(UInt32(truncatingIfNeeded: try top.number(Slot.key, what)))
        kind = TableKind(rawValue: Int(try top.number(Slot.flags, what) & 3)) ?? .topLevel
        definition = TableDefinition(
            name: name, space, try SpecState(try space.node(at: try top.requiredRef(Slot.spec, what)), space),
            oppositeTables: try TableState.integers(top, Slot.oppositeTables, space, of: what),
            oppositeColumns: try TableState.integers(top, Slot.oppositeColumns, space, of: what).map {
                ColumnKey($0).modern.rawValue
            })
        objects = try top.requiredRef(Slot.objects, what)
        tombstones = try top.optionalRef(Slot.tombstones, what)
        let list = try space.node(at: try top.requiredRef(Slot.indexes, what))
        var roots: [Ref] = []
        for index in 0..<list.count { roots.append(try list.optionalRef(index, what)) }
        indexes = roots
        columnSequence = try top.number(Slot.columnSequence, what)
        objectSequence = try top.number(Slot.objectSequence, what)
        if case .tagged(let raw) = try top.slot(Slot.primaryKey) {
            primaryKeyColumn = ColumnKey(Int64(bitPattern: raw))
        }
    }

    /// Makes the node of a new, empty table.
    ///
    /// - Parameters:
    ///   - name: Its full name, which the caller has checked.
    ///   - kind: The role of its objects.
    ///   - writes: The nodes of the transaction.
    init(new key: TableKey, name: String, kind: TableKind, _ writes: WriteSpace) throws(StorageError) {
        self.key = key
        self.kind = kind
        definition = TableDefinition(name: name, writes.space, SpecState(), oppositeTables: [], oppositeColumns: [])
        objects = try writes.makeIntegers([MutableNode.tagged(0)], .refs).ref
        tombstones = .none
        indexes = []
        columnSequence = 0
        objectSequence = 0
        var top = try writes.makeNode(.refs, count: TableState.slotCount, capacity: TableState.slotCount * 8)
        for slot in [Slot.indexes, Slot.oppositeTables, Slot.oppositeColumns] {
            try top.set(slot, try writes.makeNode(slot == Slot.indexes ? .refs : .integers).ref)
        }
        try top.set(Slot.spec, try definition.spec.write(writes))
        try top.set(Slot.objects, objects)
        try top.set(Slot.key, tagged: UInt64(key.rawValue))
        try top.set(Slot.columnSequence, tagged: 0)
        try top.set(Slot.changes, tagged: 0)
        try top.set(Slot.flags, tagged: UInt64(kind.rawValue))
        ref = top.ref
        isChanged = true
        isSchemaChanged = true
    }

    /// Reads an array with one integer for each column of the table.
    ///
    /// - Parameters:
    ///   - slot: The slot of `top` with the ref of the array.
    ///   - space: The space that the ref points into.
    ///   - what: The name of the array in error messages.
    /// - Throws: `.corrupt` when the slot has no ref, or the node is not bit-packed.
    private static func integers(_ top: Node, _ slot: Int, _ space: NodeSpace, of what: String) throws(StorageError) -> [Int64] {
        let values = try space.node(at: try top.requiredRef(slot, what)).integers()
        return (0..<values.count).map { values[$0] }
    }

    // MARK: - Columns

    /// The public columns in the order of their declaration.
    package var columns: [Column] { columnSet.columns }
    /// The hidden columns of incoming links, which have no name.
    package var backlinks: [Column] { columnSet.backlinks }

    /// The leaf index of the primary key column; nil when the class has none.
    package var primaryKeyLeafIndex: Int? { primaryKeyColumn?.leafIndex }

    /// The column of the primary key; nil when the class has none.
    package var primaryKey: Column? {
        primaryKeyColumn.flatMap { key in columns.first { $0.leafIndex == key.leafIndex } }
    }

    /// Returns the public column of that name, or nil.
    package func column(named name: String) -> Column? { columnSet.positions[name].map { columnSet.columns[$0] } }
    /// Returns the position of a public column in `columns`, or nil; `guess` is a position that is compared first.
    package func columnPosition(named name: String, guess: Int = 0) -> Int? {
        let set = columnSet
        return guess < set.columns.count && set.columns[guess].name == name ? guess : set.positions[name]
    }

    /// Returns any column, public or hidden, by its key, of which only the leaf index is compared.
    func column(_ key: ColumnKey) -> Column? {
        columns.first { $0.leafIndex == key.leafIndex } ?? backlinks.first { $0.leafIndex == key.leafIndex }
    }

    /// Returns the backlink column for links from column `origin` of `table`, or nil.
    func backlinkColumn(from table: TableKey, _ origin: ColumnKey) -> Column? {
        backlinks.first { $0.targetTable == table && $0.oppositeColumn?.leafIndex == origin.leafIndex }
    }

    /// Returns the root of the search index of a column, `Ref.none` without one.
    func indexRoot(_ column: Column) -> Ref { indexRoot(column.leafIndex) }

    /// Returns the root of the search index at a leaf index, or `Ref.none`.
    func indexRoot(_ leafIndex: Int) -> Ref { leafIndex < indexes.count ? indexes[leafIndex] : .none }

    /// Stores the root of a column's search index.
    mutating func setIndexRoot(_ root: Ref, leafIndex: Int) {
        while indexes.count <= leafIndex { indexes.append(.none) }
        indexes[leafIndex] = root
    }

    /// Stores the table and column at the other end of a link or backlink column.
    mutating func setOpposite(_ table: TableKey, _ column: ColumnKey, leafIndex: Int) {
        while oppositeTables.count <= leafIndex { oppositeTables.append(Int64(TableKey.null.rawValue)) }
        while oppositeColumns.count <= leafIndex { oppositeColumns.append(ColumnKey.null.rawValue) }
        oppositeTables[leafIndex] = Int64(table.rawValue)
        oppositeColumns[leafIndex] = column.rawValue
    }

    /// Marks the schema as changed, after a change of the spec, so that columns are made again and nodes are written.
    ///
    /// - Parameter space: The space in which lists of distinct strings are read.
    mutating func schemaDidChange(_ space: NodeSpace) {
        isChanged = true
        isSchemaChanged = true
        let own = ownDefinition()
        own.space = space
        own.columnSet = nil
    }

    /// Makes the columns from the present definition.
    private func makeColumns() -> TableDefinition.ColumnSet {
        let spec = spec
        return TableDefinition.ColumnSet(
            columns: (0..<spec.names.count).map { column(at: $0, definition.space) },
            backlinks: (spec.names.count..<spec.keys.count).map { column(at: $0, definition.space) })
    }

    /// Returns the column of a key from the present definition, without making all the others.
    func freshColumn(_ key: ColumnKey) -> Column? {
        guard definition.columnSet == nil else { return column(key) }
        return spec.position(of: key).map { column(at: $0, definition.space) }
    }

    /// Makes one column from the present definition.
    private func column(at position: Int, _ space: NodeSpace) -> Column {
        let key = ColumnKey(spec.keys[position])
        let attributes = ColumnAttributes(rawValue: Int(truncatingIfNeeded: spec.attributes[position]))
        let type = ColumnType(rawValue: Int(spec.types[position] & 0xffff)) ?? .int
        let list = position < spec.names.count ? spec.enumerations?[position] ?? .none : .none
        return Column(
            name: position < spec.names.count ? spec.names[position] : "", key: key, type: type, attributes: attributes,
            collection: TableState.collection(attributes),
            dictionaryKeyType: ColumnType(rawValue: Int(spec.types[position] >> 16)) ?? .string,
            targetTable: oppositeTable(key.leafIndex, type), oppositeColumn: oppositeColumn(key.leafIndex, type),
            searchIndex: key.leafIndex < indexes.count ? indexes[key.leafIndex] : .none,
            enumeration: list.isNone ? nil : StringEnumeration(root: list, space: space))
    }

    private static func collection(_ attributes: ColumnAttributes) -> CollectionKind? {
        if attributes.contains(.list) { return .list }
        if attributes.contains(.set) { return .set }
        return attributes.contains(.dictionary) ? .dictionary : nil
    }

    /// Returns the table at the other end of a link or backlink column; nil for other columns.
    private func oppositeTable(_ leafIndex: Int, _ type: ColumnType) -> TableKey? {
        guard type == .link || type == .backlink, leafIndex < oppositeTables.count else { return nil }
        let key = oppositeTables[leafIndex]
        return key == Int64(TableKey.null.rawValue) ? nil : TableKey(UInt32(truncatingIfNeeded: key))
    }

    /// Returns the column at the other end of a link or backlink column; nil for other columns.
    private func oppositeColumn(_ leafIndex: Int, _ type: ColumnType) -> ColumnKey? {
        guard type == .link || type == .backlink, leafIndex < oppositeColumns.count else { return nil }
        let key = ColumnKey(oppositeColumns[leafIndex])
        return key == .null ? nil : key
    }

    // MARK: - Back into nodes

    /// Writes what changed since the last flush into the table node, and returns its ref.
    mutating func flush(_ writes: WriteSpace) throws(StorageError) -> Ref {
        guard isChanged else { return ref }
        var top = try writes.writable(ref)
        while top.count < TableState.slotCount { try top.append(0) }
        if isSchemaChanged { try flushSchema(&top, writes) }
        try top.set(Slot.objects, objects)
        try top.set(Slot.tombstones, tombstones)
        if objectSequence > 0 { try top.set(Slot.objectSequence, tagged: objectSequence) }
        try flushIndexes(&top, writes)
        if !isCounted {
            let changes = UInt64(bitPattern: top.integer(Slot.changes)) >> 1
            try top.set(Slot.changes, tagged: changes &+ 1)
            isCounted = true
        }
        ref = top.ref
        return ref
    }

    /// Writes the spec and the per-column arrays again.
    private mutating func flushSchema(_ top: inout MutableNode, _ writes: WriteSpace) throws(StorageError) {
        try SpecState.discard(top.ref(Slot.spec), writes)
        try top.set(Slot.spec, try spec.write(writes))
        for (slot, values) in [(Slot.oppositeTables, oppositeTables), (Slot.oppositeColumns, oppositeColumns)] {
            try writes.discard(top.ref(slot))
            try top.set(slot, try writes.makeIntegers(values).ref)
        }
        // The reference engine reads a root for every column, also from a list that ends before.
        if let last = spec.keys.map({ ColumnKey($0).leafIndex }).max(), last >= indexes.count {
            setIndexRoot(.none, leafIndex: last)
        }
        try top.set(Slot.columnSequence, tagged: columnSequence)
        if let primaryKeyColumn {
            try top.set(Slot.primaryKey, tagged: UInt64(bitPattern: primaryKeyColumn.rawValue))
        } else {
            try top.set(Slot.primaryKey, 0)
        }
        let flags = UInt64(bitPattern: top.integer(Slot.flags)) >> 1
        try top.set(Slot.flags, tagged: flags & ~3 | UInt64(kind.rawValue))
        isSchemaChanged = false
    }

    /// Writes the roots of search indexes, if any has changed.
    private func flushIndexes(_ top: inout MutableNode, _ writes: WriteSpace) throws(StorageError) {
        let old = try writes.node(at: top.ref(Slot.indexes))
        var differ = old.count != indexes.count
        if !differ {
            for index in 0..<indexes.count where try old.optionalRef(index, "index") != indexes[index] { differ = true }
        }
        guard differ else { return }
        var list = try writes.writable(old.ref)
        for (index, root) in indexes.enumerated() {
            if index < list.count { try list.set(index, root) } else { try list.append(root) }
        }
        try top.set(Slot.indexes, list.ref)
    }
}

/// The definition of a table, which several copies of its state share until one changes it.
extension TableState {
    /// Returns the definition, after making a copy if another state shares it.
    private mutating func ownDefinition() -> TableDefinition {
        if !isKnownUniquelyReferenced(&definition) { definition = TableDefinition(copyOf: definition) }
        return definition
    }
}
