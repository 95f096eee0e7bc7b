// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The lists, sets or dictionaries that the objects of a leaf have in one property, of which those in one leaf each are tested in place.
///
/// Their nodes are read as they are, without views of them, so a leaf of 256 short lists takes about as long as 256 reads of
/// memory. Collections of other forms are left to the caller.
package struct LeafCollections: Sendable {
    /// The result for the rows of a leaf.
    package struct Outcome: Equatable, Sendable {
        /// The rows whose collection has an element that passes.
        package var found: Mask
        /// The rows of which it is not known, because their collection has another form.
        package var others: Mask
    }

    /// The refs of the collections.
    private let roots: Node
    package let space: NodeSpace
    /// The name of the property, for errors.
    private let name: String

    /// The number of rows in advance of which the memory of a collection is requested.
    private static let distance = 8
    /// The number of elements from which on a collection is left to the caller, who counts them as work.
    private static let manyElements = 512

    /// Attaches the collections of a leaf.
    ///
    /// - Throws: `.corrupt` for a column of values, or one of another length than the leaf.
    package init(_ column: Column, of leaf: ClusterLeaf) throws(StorageError) {
        roots = try leaf.attachRefs(column)
        space = leaf.space
        name = column.name
    }

    /// Returns the root of the collection of a row, `Ref.none` for an empty one; throws `.corrupt` for a number in its place.
    package func root(_ row: Int) throws(StorageError) -> Ref { try roots.optionalRef(row, "collection in column '\(name)'") }

    /// Finds the lists or sets with an integer that passes a test. The collections must not hold null.
    ///
    /// - Parameters:
    ///   - rows: The rows to look at.
    /// - Throws: `.corrupt` for a ref that is none.
    package func integers(_ test: IntegerTest, among rows: Mask) throws(StorageError) -> Outcome {
        try decide(rows) { node throws(StorageError) in
            guard LeafCollections.isFewNumbers(node) else { return nil }
            return try node.integers().hasElement(test)
        }
    }

    /// Appends the sums of the lists or sets of integers of rows, which wrap around at 64 bits. The collections must not hold
    /// null.
    ///
    /// - Parameters:
    ///   - rows: The rows, which are taken in ascending order.
    ///   - sums: Receives one sum for each row.
    ///   - otherwise: Returns the sum of a collection that has another form.
    /// - Throws: `.corrupt` for a ref that is none, and what the closure throws.
    package func appendSums(
        of rows: Mask, to sums: inout [Int64], otherwise: (Ref) throws(StorageError) -> Int64
    ) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in
            request(after: row)
            let root = try root(row)
            if root.isNone { return sums.append(0) }
            let node = try space.node(at: root)
            guard LeafCollections.isFewNumbers(node) else { return sums.append(try otherwise(root)) }
            sums.append(try node.integers().wrappingSum())
        }
    }

    /// Appends the numbers of elements of the lists or sets of rows.
    ///
    /// - Parameters:
    ///   - rows: The rows, which are taken in ascending order.
    ///   - shape: The type of the elements.
    ///   - counts: Receives one number for each row.
    ///   - otherwise: Returns the number for a collection whose root does not state it.
    /// - Throws: `.corrupt` for a ref that is none, and what the closure throws.
    package func appendCounts(
        of rows: Mask, _ shape: ElementShape, to counts: inout [Int64], otherwise: (Ref) throws(StorageError) -> Int
    ) throws(StorageError) {
        try appendCounts(of: rows, to: &counts, otherwise) { root throws(StorageError) in
            try BPlusTree.plainCount(root, space, shape)
        }
    }

    /// Appends the numbers of elements of collections, 0 for empty ones.
    @inline(__always)
    func appendCounts(
        of rows: Mask, to counts: inout [Int64], _ otherwise: (Ref) throws(StorageError) -> Int,
        _ count: (Ref) throws(StorageError) -> Int?
    ) throws(StorageError) {
        try rows.forEach { row throws(StorageError) in
            request(after: row)
            let root = try root(row)
            if root.isNone { return counts.append(0) }
            if let count = try count(root) { return counts.append(Int64(count)) }
            counts.append(Int64(try otherwise(root)))
        }
    }

    /// Finds the lists or sets of texts with a text.
    ///
    /// - Parameters:
    ///   - rows: The rows to look at.
    /// - Throws: `.corrupt` for a ref that is none.
    package func texts(_ text: CellText, among rows: Mask) throws(StorageError) -> Outcome {
        try decide(rows) { node throws(StorageError) in
            StringLeaf.isShort(node) && node.count < LeafCollections.manyElements ? text.row(in: node) != nil : nil
        }
    }

    /// Finds the lists or sets of texts that may have one in which a pattern occurs; all of these are among the others.
    ///
    /// - Parameters:
    ///   - filter: The filter that is made of the pattern.
    ///   - rows: The rows to look at.
    /// - Throws: `.corrupt` for a ref that is none.
    package func texts(_ filter: PairFilter, among rows: Mask) throws(StorageError) -> Mask {
        try decide(rows) { node throws(StorageError) in
            StringLeaf.isShort(node) && node.count < LeafCollections.manyElements && !filter.mayOccur(in: node) ? false : nil
        }.others
    }

    /// Returns whether a node is a leaf of a few packed integers.
    @inline(__always)
    private static func isFewNumbers(_ node: Node) -> Bool {
        !node.isInner && !node.hasRefs && node.widthType == Node.WidthType.bits.rawValue && node.count < manyElements
    }

    /// Tests the collections of rows by their roots.
    ///
    /// - Parameters:
    ///   - test: Returns whether a collection that is not empty passes; nil where it has another form.
    @inline(__always)
    func decide(_ rows: Mask, _ test: (Node) throws(StorageError) -> Bool?) throws(StorageError) -> Outcome {
        var others = Mask.none
        let found = try rows.filter { row throws(StorageError) in
            request(after: row)
            let root = try root(row)
            if root.isNone { return false }
            if let passes = try test(try space.node(at: root)) { return passes }
            others[row] = true
            return false
        }
        return Outcome(found: found, others: others)
    }

    /// Requests the memory of a collection a few rows on, if there is one.
    @inline(__always)
    private func request(after row: Int) {
        guard !space.isEncrypted, let next = try? roots.rawSlot(row &+ LeafCollections.distance), next & 1 == 0 else { return }
        space.prefetch(Ref(next), byteCount: 64)
    }
}
