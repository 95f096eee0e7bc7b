// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes the objects of one class as lines of canonical Extended JSON, as `mongoimport` takes them.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
package final class MongoStream: ChunkProducer, @unchecked Sendable {
    /// The objects.
    private let rows: StreamRows
    /// The documents of the objects.
    private let lines: LineStream

    /// Creates a stream.
    ///
    /// - Parameter rows: Objects of one class.
    package init(_ rows: StreamRows) {
        self.rows = rows
        let (tables, snapshot) = (rows.parts.map(\.table), rows.snapshot)
        lines = LineStream(rows) { budget in MongoLines(tables, snapshot, budget) }
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        while buffer.count < Streaming.chunkBytes {
            switch try lines.next() {
            case .lines(let lines): buffer.append(lines.bytes)
            case .later: return false
            case .end: return true
            }
        }
        return false
    }
}

/// Writes objects as lines of Extended JSON. It is used by one thread at a time.
private final class MongoLines: LineWriter {
    let budget: WorkBudget
    /// The classes of the objects.
    private let tables: [Table]
    /// Writes documents.
    private let writer: MongoWriter

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - tables: The classes of the objects.
    ///   - snapshot: The version that they belong to.
    ///   - budget: What each object may cost.
    init(_ tables: [Table], _ snapshot: Snapshot, _ budget: WorkBudget) {
        self.tables = tables
        self.budget = budget
        writer = MongoWriter(snapshot, budget)
    }

    func write(_ row: Row, of part: Int, to buffer: OutputBuffer) throws(StorageError) {
        var json = JSONWriter(buffer)
        try writer.write(row, of: tables[part], to: &json)
        buffer.append(UInt8(ascii: "\n"))
    }
}
