// SPDX-License-Identifier: Apache-2.0

/// Up to 256 objects of a table with one node per column.
///
/// Slot 0 is a number n (the keys are 0 to n - 1) or a ref to ascending keys relative to the leaf's offset; slot
/// 1 + leaf index refers to the values of that column. Source: docs/format.md, "Cluster trees".
package struct ClusterLeaf: Sendable {
    /// All released writers put at most this many objects into a leaf; a row mask has as many bits.
    package static let maximumCount = 256

    /// The node of the leaf.
    package let node: Node
    /// The space that the columns are read in.
    package let space: NodeSpace
    /// Added to the relative keys, modulo 2^64.
    package let offset: UInt64
    /// How many objects there are.
    package let count: Int
    /// Nil in compact form.
    private let keys: PackedOffsets?

    /// Attaches a cluster leaf. Throws `.corrupt` for one without keys or of too many objects.
    init(_ node: Node, _ space: NodeSpace, offset: UInt64) throws(StorageError) {
        self.node = node
        self.space = space
        self.offset = offset
        switch try node.slot(0) {
        case .tagged(let size):
            count = Int(clamping: size)
            keys = nil
        case .ref(let ref):
            let keys = try PackedOffsets(try space.node(at: ref))
            count = keys.count
            self.keys = keys
        case .none:
            throw node.corrupt("a cluster leaf without keys")
        }
        guard count <= ClusterLeaf.maximumCount else { throw node.corrupt("a cluster leaf of \(count) objects") }
    }

    /// The object key of `row`, which must be in `0..<count`.
    @inline(__always) package func key(at row: Int) -> ObjectKey {
        ObjectKey(Int64(bitPattern: offset &+ (keys?[row] ?? UInt64(row))))
    }

    /// The row of an object, or nil when it is not in this leaf.
    ///
    /// O(log n), or O(1) where the keys have no gaps.
    package func row(of key: ObjectKey) -> Int? {
        let relative = UInt64(bitPattern: key.rawValue) &- offset
        guard let keys else { return relative < UInt64(count) ? Int(relative) : nil }
        return keys.index(of: relative)
    }

    /// The first row whose key is at or after `key` in the table's order; `count` when there is none.
    package func lowerBound(of key: ObjectKey) -> Int {
        let wanted = UInt64(bitPattern: key.rawValue)
        guard wanted > offset else { return 0 }
        let relative = wanted - offset
        guard let keys else { return Int(min(relative, UInt64(count))) }
        return keys.upperBound(relative - 1)
    }

    /// Checks that the keys ascend, which searches rely on.
    func validateKeys() throws(StorageError) { try keys?.requireAscending("object keys") }

    /// All rows.
    package var allRows: Mask { Mask(first: count) }
}

/// Columns of a leaf.
extension ClusterLeaf {
    /// Attaches the values of a single-valued column and checks that there is one per object.
    ///
    /// Attaching costs about as much as reading a few values. Throws `.corrupt` for a leaf of another shape or length.
    package func attach(_ column: Column) throws(StorageError) -> ColumnLeaf {
        let values = try ColumnLeaf(
            columnNode(column), space, column.elementShape, inCluster: true, enumeration: column.enumeration)
        guard values.count == count else {
            throw node.corrupt("\(values.count) values in column '\(column.name)' for \(count) objects")
        }
        return values
    }

    /// The value of a single-valued property; attaches the column anew, so loops over rows attach once instead.
    package func value(_ column: Column, row: Int) throws(StorageError) -> Value { try attach(column).value(row) }

    /// Attaches the refs of a collection or backlink column and checks that there is one per object.
    ///
    /// Throws `.corrupt` for a column of values, or for one of another length.
    package func attachRefs(_ column: Column) throws(StorageError) -> Node {
        let refs = try columnNode(column)
        guard refs.hasRefs, !refs.isInner else { throw refs.corrupt("column '\(column.name)' holds no refs") }
        guard refs.count == count else {
            throw node.corrupt("\(refs.count) collections in column '\(column.name)' for \(count) objects")
        }
        return refs
    }

    /// The node of a column. Throws `.corrupt` when the leaf has none.
    private func columnNode(_ column: Column) throws(StorageError) -> Node {
        try space.node(at: try node.requiredRef(column.leafIndex + 1, "column '\(column.name)'"))
    }
}
