// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The tables of a version, as far as they can be opened.
extension NodeReader {
    /// The facts about a table in other versions.
    struct KnownTable {
        /// The name; nil when there is none, or several.
        let name: String?
        /// The table in another version; nil when none could be opened.
        let table: FormerTable?
    }

    /// Opens the tables of a version.
    ///
    /// - Parameters:
    ///   - top: The top node of the version.
    ///   - known: Returns what other versions know of a table, by its key.
    /// - Returns: The tables in the order of the file, and the number of those that cannot be opened.
    /// - Throws: When the list of tables is gone.
    func tables(of top: FormerTop, known: (UInt32) -> KnownTable) throws(Loss) -> (tables: [FormerTable], lostCount: Int) {
        let names = try? shortTexts(node(top.namesRef), isNullable: false)
        let list = try node(top.tablesRef)
        guard list.hasRefs, list.count <= 0x10000, names == nil || names?.count == list.count else {
            throw .malformed("names and tables differ in number")
        }
        var tables: [FormerTable] = []
        var lostCount = 0
        for position in 0..<list.count {
            guard let ref = list.child(position) else { continue }
            do throws(Loss) {
                let name = names.flatMap { $0[position]?.string }
                let table = try table(ref, name: name, known: known)
                guard Int(table.key & 0xffff) == position else { throw .malformed("key of the table") }
                tables.append(table)
            } catch {
                lostCount += 1
            }
        }
        return (tables, lostCount)
    }

    /// Opens a table. When its spec is gone, its columns are those of the same table in another version, or inferred.
    func table(_ ref: UInt64, name: String?, known: (UInt32) -> KnownTable) throws(Loss) -> FormerTable {
        let top = try node(ref)
        guard top.hasRefs, !top.isInner, (10...16).contains(top.count), let spec = top.child(0), let clusters = top.child(2),
            let taggedKey = top.number(inSlot: 3)
        else { throw .malformed("not a table") }
        let key = UInt32(truncatingIfNeeded: taggedKey)
        let other = known(key)
        let name = name ?? other.name ?? "\(Table.classPrefix)@table\(key)"
        var primaryKey: Int?
        if top.slot(11) != 0 {
            guard let number = top.number(inSlot: 11) else { throw .malformed("not a table") }
            primaryKey = Int(number & 0xffff)
        }
        var kind: UInt64 = 0
        if top.slot(12) != 0 {
            guard let number = top.number(inSlot: 12), number & 3 != 3 else { throw .malformed("not a table") }
            kind = number & 3
        }
        func made(
            _ source: FormerTable.SchemaSource, _ columns: [FormerColumn], _ backlinks: [FormerColumn], primaryKey: Int?
        ) -> FormerTable {
            FormerTable(
                name: name, ref: ref, key: key, clusterRef: clusters, isEmbedded: kind == 1, schemaSource: source,
                columns: columns,
                backlinks: backlinks, primaryKeyIndex: primaryKey)
        }
        do throws(Loss) {
            let (columns, backlinks) = try self.columns(spec, of: top)
            return made(.itself, columns, backlinks, primaryKey: primaryKey)
        } catch {
            if let table = other.table { return made(.otherVersion, table.columns, table.backlinks, primaryKey: primaryKey) }
            let columns = inferredColumns(made(.inferred, [], [], primaryKey: nil))
            guard !columns.isEmpty else { throw error }
            return made(.inferred, columns, [], primaryKey: nil)
        }
    }

