// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Streams a whole result as lines, which are made while the response is sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
final class RowStream: ChunkProducer, @unchecked Sendable {
    /// The objects, with the version that they belong to.
    private let rows: StreamRows
    private let lines: LineStream
    /// Writes the line of column names; nil once it was written.
    private var header: RowLines?

    /// Creates a stream of lines.
    ///
    /// - Parameters:
    ///   - snapshot: The version that is read.
    ///   - parameters: The format and the representation.
    ///   - budget: What each object may cost.
    ///   - secondsPerChunk: How long the work on one chunk may take.
    init(
        _ part: StreamRows.Part, of snapshot: Snapshot, _ parameters: ReadParameters, budget: WorkBudget, secondsPerChunk: Int
    ) {
        rows = StreamRows(part, in: snapshot, budget: budget, secondsPerChunk: secondsPerChunk)
        header = RowLines(part.plan, snapshot, parameters, budget: budget)
        let plan = part.plan
        lines = LineStream(rows) { budget in RowLines(plan, snapshot, parameters, budget: budget) }
    }

    /// Writes lines until the chunk is full, or its time is used up; returns whether the stream is
    /// complete.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        header?.begin(in: buffer)
        header = nil
        return try lines.fill(buffer)
    }
}
