// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of a cluster tree: up to 256 objects of a table with one node per column.
///
/// Slot 0 is a number n (the keys are 0 to n - 1) or a ref to ascending keys relative to the leaf's
/// offset; slot 1 + leaf index refers to the values of that column. A value of this type is a view
/// that borrows from its snapshot. Source: docs/format.md, "Cluster trees".
package struct ClusterLeaf: Sendable {
    /// The greatest number of objects in a leaf, which is also the number of bits of a row mask.
    /// All released writers keep to it.
    package static let maximumCount = 256

    package let node: Node
    /// The space that the columns are read in.
    package let space: NodeSpace
    /// The number that is added to the relative keys of the leaf, modulo 2^64.
    package let offset: UInt64
    /// How many objects the leaf has.
    package let count: Int
    /// The relative keys; nil where they are 0 to `count` - 1.
    private let keys: PackedOffsets?

    /// Attaches a cluster leaf; columns are attached when they are read.
    ///
    /// - Parameters:
    ///   - space: The space that its refs point into.
    ///   - offset: The offset of its keys.
    /// - Throws: `.corrupt` for a leaf without keys or with more than 256 objects.
    @inline(__always)
    init(_ node: Node, _ space: NodeSpace, offset: UInt64) throws(StorageError) {
        self.node = node
        self.space = space
        self.offset = offset
        let keys = try node.rawSlot(0)
        if keys & 1 == 1 {
            count = Int(keys >> 1)
            self.keys = nil
        } else {
            guard keys != 0 else { throw node.corrupt("a cluster leaf without keys") }
            let list = try PackedOffsets(try space.node(at: Ref(keys)))
            count = list.count
            self.keys = list
        }
        guard count <= ClusterLeaf.maximumCount else { throw node.corrupt("a cluster leaf of \(count) objects") }
    }

    /// Attaches a cluster leaf whose keys are its offset and the numbers after it; nil for any other one.
    @inline(__always)
    init?(plain node: Node, _ space: NodeSpace, offset: UInt64) {
        guard node.hasRefs, node.widthType == 0, node.count > 0 else { return nil }
        let keys = UInt64(bitPattern: node.integer(0))
        guard keys & 1 == 1, keys >> 1 <= UInt64(ClusterLeaf.maximumCount) else { return nil }
        self.node = node
        self.space = space
        self.offset = offset
        count = Int(truncatingIfNeeded: keys >> 1)
        self.keys = nil
    }

    /// Returns the same leaf with its columns read in another space of the same version.
    package func read(in space: NodeSpace) -> ClusterLeaf { ClusterLeaf(self, in: space) }

    /// Makes a view of a leaf whose columns are read in another space.
    private init(_ leaf: ClusterLeaf, in space: NodeSpace) {
        node = leaf.node
        self.space = space
        offset = leaf.offset
        count = leaf.count
        keys = leaf.keys
    }

    /// Returns the object key of `row`, which must be in `0..<count`.
    @inline(__always) package func key(at row: Int) -> ObjectKey {
        ObjectKey(Int64(bitPattern: offset &+ (keys?[row] ?? UInt64(row))))
    }

    /// Returns the row of an object, or nil when it is not in this leaf.
    ///
    /// - Complexity: O(log n), or O(1) where the keys have no gaps.
    package func row(of key: ObjectKey) -> Int? {
        let relative = UInt64(bitPattern: key.rawValue) &- offset
        guard let keys else { return relative < UInt64(count) ? Int(relative) : nil }
        return keys.index(of: relative)
    }

    /// Returns the first row whose key is at or after `key` in the table's order; `count` when there is none.
    package func lowerBound(of key: ObjectKey) -> Int {
        let wanted = UInt64(bitPattern: key.rawValue)
        guard wanted > offset else { return 0 }
        let relative = wanted - offset
        guard let keys else { return Int(min(relative, UInt64(count))) }
        return keys.upperBound(relative - 1)
    }

    /// Checks that the keys ascend, as searches rely on it, and throws `.corrupt` otherwise.
    func validateKeys() throws(StorageError) { try keys?.requireAscending("object keys") }

    package var allRows: Mask { Mask(first: count) }
}

