// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Tables of formats 2 to 9, which have a tree for each column and no objects.
///
/// Source: docs/format.md, "Formats 2 to 9".
extension SizeWalk {
    /// The types whose values or links are followed, as stored.
    private enum TypeNumber {
        static let string: Int64 = 2, enumerated: Int64 = 3, binary: Int64 = 4, table: Int64 = 5, mixed: Int64 = 6
        static let timestamp: Int64 = 8, link: Int64 = 12, linkList: Int64 = 13, backlink: Int64 = 14
    }

    // MARK: - Schemas

    /// Reads the schema of the table that was added last.
    func readLegacyTable(at ref: Ref) throws(StorageError) {
        let table = tables.count - 1
        let schema = tables[table].schema
        tables[table].objectCount = nil
        guard var top = try take(ref, schema) else { return }
        guard top.isBranch else { return noteMisfit(top, "a table") }
        tables[table].objects = try child(&top, 1) ?? .none
        if let ref = try child(&top, 0) { try readLegacySpec(at: ref) }
        for index in 2..<max(2, top.node.count) {
            if let ref = try child(&top, index) { try sweep(ref, tables[table].other) }
        }
    }

    /// Reads the columns of the table that was added last.
    private func readLegacySpec(at ref: Ref) throws(StorageError) {
        let table = tables.count - 1
        let schema = tables[table].schema
        guard var spec = try take(ref, schema) else { return }
        guard spec.isBranch else { return noteMisfit(spec, "a spec") }
        let names = try names(child(&spec, 1))
        var lists: [Held?] = []
        for index in [0, 2] { lists.append(try take(child(&spec, index), schema)) }
        if let ref = try child(&spec, 1) { try sweep(ref, schema) }
        var subspecs = try take(child(&spec, 3), schema)
        if let subspecs { try sweepBelow(subspecs, schema) }
        guard let names, let attributes = try integers(&lists[1]), let types = try integers(&lists[0]),
            types.count == attributes.count, names.count <= types.count, types.count <= columnBudget
        else { return noteMisfit(spec, "a sound spec") }
        columnBudget -= types.count
        var (slot, entry) = (0, 0)
        var enumerated: [Int] = []
        for index in 0..<types.count {
            let type = types[index]
            if index < names.count {
                if type == TypeNumber.enumerated { enumerated.append(index) }
                addColumn(names[index], type: type, attributes[index], key: Int64(index), slot: slot)
            } else if type == TypeNumber.backlink, let origin = try number(&subspecs, entry),
                let column = try number(&subspecs, entry + 1)
            {
                tables[table].backlinks.append(SizeTable.Backlink(slot: slot, table: origin, column: column))
            }
            switch type {
            case TypeNumber.table, TypeNumber.link, TypeNumber.linkList: entry += 1
            case TypeNumber.backlink: entry += 2
            default: break
            }
            slot += attributes[index] & 1 == 0 ? 1 : 2
        }
        guard let ref = try child(&spec, 4), var keyLists = try take(ref, schema), keyLists.isBranch else { return }
        for index in 0..<keyLists.node.count {
            guard let ref = try child(&keyLists, index) else { continue }
            let counter = index < enumerated.count ? tables[table].columns[enumerated[index]].values : schema
            try sweep(ref, counter)
        }
    }

    /// Returns the number in a slot; nil for none.
    private func number(_ held: inout Held?, _ index: Int) throws(StorageError) -> Int64? {
        guard var node = held, node.isBranch, index < node.node.count else { return nil }
        let raw = try slot(&node, index)
        held = node
        return raw & 1 == 1 ? Int64(bitPattern: raw >> 1) : nil
    }

    // MARK: - Columns

