// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Streams a whole result as lines, which are made while the response is sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
final class RowStream: ChunkProducer, @unchecked Sendable {
    /// Where the objects come from, which depends on their order.
    enum Source {
        /// A search in the order of the object keys, which goes on while the lines are written.
        case cursor(MatchCursor)
        /// The keys of a result in another order, which was computed before.
        case keys([ObjectKey])
    }

    /// Where the objects come from: a search that goes on, or known keys.
    private let source: Source
    /// Writes one line for each object.
    private let rows: RowLines
    /// Finds objects by their keys.
    private let finder: ObjectFinder
    /// Limits the time that each chunk may take.
    private let pace: StreamPace
    /// Whether the line of column names was written.
    private var hasBegun = false
    /// The index of the next key to write.
    private var nextKey = 0
    /// A leaf of objects, with the rows that are not written yet; nil between two leaves.
    private var open: (leaf: ClusterLeaf, rows: Mask)?

    /// Creates a stream of lines.
    ///
    /// - Parameters:
    ///   - source: Where the objects come from.
    ///   - rows: Writes one line.
    ///   - table: The class of the objects.
    ///   - pace: The time that each chunk may take.
    init(_ source: Source, _ rows: RowLines, of table: Table, pace: StreamPace) {
        self.source = source
        self.rows = rows
        self.pace = pace
        finder = ObjectFinder(table)
    }

    /// Writes lines until the chunk is full, or its time is used up; returns whether the stream is
    /// complete.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        pace.beginChunk()
        if !hasBegun {
            hasBegun = true
            rows.begin(in: buffer)
        }
        switch source {
        case .cursor(let cursor): return try produce(from: cursor, into: buffer)
        case .keys(let keys): return try produce(from: keys, into: buffer)
        }
    }

    /// Writes the objects that a search finds.
    private func produce(from cursor: MatchCursor, into buffer: OutputBuffer) throws -> Bool {
        while buffer.count < Streaming.chunkBytes {
            guard let (leaf, rest) = open else {
                switch try pace.next(cursor) {
                case .leaf(let leaf, let matches): open = (leaf, matches)
                case .later: return false
                case .end: return true
                }
                continue
            }
            guard let row = rest.first else {
                open = nil
                continue
            }
            open?.rows[row] = false
            try write(Row(leaf: leaf, index: row), to: buffer)
        }
        return false
    }

    /// Writes the objects of keys. A key without an object is skipped.
    private func produce(from keys: [ObjectKey], into buffer: OutputBuffer) throws -> Bool {
        while nextKey < keys.count {
            guard buffer.count < Streaming.chunkBytes else { return false }
            if let row = try finder.find(keys[nextKey]) { try write(row, to: buffer) }
            nextKey += 1
        }
        return true
    }

    /// Writes one line. The budget begins anew with each, so every row may show as many objects as
    /// a document.
    private func write(_ row: Row, to buffer: OutputBuffer) throws(StorageError) {
        rows.budget.beginPart(at: buffer.count)
        try rows.write(row, to: buffer)
    }
}
