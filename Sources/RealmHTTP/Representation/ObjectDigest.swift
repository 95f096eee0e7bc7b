// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A digest of everything an object stores: its entity tag, whatever the representation.
///
/// 128 bits from two lanes of multiply-and-fold, seeded by the position and kind of every value. It tells versions of
/// one object apart; it is no defence against somebody who wants two states to look alike and may choose both.
/// Embedded objects are part of their owner, links count by their target, collections by their elements.
struct ObjectDigest {
    private var first: UInt64 = 0x243f_6a88_85a3_08d3
    private var second: UInt64 = 0x1319_8a2e_0370_7344
    private var depth = 0

    private static let maximumDepth = 128

    private let leaves: DigestLeaves
    private let snapshot: Snapshot

    private init(_ snapshot: Snapshot, _ leaves: DigestLeaves) {
        self.snapshot = snapshot
        self.leaves = leaves
    }

    /// The digest of an object. `leaves` remembers what was attached for the row before.
    static func of(
        _ row: Row, in table: Table, snapshot: Snapshot, leaves: DigestLeaves
    ) throws(StorageError) -> ObjectDigest {
        var digest = ObjectDigest(snapshot, leaves)
        digest.add(UInt64(bitPattern: row.key.rawValue))
        try digest.add(row, table)
        return digest
    }

    /// 16 characters of base64url: 96 of the bits.
    func appendText(to buffer: OutputBuffer) {
        for (word, digits) in [(first, 10), (second, 6)] {
            for index in 0..<digits {
                buffer.append(ObjectDigest.digit(UInt8(truncatingIfNeeded: word >> UInt64(6 * index)) & 63))
            }
        }
    }

    @inline(__always) private static func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: return value &+ 0x41
        case 26..<52: return value &+ 71
        case 52..<62: return value &- 4
        case 62: return 0x2d
        default: return 0x5f
        }
    }

    @inline(__always) private mutating func add(_ word: UInt64) {
        let (high, low) = (first ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        first = high ^ low ^ second
        second = (second &+ word) &* 0xc2b2_ae3d_27d4_eb4f
        second ^= second >> 29
    }

    private mutating func add(_ bytes: ByteView) {
        add(UInt64(truncatingIfNeeded: bytes.count))
        bytes.forEachWord { add($0) }
    }

    // MARK: - Objects

    private mutating func add(_ row: Row, _ table: Table) throws(StorageError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= ObjectDigest.maximumDepth else {
            throw .corrupt(ref: row.leaf.node.ref, reason: "objects embedded deeper than \(ObjectDigest.maximumDepth)")
        }
        let values = try leaves.columns(of: table, in: row.leaf)
        for (index, column) in table.columns.enumerated() {
            add(UInt64(bitPattern: column.key.rawValue))
            switch column.collection {
            case nil: if let leaf = values[index] { try add(try leaf.value(row.index), column) }
            case .list, .set:
                let list = try row.list(column, in: snapshot)
                add(UInt64(truncatingIfNeeded: list.count))
                var elements = list.elements()
                while let element = try elements.next() { try add(element, column) }
            case .dictionary: try add(try row.dictionary(column, in: snapshot), column)
            }
        }
    }

    private mutating func add(_ dictionary: DictionaryView, _ column: Column?) throws(StorageError) {
        add(UInt64(truncatingIfNeeded: dictionary.count))
        var entries = dictionary.entries()
        while let entry = try entries.next() {
            switch entry.key {
            case .text(let bytes): add(bytes)
            case .integer(let number): add(UInt64(bitPattern: number))
            }
            try add(entry.value, column)
        }
    }

    // MARK: - Values

    /// `column` is the property a value stands in; nil inside Mixed.
    private mutating func add(_ value: Value, _ column: Column?) throws(StorageError) {
        switch value {
        case .null: add(0x11)
        case .bool(let flag): add(flag ? 0x22 : 0x21)
        case .int(let number): add(UInt64(bitPattern: number))
        case .float(let number): add(UInt64(number.bitPattern) | 1 << 40)
        case .double(let number): add(number.bitPattern)
        case .string(let bytes):
            add(0x33)
            add(bytes)
        case .binary(let bytes):
            add(0x34)
            add(bytes)
        case .timestamp(let date):
            add(UInt64(bitPattern: date.seconds))
            add(UInt64(UInt32(bitPattern: date.nanoseconds)) | 1 << 41)
        case .decimal(let number):
            add(number.low)
            add(number.high)
        case .objectID(let id):
            add(id.first)
            add(UInt64(id.last))
        case .uuid(let id):
            add(id.first)
            add(id.last)
        case .link(let table, let key): try addLink(table, key, column)
        case .list(let root):
            try nested(root)
            let list = try ListView(nested: root, space: snapshot.space)
            add(UInt64(truncatingIfNeeded: list.count) | 1 << 42)
            var elements = list.elements()
            while let element = try elements.next() { try add(element, nil) }
            depth -= 1
        case .dictionary(let root):
            try nested(root)
            try add(try DictionaryView(root: root, space: snapshot.space, fileFormat: snapshot.fileFormat), nil)
            depth -= 1
        }
        if column == nil || column?.type == .mixed { add(UInt64(truncatingIfNeeded: value.typeRank) | 1 << 43) }
    }

    private mutating func nested(_ root: Ref) throws(StorageError) {
        depth += 1
        guard depth <= ObjectDigest.maximumDepth else {
            throw .corrupt(ref: root, reason: "collections nested deeper than \(ObjectDigest.maximumDepth)")
        }
    }

    private mutating func addLink(
        _ tableKey: TableKey, _ key: ObjectKey, _ column: Column?
    ) throws(StorageError) {
        add(UInt64(tableKey.rawValue))
        add(UInt64(bitPattern: key.rawValue))
        guard column?.type == .link, let table = snapshot.table(tableKey), table.kind == .embedded,
            let row = try table.find(key)
        else { return }
        try add(row, table)
    }
}

/// The single-valued columns of the leaf that was read last in each class.
final class DigestLeaves {
    private var last: (table: TableKey, node: Ref, offset: UInt64, columns: [ColumnLeaf?])?
    private var leaves: [TableKey: (node: Ref, offset: UInt64, columns: [ColumnLeaf?])] = [:]

    func columns(of table: Table, in leaf: ClusterLeaf) throws(StorageError) -> [ColumnLeaf?] {
        if let last, last.table == table.key, last.node == leaf.node.ref, last.offset == leaf.offset { return last.columns }
        if let known = leaves[table.key], known.node == leaf.node.ref, known.offset == leaf.offset { return known.columns }
        var columns: [ColumnLeaf?] = []
        for column in table.columns { columns.append(column.collection == nil ? try leaf.attach(column) : nil) }
        leaves[table.key] = (leaf.node.ref, leaf.offset, columns)
        last = (table.key, leaf.node.ref, leaf.offset, columns)
        return columns
    }
}