    /// Reads the columns of a table from its spec.
    private func columns(_ ref: UInt64, of top: RawNode) throws(Loss) -> (columns: [FormerColumn], backlinks: [FormerColumn]) {
        let spec = try node(ref)
        guard spec.hasRefs, spec.count == 6 else { throw .malformed("no spec") }
        let types = try integers(child(spec, 0))
        let names = try shortTexts(child(spec, 1), isNullable: false)
        let attributes = try integers(child(spec, 2))
        let keys = try integers(child(spec, 5))
        guard types.count == attributes.count, types.count == keys.count,
            names.count == types.count(where: { $0 & 0xffff != Int64(FormerColumn.Kind.backlink.rawValue) })
        else { throw .malformed("lengths of the spec") }
        let enumerations = spec.child(4).flatMap { try? node($0) }
        let (targets, origins) = (top.child(7).flatMap { try? node($0) }, top.child(8).flatMap { try? node($0) })
        _ = origins
        var columns: [FormerColumn] = []
        var backlinks: [FormerColumn] = []
        var seen: Set<Int> = []
        for index in types.indices {
            let (type, attribute, key) = (Int(types[index] & 0xffff), attributes[index], keys[index])
            // 13 is a list of links in formats below 24.
            guard let kind = FormerColumn.Kind(rawValue: type == 13 ? 12 : type), key >= 0 else {
                throw .malformed("type of a column")
            }
            let keyType = Int(key >> 16 & 0x3f)
            guard seen.insert(Int(key & 0xffff)).inserted, (keyType == 13 ? 12 : keyType) == kind.rawValue,
                (attribute & FormerColumn.Attribute.collection).nonzeroBitCount <= 1
            else { throw .malformed("key of a column") }
            var column = FormerColumn(
                name: index < names.count ? names[index]?.string ?? "" : "", kind: kind, attributes: attribute, key: key,
                dictionaryKeyType: Int(types[index] >> 16))
            if let targets, !targets.hasRefs, column.index < targets.count, targets.integer(column.index) != 0x7fff_ffff {
                column.targetTable = UInt32(truncatingIfNeeded: targets.integer(column.index))
            }
            if kind == .backlink {
                backlinks.append(column)
            } else {
                if let enumerations, enumerations.hasRefs { column.enumerationRef = enumerations.child(index) ?? 0 }
                columns.append(column)
            }
        }
        guard !columns.isEmpty || !backlinks.isEmpty else { throw .malformed("no columns") }
        return (columns, backlinks)
    }

    // MARK: - Columns whose names are gone

    /// Returns the columns `@0`, `@1` … of a table, as the forms of the nodes of its first leaf suggest them.
    private func inferredColumns(_ table: FormerTable) -> [FormerColumn] {
        var first: LeafRows?
        walkClusters(table, root: table.clusterRef, enters: { _, _ in first == nil }) { step in
            if case .leaf(let rows) = step, first == nil { first = rows }
        }
        guard let first else { return [] }
        return (0..<first.node.count - 1).compactMap { index in
            guard let ref = first.column(index), let node = try? node(ref),
                let (kind, isNullable) = inferredType(node, first.count)
            else { return nil }
            let attributes = isNullable ? FormerColumn.Attribute.nullable : 0
            return FormerColumn(
                name: "@\(index)", kind: kind, attributes: attributes,
                key: Int64(index) | Int64(kind.rawValue) << 16 | attributes << 22,
                dictionaryKeyType: 0)
        }
    }

    /// Returns the type that the form of a node suggests for so many objects; nil for none. Of integers nothing is said.
    private func inferredType(_ node: RawNode, _ count: Int) -> (kind: FormerColumn.Kind, isNullable: Bool)? {
        func fits<Element>(_ read: () throws(Loss) -> [Element]) -> Bool { (try? read())?.count == count }
        guard !node.isInner else { return nil }
        if !node.hasRefs, node.widthType == 1 {
            if node.width == 1 {
                if fits({ () throws(Loss) in try self.fixedBytes(node, byteCount: 16) }) { return (.uuid, true) }
                if fits({ () throws(Loss) in try self.fixedBytes(node, byteCount: 12) }) { return (.objectID, true) }
            }
            guard node.count == count else { return nil }
            if node.width > 1, fits({ () throws(Loss) in try self.shortTexts(node) }) { return (.string, true) }
            return node.width == 8 ? (.double, true) : node.width == 4 ? (.float, true) : nil
        }
        if !node.hasRefs, node.widthType == 0 {
            return node.count == count ? (.int, false) : node.count == count + 1 ? (.int, true) : nil
        }
        guard node.hasRefs else { return nil }
        if node.hasContext { return node.count == count ? (.data, true) : nil }
        if node.count == 3, count != 3 {
            if fits({ () throws(Loss) in try self.texts(node, enumeration: 0) }) { return (.string, true) }
            return fits({ () throws(Loss) in try self.simple(node, .data, isNullable: true) }) ? (.data, true) : nil
        }
        guard node.count == 2, count != 2 else { return nil }
        return fits({ () throws(Loss) in try self.timestamps(node) }) ? (.timestamp, true) : nil
    }
}