/// Access to the columns of a leaf.
extension ClusterLeaf {
    /// Attaches the values of a single-valued column and checks that there is one per object.
    ///
    /// Attaching costs about as much as reading a few values, so loops over rows do it once.
    ///
    /// - Throws: `.corrupt` for a leaf of another shape or length.
    package func attach(_ column: Column) throws(StorageError) -> ColumnLeaf {
        let values = try ColumnLeaf(
            columnNode(column), space, column.elementShape, inCluster: true, enumeration: column.enumeration)
        guard values.count == count else { throw wrongCount(values.count, column) }
        return values
    }

    /// Attaches the values of a column of single integers, as `attach` does.
    package func attachIntegers(_ column: Column) throws(StorageError) -> IntLeaf {
        let values = try IntLeaf(column: columnNode(column), isNullable: column.isNullable)
        guard values.count == count else { throw wrongCount(values.count, column) }
        return values
    }

    /// Attaches the values of a column of single doubles, as `attach` does.
    package func attachDoubles(_ column: Column) throws(StorageError) -> DoubleLeaf {
        let node = try columnNode(column)
        try node.requireLeaf()
        let values = try DoubleLeaf(node)
        guard values.count == count else { throw wrongCount(values.count, column) }
        return values
    }

    /// Attaches the values of a column of single texts, as `attach` does.
    package func attachStrings(_ column: Column) throws(StorageError) -> StringLeaf {
        let node = try columnNode(column)
        try node.requireLeaf()
        let values = try StringLeaf(node, space, enumeration: column.enumeration)
        guard values.count == count else { throw wrongCount(values.count, column) }
        return values
    }

    /// Makes the error for a column with another number of values than there are objects.
    @inline(never)
    private func wrongCount(_ valueCount: Int, _ column: Column) -> StorageError {
        node.corrupt("\(valueCount) values in column '\(column.name)' for \(count) objects")
    }

    /// Returns the value of a single-valued property. It attaches the column each time, so loops over
    /// rows use `attach` instead.
    package func value(_ column: Column, row: Int) throws(StorageError) -> Value {
        switch column.type {
        case .int: return try attachIntegers(column).value(row)
        case .double: return try attachDoubles(column).value(row)
        default: return try attach(column).value(row)
        }
    }

    /// Attaches the refs of a collection or backlink column and checks that there is one per object.
    ///
    /// - Throws: `.corrupt` for a column of values, or for one of another length.
    package func attachRefs(_ column: Column) throws(StorageError) -> Node {
        let refs = try columnNode(column)
        guard refs.hasRefs, !refs.isInner else { throw refs.corrupt("column '\(column.name)' holds no refs") }
        guard refs.count == count else {
            throw node.corrupt("\(refs.count) collections in column '\(column.name)' for \(count) objects")
        }
        return refs
    }

    /// Returns the ref of a column's node; throws `.corrupt` when the leaf has none.
    @inline(__always) package func ref(of column: Column) throws(StorageError) -> Ref {
        try node.requiredRef(column.leafIndex + 1, "column '\(column.name)'")
    }

    /// Returns the node of a column; throws `.corrupt` when the leaf has none.
    @inline(__always)
    private func columnNode(_ column: Column) throws(StorageError) -> Node { try space.node(at: try ref(of: column)) }
}

/// Access to the collections and incoming links of single objects.
extension ClusterLeaf {
    /// Returns the incoming links of the object in `row` through a backlink column.
    ///
    /// - Throws: `.corrupt` for a damaged column.
    package func backlinks(_ column: Column, row: Int) throws(StorageError) -> BacklinkView {
        try BacklinkView(try attachRefs(column).slot(row), space, from: column.targetTable ?? .null)
    }

    /// Returns the root of the collection that the object in `row` holds, `Ref.none` when it is empty.
    ///
    /// - Throws: `.corrupt` when the column does not hold refs.
    package func collectionRoot(_ column: Column, row: Int) throws(StorageError) -> Ref {
        try attachRefs(column).optionalRef(row, "collection in column '\(column.name)'")
    }
}
