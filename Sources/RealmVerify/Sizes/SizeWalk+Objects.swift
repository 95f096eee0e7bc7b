// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tables of formats 10 and later.
extension SizeWalk {
    // MARK: - Schemas

    /// Reads the schema of the table that was added last.
    func readTable(at ref: Ref) throws(StorageError) {
        let table = tables.count - 1
        let schema = tables[table].schema
        guard var top = try take(ref, schema) else { return tables[table].objectCount = nil }
        guard top.isBranch else {
            tables[table].objectCount = nil
            return noteMisfit(top, "a table")
        }
        tables[table].objects = try child(&top, 2) ?? .none
        tables[table].tombstones = try child(&top, 13) ?? .none
        if tables[table].objects.isNone { tables[table].objectCount = nil }
        if top.node.count > 11 {
            let raw = try slot(&top, 11)
            if raw & 1 == 1 { tables[table].primaryKey = Int64(bitPattern: raw >> 1) }
        }
        if let indexes = try child(&top, 4), let node = try take(indexes, schema), node.isBranch {
            tables[table].indexes = indexes
        }
        var opposites: [Held?] = [nil, nil]
        for (place, index) in [7, 8].enumerated() {
            opposites[place] = try take(child(&top, index), schema)
        }
        if let ref = try child(&top, 0) { try readSpec(at: ref, &opposites) }
        for index in 0..<top.node.count where ![0, 2, 4, 7, 8, 13].contains(index) {
            if let ref = try child(&top, index) { try sweep(ref, tables[table].other) }
        }
    }

    /// Reads the columns of the table that was added last.
    ///
    /// - Parameter opposites: The tables and columns at the other ends of links, by leaf index.
    private func readSpec(at ref: Ref, _ opposites: inout [Held?]) throws(StorageError) {
        let table = tables.count - 1
        let schema = tables[table].schema
        guard var spec = try take(ref, schema) else { return }
        guard spec.isBranch else { return noteMisfit(spec, "a spec") }
        let names = try names(child(&spec, 1))
        var lists: [Held?] = []
        for index in [0, 2, 5] { lists.append(try take(child(&spec, index), schema)) }
        for index in [1, 3] { if let ref = try child(&spec, index) { try sweep(ref, schema) } }
        if let names, let types = try integers(&lists[0]), let attributes = try integers(&lists[1]),
            let keys = try integers(&lists[2]), types.count == attributes.count, types.count == keys.count,
            names.count <= types.count, types.count <= columnBudget
        {
            columnBudget -= types.count
            let origins = (try integers(&opposites[0]), try integers(&opposites[1]))
            for index in 0..<types.count {
                let leafIndex = Int(keys[index] & 0xffff)
                if index < names.count {
                    addColumn(names[index], type: types[index], attributes[index], key: keys[index], slot: leafIndex)
                } else if let tables = origins.0, let columns = origins.1, leafIndex < tables.count, leafIndex < columns.count {
                    self.tables[table].backlinks.append(
                        SizeTable.Backlink(slot: leafIndex, table: tables[leafIndex], column: columns[leafIndex]))
                }
            }
        } else {
            noteMisfit(spec, "a sound spec")
        }
        guard let ref = try child(&spec, 4), var enumerations = try take(ref, schema), enumerations.isBranch else { return }
        for index in 0..<enumerations.node.count {
            guard let ref = try child(&enumerations, index) else { continue }
            let columns = tables[table].columns
            try sweep(ref, index < columns.count ? columns[index].values : schema)
        }
    }

    /// Adds a public column to the table that was added last.
    func addColumn(_ name: String, type: Int64, _ attributes: Int64, key: Int64, slot: Int) {
        let table = tables.count - 1
        tables[table].positions[slot] = tables[table].columns.count
        tables[table].columns.append(
            SizeTable.Column(
                name: name, type: Int(type & 0xffff), attributes: attributes, key: key,
                firstCounter: addCounters(SizeTable.Column.counterCount), slot: slot))
    }

