// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of a column of a leaf: one for each row, or why it is lost. One lost node loses as little as possible.
extension NodeReader {
    func cells(_ column: FormerColumn, _ rows: LeafRows) -> [DecodedColumn.Cell] {
        let count = rows.count
        guard column.index + 1 < rows.node.count else { return NodeReader.lost(.malformed("no slot"), count) }
        guard let ref = rows.column(column.index) else { return NodeReader.lost(.malformed("no column"), count) }
        do throws(Loss) {
            let leaf = try node(ref)
            let cells = try self.cells(column, leaf, count)
            guard cells.count == count else { throw .malformed("another number of values than of objects") }
            return cells
        } catch {
            return NodeReader.lost(error, count)
        }
    }

    /// Returns a column of which everything is lost.
    static func lost(_ loss: Loss, _ count: Int) -> [DecodedColumn.Cell] {
        [DecodedColumn.Cell](repeating: .lost(loss), count: count)
    }

    private func cells(_ column: FormerColumn, _ leaf: RawNode, _ count: Int) throws(Loss) -> [DecodedColumn.Cell] {
        if column.isCollection {
            guard leaf.hasRefs, !leaf.isInner, leaf.count == count else { throw .overwritten }
            return (0..<count).map { row in cell { () throws(Loss) in try self.collection(leaf.slot(row), column) } }
        }
        switch column.kind {
        case .mixed: return try mixedCells(leaf)
        case .link:
            return try plainIntegers(leaf).map { .value($0 == 0 ? .null : .link(column.targetTable, $0 &- 1)) }
        case .string where leaf.hasRefs && leaf.hasContext:
            return try integers(leaf).map { ref in cell { () throws(Loss) in try self.bigText(UInt64(bitPattern: ref)) } }
        case .data where leaf.hasRefs && leaf.hasContext:
            return try integers(leaf).map { ref in cell { () throws(Loss) in try self.bigData(UInt64(bitPattern: ref)) } }
        default:
            return try simple(leaf, column.kind, isNullable: column.isNullable, enumeration: column.enumerationRef).map {
                .value($0)
            }
        }
    }

    /// Returns what a closure reads, or why it is lost.
    private func cell(_ body: () throws(Loss) -> StoredValue) -> DecodedColumn.Cell {
        do throws(Loss) { return .value(try body()) } catch { return .lost(error) }
    }

    // MARK: - Collections

    /// Returns the contents of a list, set or dictionary of an object.
    private func collection(_ ref: UInt64, _ column: FormerColumn) throws(Loss) -> StoredValue {
        guard ref & 1 == 0 else { throw .malformed("bad ref of a collection") }
        // The form of nested contents depends on the form of the collection.
        let allowed = allowsNested
        allowsNested = true
        defer { allowsNested = allowed }
        if column.isDictionary {
            guard let keyKind = FormerColumn.Kind(rawValue: column.dictionaryKeyType), keyKind == .string || keyKind == .int
            else {
                throw .malformed("type of the keys")
            }
            return .dictionary(ref == 0 ? [] : try dictionary(ref, keyKind))
        }
        var elements: [StoredValue] = []
        guard ref != 0 else { return .list(elements) }
        try forEachTreeLeaf(ref) { leaf throws(Loss) in
            guard elements.count + leaf.count <= NodeReader.maximumElements else { throw .malformed("too many elements") }
            switch column.kind {
            case .mixed: elements += try self.mixed(leaf)
            case .link: elements += try self.plainIntegers(leaf).map { .link(column.targetTable, $0) }
            default: elements += try self.simple(leaf, column.kind, isNullable: column.isNullable)
            }
        }
        return .list(elements)
    }

