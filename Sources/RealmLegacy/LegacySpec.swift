// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The columns of a table, or of the tables inside of the rows of a column.
package final class LegacySpec: Sendable {
    /// All columns; the hidden ones come last.
    package let columns: [LegacyColumn]
    /// How many columns have names.
    package let publicCount: Int
    /// How many slots a column list has: one for each column, and one for each index.
    let slotCount: Int

    /// How deeply tables may be nested in each other.
    private static let maximumDepth = 8
    /// The greatest number of columns of a table, which is that of format 24 too.
    static let maximumColumnCount = 65_535

    /// Reads a spec.
    ///
    /// - Parameters:
    ///   - ref: The node of the spec.
    ///   - reading: The pass that reads.
    /// - Throws: `.corrupt` for a spec that contradicts itself.
    init(at ref: Ref, _ reading: LegacyReading, depth: Int = 0) throws(StorageError) {
        guard depth < LegacySpec.maximumDepth else { throw .corrupt(ref: ref, reason: "tables are nested too deeply") }
        var parts = try Parts(try reading.refs(at: ref, "spec"), reading)
        var columns: [LegacyColumn] = []
        columns.reserveCapacity(parts.types.count)
        var slot = 0
        for index in 0..<parts.types.count {
            let column = try parts.column(index, slot: slot, reading, depth: depth)
            slot += column.isIndexed ? 2 : 1
            columns.append(column)
        }
        try parts.checkEnd()
        self.columns = columns
        publicCount = parts.names.count
        slotCount = slot
    }

    package var publicColumns: ArraySlice<LegacyColumn> { columns.prefix(publicCount) }

    /// The lists that a spec consists of, while columns are made of them.
    private struct Parts {
        let node: Node
        /// The types of all columns.
        let types: PackedIntegers
        /// The attributes of all columns.
        let attributes: PackedIntegers
        /// The names of the public columns.
        let names: [[UInt8]]
        /// The additional nodes of some columns, in order.
        private let subspecs: Node?
        /// The lists of distinct strings of enumerated columns, in their order.
        private let keys: Node?
        /// The next entry of `subspecs`.
        private var nextSubspec = 0
        /// The next entry of `keys`.
        private var nextKeys = 0

        /// Attaches the lists.
        init(_ node: Node, _ reading: LegacyReading) throws(StorageError) {
            self.node = node
            let sixth = try node.rawValue(5)
            guard (3...6).contains(node.count), sixth == 0 else { throw node.corrupt("a spec of \(node.count) slots") }
            types = try reading.integers(at: try node.requiredRef(0, "column types"))
            guard types.count <= LegacySpec.maximumColumnCount else {
                throw node.corrupt("a table of \(types.count) columns; at most \(LegacySpec.maximumColumnCount) are possible")
            }
            try reading.budget?.spend(columns: types.count, of: node)
            names = try reading.names(at: try node.requiredRef(1, "column names"))
            attributes = try reading.integers(at: try node.requiredRef(2, "column attributes"))
            let first = try node.optionalRef(3, "subspecs"), second = try node.optionalRef(4, "key lists")
            subspecs = first.isNone ? nil : try reading.refs(at: first, "subspecs")
            keys = second.isNone ? nil : try reading.refs(at: second, "key lists")
            guard types.count == attributes.count, names.count <= types.count else {
                throw node.corrupt("\(types.count) types, \(attributes.count) attributes and \(names.count) names of columns")
            }
        }

        /// Makes the next column.
        mutating func column(
            _ index: Int, slot: Int, _ reading: LegacyReading, depth: Int
        ) throws(StorageError) -> LegacyColumn {
            guard let type = LegacyType(rawValue: Int(clamping: types[index])), (type == .backlink) == (index >= names.count)
            else {
                throw node.corrupt("column \(index) of type \(types[index])")
            }
            var target: Int?, origin: Int?, subspec: LegacySpec?
            var list = Ref.none
            switch type {
            case .table: subspec = try LegacySpec(at: try entry(), reading, depth: depth + 1)
            case .link, .linkList: target = try number()
            case .backlink:
                target = try number()
                origin = try number()
            case .enumerated:
                guard let keys, nextKeys < keys.count else { throw node.corrupt("column \(index) has no list of strings") }
                list = try keys.requiredRef(nextKeys, "key lists")
                nextKeys += 1
            default: break
            }
            return LegacyColumn(
                index: index, type: type, attributes: attributes[index], name: index < names.count ? names[index] : [],
                slot: slot,
                target: target, origin: origin, subspec: subspec, keys: list)
        }

        /// Takes the next entry of the subspecs, which is a ref.
        private mutating func entry() throws(StorageError) -> Ref {
            guard let subspecs, nextSubspec < subspecs.count else { throw node.corrupt("too few subspecs") }
            nextSubspec += 1
            return try subspecs.requiredRef(nextSubspec - 1, "subspecs")
        }

        /// Takes the next entry of the subspecs, which is a number.
        private mutating func number() throws(StorageError) -> Int {
            guard let subspecs, nextSubspec < subspecs.count, case .tagged(let number) = try subspecs.slot(nextSubspec) else {
                throw node.corrupt("a subspec is not a number")
            }
            nextSubspec += 1
            return Int(clamping: number)
        }

        /// Throws `.corrupt` unless all entries were taken.
        func checkEnd() throws(StorageError) {
            guard nextSubspec == subspecs?.count ?? 0, nextKeys == keys?.count ?? 0 else {
                throw node.corrupt("subspecs or key lists that belong to no column")
            }
        }
    }
}

/// Names of tables and columns.
extension LegacyReading {
    /// Returns the texts of a leaf of short strings without nulls.
    func names(at ref: Ref) throws(StorageError) -> [[UInt8]] {
        let node = try node(at: ref)
        guard !node.hasRefs, node.count <= LegacyReading.maximumLeafCount else { throw node.corrupt("a list of names expected") }
        let names = try LegacyBlobs(node, isText: true, self)
        var list: [[UInt8]] = []
        list.reserveCapacity(names.count)
        for row in 0..<names.count { list.append(try names.bytes(row)?.array ?? []) }
        return list
    }
}

/// Slots of nodes with refs.
extension Node {
    /// Returns what is stored in a slot: 0, a ref or a tagged number; 0 past the end.
    func rawValue(_ index: Int) throws(StorageError) -> UInt64 {
        switch try slot(index) {
        case .none: return 0
        case .ref(let ref): return ref.rawValue
        case .tagged(let number): return number << 1 | 1
        }
    }
}
