// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// A whole result as lines, made while it is sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and each is made by one worker.
final class RowStream: ChunkProducer, @unchecked Sendable {
    enum Source {
        /// Results in object order, found on the way.
        case cursor(MatchCursor)
        /// Results in another order.
        case keys([ObjectKey])
    }

    private let source: Source
    private let rows: RowLines
    private let finder: ObjectFinder
    private let pace: StreamPace
    private var hasBegun = false
    private var nextKey = 0
    /// The rows of a leaf that are not written yet.
    private var open: (leaf: ClusterLeaf, rows: Mask)?

    init(_ source: Source, _ rows: RowLines, _ table: Table, _ pace: StreamPace) {
        self.source = source
        self.rows = rows
        self.pace = pace
        finder = ObjectFinder(table)
    }

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

    private func produce(from keys: [ObjectKey], into buffer: OutputBuffer) throws -> Bool {
        while nextKey < keys.count {
            guard buffer.count < Streaming.chunkBytes else { return false }
            if let row = try finder.find(keys[nextKey]) { try write(row, to: buffer) }
            nextKey += 1
        }
        return true
    }

    /// Every row may show as many objects as a document.
    private func write(_ row: Row, to buffer: OutputBuffer) throws(StorageError) {
        rows.budget.beginPart(at: buffer.count)
        try rows.write(row, to: buffer)
    }
}
