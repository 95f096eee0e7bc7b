// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes an export as a script for PostgreSQL, chunk by chunk.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
package final class SQLScriptStream: ChunkProducer, @unchecked Sendable {
    private let rows: StreamRows
    /// Collects rows, and writes the script.
    private let sink: PostgreSQLSink
    /// Makes rows of objects.
    private let walk: RelationalWalk
    /// The token of the version.
    private let version: String
    /// Whether the tables were written.
    private var hasBegun = false

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - version: The token of their version.
    /// - Throws: `answer_too_large` for a class with more properties than a table can have columns.
    package init(_ rows: StreamRows, version: String) throws(Problem) {
        self.rows = rows
        self.version = version
        let schema = RelationalSchema(rows.parts.map(\.table), in: rows.snapshot, isWhole: rows.isWhole)
        // A date has a second column.
        try schema.requireColumns(atMost: PostgreSQLSink.columnLimit / 2)
        sink = PostgreSQLSink(schema, rows.budget)
        walk = RelationalWalk(schema, rows.snapshot, rows.budget, to: sink)
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        sink.script = buffer
        if !hasBegun {
            hasBegun = true
            sink.begin(version: version)
        }
        let isEnd = try rows.fill(buffer) { row, part in
            sink.beginObject()
            try walk.write(row, of: part.table)
        }
        if isEnd { sink.finish() }
        return isEnd
    }
}
