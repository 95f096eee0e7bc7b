// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The source of the objects of a stream, which depends on their order.
package enum RowSource {
    /// A search in the order of the object keys, which continues while the objects are written.
    case cursor(MatchCursor)
    /// The keys of a result in another order, which was computed before.
    case keys([ObjectKey])
}

/// Some objects of one class that a stream writes, in their order.
package struct RowBatch: Sendable {
    /// The way of finding the objects.
    enum Rows: Sendable {
        case leaf(ClusterLeaf, Mask)
        case keys(ArraySlice<ObjectKey>)
    }

    /// The index of the class in its stream.
    let part: Int
    var rows: Rows
}

/// The written lines of a batch.
package struct BatchLines: Sendable {
    /// The index of the class in its stream.
    let part: Int
    package let bytes: OutputBuffer
    /// The number of written objects.
    let count: Int
    /// The objects that are left; nil when there are none.
    let rest: RowBatch?
}

/// Writes objects one after the other. One thread at a time uses a writer.
package protocol LineWriter: AnyObject {
    /// Writes a batch, up to the number of bytes that bounds it; see `BatchLines.init`.
    ///
    /// - Throws: An error of storage, or that the budget is used up.
    func lines(of batch: RowBatch, in table: Table) throws(StorageError) -> BatchLines
}

extension BatchLines {
    /// Writes a batch, up to the number of bytes that bounds it. The budget restarts with each object, so every one may show as
    /// many others as a document.
    ///
    /// - Parameters:
    ///   - batch: The objects. A key without an object is skipped.
    ///   - budget: The limit of work and time per object.
    /// - Throws: An error of storage, or of a budget that is used up.
    @inline(__always)
    package init(
        _ batch: RowBatch, in table: Table, budget: WorkBudget, _ write: (Row, OutputBuffer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let buffer = OutputBuffer(capacity: LineStream.batchBytes * 3 / 2)
        var count = 0
        var rest: RowBatch.Rows?
        switch batch.rows {
        case .leaf(let leaf, var rows):
            while let row = rows.first, buffer.count < LineStream.longestBatchBytes {
                budget.beginPart(at: buffer.count)
                try write(Row(leaf: leaf, index: row), buffer)
                rows[row] = false
                count += 1
            }
            if !rows.isEmpty { rest = .leaf(leaf, rows) }
        case .keys(var keys):
            let finder = ObjectFinder(table)
            while let key = keys.first, buffer.count < LineStream.longestBatchBytes {
                budget.beginPart(at: buffer.count)
                if let row = try finder.find(key) {
                    try write(row, buffer)
                    count += 1
                }
                keys.removeFirst()
            }
            if !keys.isEmpty { rest = .keys(keys) }
        }
        self.init(part: batch.part, bytes: buffer, count: count, rest: rest.map { RowBatch(part: batch.part, rows: $0) })
    }
}