    /// Walks over the columns and indexes of a table.
    ///
    /// - Parameter backlinks: The counters of the columns of incoming links by slot.
    func walkLegacyColumns(_ index: Int, _ backlinks: [Int: Int]) throws(StorageError) {
        let table = tables[index]
        guard !table.objects.isNone, var list = try take(table.objects, table.schema) else { return }
        guard list.node.hasRefs else { return noteMisfit(list, "a list of columns") }
        if let ref = try child(&list, 0) {
            let first = table.columns.first
            tables[index].objectCount = try? rowCount(
                ref, first.map { Int64($0.type) } ?? TypeNumber.backlink, isNullable: first?.isNullable ?? false)
        } else if list.node.count == 0 {
            tables[index].objectCount = 0
        }
        guard list.isBranch else { return }
        for slot in 0..<list.node.count {
            guard let ref = try child(&list, slot) else { continue }
            if let column = table.positions[slot] {
                place = (index, column)
                try walkLegacyColumn(ref, index, column)
            } else if let column = table.positions[slot - 1], table.columns[column].attributes & 1 != 0 {
                place = (index, column)
                try sweep(ref, table.columns[column].index)
            } else {
                place = (index, nil)
                try sweep(ref, backlinks[slot] ?? table.other)
            }
        }
    }

    /// Walks over a column.
    private func walkLegacyColumn(_ ref: Ref, _ table: Int, _ column: Int) throws(StorageError) {
        let definition = tables[table].columns[column]
        let values = definition.values
        switch Int64(definition.type) {
        case TypeNumber.string, TypeNumber.binary:
            var row = 0
            try walkLeaves(ref, values, &row) { leaf, row throws(StorageError) in
                guard leaf.node.hasRefs else { return row += leaf.node.count }
                guard leaf.node.hasContext else {
                    if let ends = try child(&leaf, 0), let node = try? space.node(at: ends) { row += node.count }
                    return try sweepBelow(leaf, values)
                }
                try walkRows(&leaf, table: table, column: column, counter: values, from: &row)
            }
        case TypeNumber.table, TypeNumber.linkList:
            var row = 0
            try walkLeaves(ref, values, &row) { leaf, row throws(StorageError) in
                try walkRows(&leaf, table: table, column: column, counter: definition.collections, from: &row)
            }
        default: try sweep(ref, values)
        }
    }

    /// Walks over the elements of a leaf, each of which is the value of a row.
    private func walkRows(
        _ leaf: inout Held, table: Int, column: Int, counter: Int, from row: inout Int
    ) throws(StorageError) {
        defer { row += leaf.node.count }
        guard leaf.isBranch else { return }
        for index in 0..<leaf.node.count {
            guard let ref = try child(&leaf, index) else { continue }
            let bytes = try sweep(ref, counter)
            guard largest.takes(bytes), !tables[table].isHidden else { continue }
            largest.add(
                LargestValues.Place(
                    table: table, property: column, key: ObjectKey(Int64(row + index)), leaf: nil, row: 0, bytes: bytes))
        }
    }

    /// The most levels of a tree.
    private static let maximumLevels = 16

    /// Counts the nodes of a tree down to its leaves, and calls `body` with each leaf.
    private func walkLeaves(
        _ ref: Ref, _ counter: Int, _ row: inout Int, level: Int = 0, _ body: (inout Held, inout Int) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard var node = try take(ref, counter) else { return }
        guard node.node.isInner else { return try body(&node, &row) }
        guard level < SizeWalk.maximumLevels else { return noteMisfit(node, "a leaf") }
        guard node.isBranch else { return }
        for index in 0..<node.node.count {
            guard let ref = try child(&node, index) else { continue }
            if index == 0 { try sweep(ref, counter) } else { try walkLeaves(ref, counter, &row, level: level + 1, body) }
        }
    }

    /// Returns the number of rows that a column states.
    ///
    /// - Throws: `.corrupt` for a column of another form.
    private func rowCount(_ ref: Ref, _ type: Int64, isNullable: Bool) throws(StorageError) -> UInt64? {
        let node = try space.node(at: ref)
        switch type {
        case TypeNumber.timestamp: return try rowCount(node.requiredRef(0, "seconds"), 0, isNullable: true)
        case TypeNumber.mixed: return try rowCount(node.requiredRef(0, "types"), 0, isNullable: false)
        default: break
        }
        if node.isInner { return try node.number(max(0, node.count - 1), "rows") }
        switch type {
        case TypeNumber.string, TypeNumber.binary:
            guard node.hasRefs, !node.hasContext else { return UInt64(node.count) }
            return UInt64(try space.node(at: node.requiredRef(0, "ends")).count)
        case 0, 1, 7: return isNullable ? UInt64(max(0, node.count - 1)) : UInt64(node.count)
        default: return UInt64(node.count)
        }
    }
}
