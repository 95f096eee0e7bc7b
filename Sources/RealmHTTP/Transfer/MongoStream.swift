// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes the objects of one class as lines of canonical Extended JSON, as `mongoimport` takes them.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
package final class MongoStream: ChunkProducer, @unchecked Sendable {
    /// The objects.
    private let rows: ExportRows
    /// Writes documents.
    private let writer: MongoWriter

    /// Creates a stream.
    ///
    /// - Parameter rows: Objects of one class.
    package init(_ rows: ExportRows) {
        self.rows = rows
        writer = MongoWriter(rows.snapshot, rows.budget)
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        while buffer.count < Streaming.chunkBytes {
            switch try rows.next() {
            case .row(let row, let part):
                rows.budget.beginPart(at: buffer.count)
                var json = JSONWriter(buffer)
                try writer.write(row, of: rows.parts[part].table, to: &json)
                buffer.append(UInt8(ascii: "\n"))
            case .later: return false
            case .end: return true
            }
        }
        return false
    }
}