    /// Returns the entries of a dictionary in their stored order.
    private func dictionary(_ ref: UInt64, _ keyKind: FormerColumn.Kind) throws(Loss) -> [(key: StoredValue, value: StoredValue)]
    {
        if format == 21 || format == 22 { return try clusterDictionary(ref) }
        let top = try node(ref)
        guard top.hasRefs, !top.isInner, top.count == 2, let keyTree = top.child(0), let valueTree = top.child(1) else {
            throw .malformed("not a dictionary")
        }
        var keys: [StoredValue] = []
        try forEachTreeLeaf(keyTree) { leaf throws(Loss) in
            guard keys.count + leaf.count <= NodeReader.maximumElements else { throw .malformed("too many elements") }
            keys += try self.simple(leaf, keyKind, isNullable: false)
        }
        let values = try mixedTree(valueTree)
        guard keys.count == values.count, !keys.contains(where: { if case .null = $0 { true } else { false } }) else {
            throw .malformed("keys and values differ in number")
        }
        return zip(keys, values).map { ($0, $1) }
    }

    /// Returns the entries of a dictionary of formats 21 and 22: a cluster tree by hashes, sorted by their keys here.
    private func clusterDictionary(_ ref: UInt64) throws(Loss) -> [(key: StoredValue, value: StoredValue)] {
        var entries: [(bytes: ByteView, key: StoredValue, value: StoredValue)] = []
        var loss: Loss?
        walkClusters(NodeReader.noTable, root: ref) { step in
            guard loss == nil else { return }
            switch step {
            case .gap(_, let error): loss = error
            case .leaf(let rows):
                do throws(Loss) {
                    let keys = try texts(child(rows.node, 1), enumeration: 0)
                    let values = try mixed(child(rows.node, 2))
                    guard keys.count == rows.count, values.count == rows.count else { throw .malformed("uneven columns") }
                    guard entries.count + keys.count <= NodeReader.maximumElements else { throw .malformed("too many elements") }
                    for (key, value) in zip(keys, values) {
                        guard case .text(let bytes) = key else { throw .malformed("null key") }
                        entries.append((bytes, key, value))
                    }
                } catch { loss = error }
            }
        }
        if let loss { throw loss }
        return entries.sorted { $0.bytes < $1.bytes }.map { ($0.key, $0.value) }
    }

    /// Stands in where a cluster tree belongs to a value and not to a table.
    private static var noTable: FormerTable {
        FormerTable(
            name: "", ref: 0, key: 0, clusterRef: 0, isEmbedded: false, schemaSource: .itself, columns: [], backlinks: [],
            primaryKeyIndex: nil)
    }

    // MARK: - Mixed

    private func mixedTree(_ ref: UInt64) throws(Loss) -> [StoredValue] {
        var values: [StoredValue] = []
        try forEachTreeLeaf(ref) { leaf throws(Loss) in
            let more = try self.mixed(leaf)
            guard values.count + more.count <= NodeReader.maximumElements else { throw .malformed("too many elements") }
            values += more
        }
        return values
    }

    private func mixed(_ leaf: RawNode) throws(Loss) -> [StoredValue] {
        try mixedCells(leaf).map { cell throws(Loss) in
            switch cell {
            case .value(let value): return value
            case .lost(let loss): throw loss
            }
        }
    }

    /// Returns the Mixed values of a leaf. A payload array that is gone loses only the values in it.
    private func mixedCells(_ leaf: RawNode) throws(Loss) -> [DecodedColumn.Cell] {
        guard leaf.hasRefs, !leaf.isInner, (4...6).contains(leaf.count) else { throw .overwritten }
        let words = try plainIntegers(child(leaf, 0))
        var payload = MixedPayload(leaf: leaf)
        return words.map { word in
            do throws(Loss) { return .value(try mixed(word, &payload)) } catch { return .lost(error) }
        }
    }

    /// The payload arrays of a leaf of Mixed values, read when they are first needed.
    private struct MixedPayload {
        let leaf: RawNode
        /// The array of slot 1, 2 or 4.
        var numbers: [Int: RawNode] = [:]
        /// The texts and data of slot 3.
        var texts: [StoredValue]?

        /// Makes the arrays of a leaf, none of which was read.
        init(leaf: RawNode) { self.leaf = leaf }

        /// Returns the array of bit-packed elements in a slot.
        mutating func array(_ slot: Int, _ reader: NodeReader) throws(Loss) -> RawNode {
            if let node = numbers[slot] { return node }
            guard let ref = leaf.child(slot) else { throw .malformed("no payload") }
            let node = try reader.node(ref)
            guard node.widthType == 0, slot == 4 ? node.hasRefs : !node.hasRefs else { throw .overwritten }
            numbers[slot] = node
            return node
        }