    // MARK: - Objects

    /// A leaf with objects, while its columns are walked over.
    private struct Leaf {
        let table: Int
        let ref: Ref
        let offset: UInt64
        /// The number of objects; 0 when it is not known.
        let count: Int
        /// The relative keys; nil where they are 0 to `count` - 1.
        var keys: Held?
        /// The counters of the columns of incoming links by leaf index.
        let backlinks: [Int: Int]
    }

    /// Walks over objects, tombstones and indexes of a table.
    ///
    /// - Parameter backlinks: The counters of the columns of incoming links by leaf index.
    func walkObjects(_ index: Int, _ backlinks: [Int: Int]) throws(StorageError) {
        let table = tables[index]
        if !table.objects.isNone {
            try walkCluster(table.objects, Leaf(table: index, ref: .none, offset: 0, count: 0, backlinks: backlinks))
        }
        place = (index, nil)
        if !table.tombstones.isNone { try sweep(table.tombstones, table.deleted) }
        guard !table.indexes.isNone else { return }
        // The list itself was counted with the schema.
        var indexes = try hold(table.indexes)
        for leafIndex in 0..<indexes.node.count {
            guard let ref = try child(&indexes, leafIndex) else { continue }
            let column = table.positions[leafIndex]
            place.column = column
            try sweep(ref, column.map { table.columns[$0].index } ?? table.other)
        }
    }

    /// The most levels of inner nodes.
    private static let maximumLevels = 16

    /// Walks a cluster and its subtree.
    private func walkCluster(_ ref: Ref, _ parent: Leaf, level: Int = 0) throws(StorageError) {
        let keys = tables[parent.table].keys
        place = (parent.table, nil)
        guard var node = try take(ref, keys) else { return tables[parent.table].objectCount = nil }
        guard node.isBranch, level < SizeWalk.maximumLevels else {
            tables[parent.table].objectCount = nil
            return noteMisfit(node, "a node with objects")
        }
        guard node.node.isInner else { return try walkLeaf(&node, parent) }
        let depth = try node.node.count > 1 ? slot(&node, 1) >> 1 : 0
        var offsets: Held?
        if let ref = try child(&node, 0) { offsets = try take(ref, keys) }
        for index in 3..<max(3, node.node.count) {
            guard let ref = try child(&node, index) else { continue }
            let shift = UInt64(options.clusterShift) &* depth
            var offset = shift < 64 ? UInt64(index - 3) << shift : 0
            if let list = try unsigned(&offsets, index - 3) { offset = list }
            try walkCluster(
                ref,
                Leaf(table: parent.table, ref: .none, offset: parent.offset &+ offset, count: 0, backlinks: parent.backlinks),
                level: level + 1)
            place.column = nil
        }
    }

    /// Returns an element of a list of keys or offsets; nil without one.
    private func unsigned(_ held: inout Held?, _ index: Int) throws(StorageError) -> UInt64? {
        guard let node = held, !node.node.hasRefs, node.node.widthType == 0, index < node.node.count else { return nil }
        guard try integers(&held) != nil, let node = held else { return nil }
        return node.node.unsignedInteger(index)
    }

    /// Walks over the columns of a leaf.
    private func walkLeaf(_ node: inout Held, _ parent: Leaf) throws(StorageError) {
        let table = parent.table
        let first = try slot(&node, 0)
        var (count, keys) = (Int(clamping: first >> 1), Held?.none)
        if first & 1 == 0 {
            keys = first == 0 ? nil : try take(Ref(first), tables[table].keys)
            count = keys.map { $0.node.hasRefs ? -1 : $0.node.count } ?? -1
        }
        if (0...ClusterLeaf.maximumCount).contains(count) {
            tables[table].objectCount? += UInt64(count)
        } else {
            tables[table].objectCount = nil
            noteMisfit(node, "a leaf of at most 256 objects")
            count = 0
        }
        var leaf = Leaf(
            table: table, ref: node.node.ref, offset: parent.offset, count: count, keys: keys, backlinks: parent.backlinks)
        for index in 1..<max(1, node.node.count) {
            guard let ref = try child(&node, index) else { continue }
            if let column = tables[table].positions[index - 1] {
                place = (table, column)
                try walkColumn(ref, column, &leaf)
            } else {
                place = (table, nil)
                try sweep(ref, leaf.backlinks[index - 1] ?? tables[table].other)
            }
        }
    }

