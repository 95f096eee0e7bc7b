// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension LineStream {
    /// Makes a stream of the objects of one class as lines of canonical Extended JSON, as `mongoimport` takes them.
    package convenience init(mongo rows: StreamRows) {
        self.init(rows) { [snapshot = rows.snapshot] budget in MongoLines(snapshot, budget) }
    }
}

/// Writes objects as lines of Extended JSON. It is used by one thread at a time.
private final class MongoLines: LineWriter {
    /// The limit of work and time per object.
    private let budget: WorkBudget
    /// Writes documents.
    private let writer: MongoWriter

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - snapshot: The version that they belong to.
    ///   - budget: The limit of work and time per object.
    init(_ snapshot: Snapshot, _ budget: WorkBudget) {
        self.budget = budget
        writer = MongoWriter(snapshot, budget)
    }

    func lines(of batch: RowBatch, in table: Table) throws(StorageError) -> BatchLines {
        try BatchLines(batch, in: table, budget: budget) { row, buffer throws(StorageError) in
            var json = JSONWriter(buffer)
            try writer.write(row, of: table, to: &json)
            buffer.append(UInt8(ascii: "\n"))
        }
    }
}
