// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of decimals: 0, 4, 8 or 16 bytes each, one width per leaf, which only grows.
///
/// Without payload all values are null or, when the context flag is set, all are +0. Source: docs/format.md, "Decimal128".
struct DecimalLeafForm: ElementLeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Whether the column or collection may have nulls.
    let isNullable: Bool

    /// Null where that is allowed, else +0.
    var defaultValue: Value { isNullable ? .null : .decimal(.zero) }

    /// Makes a leaf of width 0. In a required column its context flag is set, which means that its
    /// values are +0 rather than null.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        let node = try writes.makeNode(.elements, count: count)
        node.setContext(!isNullable)
        return node.ref
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int { try writes.node(at: leaf).count }

    /// Inserts a number, after widening the leaf if the number needs it.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let number = try number(value)
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count + 1)
        try makeRoom(for: number, in: &node)
        try node.replaceElements(at: row, removing: 0, inserting: 1)
        store(number, in: node, row)
        return node.ref
    }

    /// Replaces a number, after widening the leaf if the new number needs it.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let number = try number(value)
        var node = try writable(leaf)
        try node.requireRow(row)
        try makeRoom(for: number, in: &node)
        store(number, in: node, row)
        return node.ref
    }

    /// Appends the values of `next`: as one run of bytes where both have the same width, else one by one.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        let other = try DecimalLeaf(try writes.node(at: next))
        if node.width > 0, other.node.width == node.width {
            try node.appendElements(of: other.node)
        } else {
            for row in 0..<other.count {
                let number = other.decimal(row) ?? .null
                try makeRoom(for: number, in: &node)
                let end = node.count
                try node.replaceElements(at: end, removing: 0, inserting: 1)
                store(number, in: node, end)
            }
        }
        writes.discard(other.node)
        return node.ref
    }

    // MARK: - Widths

    /// Makes the leaf ready to be changed.
    ///
    /// - Throws: `.corrupt` when it is not a leaf of decimals.
    func writable(_ leaf: Ref) throws(StorageError) -> MutableNode {
        let node = try writes.writableElements(leaf)
        _ = try DecimalLeaf(node.node)
        return node
    }

    /// Rebuilds the leaf in a greater width when `number` does not fit into the present one; the old node is discarded.
    ///
    /// Null and +0 fit into a leaf of width 0 if its context flag states the same value, or if the leaf is empty.
    private func makeRoom(for number: Decimal128, in node: inout MutableNode) throws(StorageError) {
        if node.width == 0, number.isNull || number == .zero {
            // An empty leaf can state either meaning.
            if node.count == 0 { node.setContext(number == .zero) }
            if node.hasContext == (number == .zero) { return }
        }
        let needed = DecimalLeafForm.byteCount(for: number)
        guard node.width < needed else { return }
        let old = try DecimalLeaf(node.node)
        let wide = try writes.makeNode(.elements, widthCode: needed == 4 ? 3 : needed == 8 ? 4 : 5, count: old.count)
        for row in 0..<old.count { store(old.decimal(row) ?? .null, in: wide, row) }
        writes.discard(old.node)
        node = wide
    }

    /// Returns the width in bytes that a number needs: 4, 8 or 16.
    ///
    /// Other programs search for a number only in leaves of at least the width that they compute
    /// for it, so exponents that just fit are stored in the next width.
    private static func byteCount(for number: Decimal128) -> Int {
        if number.isNull { return 4 }
        guard number.isFinite else { return 16 }
        let exponent = abs(number.exponent)
        if number.coefficient < 1 << 23, exponent < 91 { return 4 }
        return number.coefficient < 1 << 53 && exponent < 370 ? 8 : 16
    }

    /// Stores a number in an element. The leaf must be wide enough; in a leaf of width 0 there is nothing to store.
    private func store(_ number: Decimal128, in node: MutableNode, _ row: Int) {
        switch node.width {
        case 0: return
        case 4: node.store(number.stored32 ?? 0, atByte: row * 4)
        case 8: node.store(number.stored64 ?? 0, atByte: row * 8)
        default:
            node.store(number.low, atByte: row * 16)
            node.store(number.high, atByte: row * 16 + 8)
        }
    }

    /// Returns the number that is stored for a value; null is a particular NaN, and a required leaf
    /// stores an ordinary NaN in its place.
    ///
    /// - Throws: `.limit` for a value that is not a decimal.
    private func number(_ value: Value) throws(StorageError) -> Decimal128 {
        switch value {
        case .null where isNullable: return .null
        case .decimal(let number): return number.isNull && !isNullable ? .notANumber : number
        default: throw misfit("a decimal")
        }
    }
}