    // MARK: - Columns

    /// Walks over a column of a leaf.
    private func walkColumn(_ ref: Ref, _ column: Int, _ leaf: inout Leaf) throws(StorageError) {
        let definition = tables[leaf.table].columns[column]
        let values = definition.values
        if definition.isCollection {
            guard var list = try take(ref, values) else { return }
            return try walkElements(&list, of: column, counter: definition.collections, &leaf) { $0 }
        }
        switch ColumnType(rawValue: definition.type) {
        case .string?, .binary?:
            guard var list = try take(ref, values) else { return }
            guard list.node.hasContext else { return try sweepBelow(list, values) }
            try walkElements(&list, of: column, counter: values, &leaf) { $0 }
        case .mixed?: try walkMixed(ref, of: column, definition, &leaf)
        default: try sweep(ref, values)
        }
    }

    /// Walks over the elements of a list of refs, each of which is a value.
    ///
    /// - Parameter row: Returns the row of an element; nil when it belongs to none.
    private func walkElements(
        _ list: inout Held, of column: Int, counter: Int, _ leaf: inout Leaf, row: (Int) -> Int?
    ) throws(StorageError) {
        guard list.isBranch else { return }
        for index in 0..<list.node.count {
            guard let ref = try child(&list, index) else { continue }
            let bytes = try sweep(ref, counter)
            guard largest.takes(bytes), !tables[leaf.table].isHidden, let row = row(index), row < leaf.count else { continue }
            let key = leaf.offset &+ (try unsigned(&leaf.keys, row) ?? UInt64(row))
            largest.add(
                LargestValues.Place(
                    table: leaf.table, property: column, key: ObjectKey(Int64(bitPattern: key)), leaf: leaf.ref, row: row,
                    bytes: bytes))
        }
    }

    /// Walks over a leaf of Mixed values.
    private func walkMixed(_ ref: Ref, of column: Int, _ definition: SizeTable.Column, _ leaf: inout Leaf) throws(StorageError) {
        let values = definition.values
        guard var node = try take(ref, values), node.isBranch else { return }
        var owners = MixedOwners()
        for index in 0..<node.node.count {
            guard let ref = try child(&node, index) else { continue }
            switch index {
            case MixedEntry.Slot.words:
                guard var words = try take(ref, values) else { continue }
                if words.node.count <= ClusterLeaf.maximumCount, let words = try integers(&words) { owners = MixedOwners(words) }
                try sweepBelow(words, values)
            case MixedEntry.Slot.strings:
                guard var strings = try take(ref, values) else { continue }
                guard strings.node.hasContext else {
                    try sweepBelow(strings, values)
                    continue
                }
                try walkElements(&strings, of: column, counter: values, &leaf) { owners.strings[$0] }
            case MixedEntry.Slot.collections:
                guard var list = try take(ref, values) else { continue }
                try walkElements(&list, of: column, counter: definition.collections, &leaf) { owners.collections[$0] }
            default: try sweep(ref, values)
            }
        }
    }

    /// The rows of Mixed values by the positions of their payloads.
    private struct MixedOwners {
        var strings: [Int: Int] = [:]
        var collections: [Int: Int] = [:]

        init() {}

        /// Reads the words of a leaf.
        init(_ words: PackedIntegers) {
            for row in 0..<words.count {
                let word = words[row]
                switch MixedEntry.slot(ofWord: word) {
                case MixedEntry.Slot.strings: strings[Int(word >> 8)] = row
                case MixedEntry.Slot.collections: collections[Int(word >> 8)] = row
                default: continue
                }
            }
        }
    }
}