        /// Returns an element of the array in a slot.
        mutating func number(_ slot: Int, _ index: Int64, _ reader: NodeReader) throws(Loss) -> Int64 {
            let array = try array(slot, reader)
            guard index >= 0, index < array.count else { throw .malformed("no such payload") }
            return array.integer(Int(index))
        }

        /// Returns a text or data of slot 3.
        mutating func bytes(_ index: Int64, _ reader: NodeReader) throws(Loss) -> ByteView {
            if texts == nil {
                guard let ref = leaf.child(3) else { throw .malformed("no payload") }
                texts = try reader.texts(reader.node(ref), enumeration: 0)
            }
            guard let texts, index >= 0, index < texts.count else { throw .malformed("no such payload") }
            switch texts[Int(index)] {
            case .text(let bytes): return bytes
            default: return .empty
            }
        }
    }

    private func mixed(_ word: Int64, _ payload: inout MixedPayload) throws(Loss) -> StoredValue {
        guard word != 0 else { return .null }
        let (type, rest, slot) = (Int(word & 31) - 1, word >> 8, Int(word >> 5 & 7))
        func requireSlot(_ wanted: Int) throws(Loss) { guard slot == wanted else { throw .malformed("type of a Mixed value") } }
        switch type {
        case FormerColumn.Kind.int.rawValue:
            if slot == 0 { return .int(rest) }
            try requireSlot(1)
            return .int(try payload.number(1, rest, self))
        case FormerColumn.Kind.bool.rawValue:
            try requireSlot(0)
            return .bool(rest != 0)
        case FormerColumn.Kind.float.rawValue:
            try requireSlot(1)
            return .float(UInt32(truncatingIfNeeded: try payload.number(1, rest, self)))
        case FormerColumn.Kind.double.rawValue:
            try requireSlot(1)
            return .double(UInt64(bitPattern: try payload.number(1, rest, self)))
        case FormerColumn.Kind.string.rawValue:
            try requireSlot(3)
            return .text(try payload.bytes(rest, self))
        case FormerColumn.Kind.data.rawValue:
            try requireSlot(3)
            return .data(try payload.bytes(rest, self))
        case FormerColumn.Kind.objectID.rawValue, FormerColumn.Kind.uuid.rawValue:
            try requireSlot(3)
            let bytes = try payload.bytes(rest, self)
            let isUUID = type == FormerColumn.Kind.uuid.rawValue
            guard bytes.count == (isUUID ? 16 : 12) else { throw .malformed("length of an id") }
            return isUUID ? .uuid(bytes) : .objectID(bytes)
        case FormerColumn.Kind.timestamp.rawValue, FormerColumn.Kind.decimal.rawValue, FormerColumn.Kind.typedLink.rawValue:
            try requireSlot(2)
            guard (0..<1 << 40).contains(rest) else { throw .malformed("no such payload") }
            let (first, second) = (try payload.number(2, 2 * rest, self), try payload.number(2, 2 * rest + 1, self))
            if type == FormerColumn.Kind.timestamp.rawValue { return .timestamp(try NodeReader.timestamp(first, second)) }
            if type == FormerColumn.Kind.typedLink.rawValue { return .link(UInt32(truncatingIfNeeded: first), second) }
            let number = Decimal128(low: UInt64(bitPattern: first), high: UInt64(bitPattern: second))
            return number.isNull ? .null : .decimal(number)
        case 19, 21:
            try requireSlot(4)
            let ref = UInt64(bitPattern: try payload.number(4, rest, self))
            guard ref & 1 == 0 else { throw .malformed("bad ref of a collection") }
            if ref != 0, !allowsNested { throw .unproved }
            return try nested { () throws(Loss) in
                if type == 19 { return .list(ref == 0 ? [] : try self.mixedTree(ref)) }
                return .dictionary(ref == 0 ? [] : try self.dictionary(ref, .string))
            }
        default: throw .malformed("type of a Mixed value")
        }
    }
}
