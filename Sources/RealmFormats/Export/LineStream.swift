// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// Writes the objects of a stream in batches, ahead of the client and with free helpers.
///
/// The thread of the stream takes the next objects from their source, writes the first free batch, and passes on written ones, in
/// order. Helpers do the same with the batches behind it. The thread itself writes batches that no helper has taken, so a stream
/// never waits for a helper; and the lines do not depend on the thread.
///
/// At most `batchCount` batches of `longestBatchBytes` are written ahead of the first one, each with one object more of
/// `longestRowBytes`. Longer objects, and those that cannot be written, are left until they are the first, so that all earlier
/// ones are sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
package final class LineStream: ChunkProducer, @unchecked Sendable {
    /// The approximate number of bytes of a batch.
    static let batchBytes = 32 << 10
    /// The number of bytes that ends a batch early.
    static let longestBatchBytes = 64 << 10
    /// The length in bytes of the longest object that is written ahead.
    private static let longestRowBytes = 256 << 10
    /// The greatest number of batches that are written, or are about to be, before they are sent.
    private static let batchCount = 8
    /// The greatest number of helpers for a stream, which is more than a client takes.
    private static let helperCount = 3

    /// The next part of the stream.
    enum Found {
        /// The lines of some objects of one class.
        case lines(BatchLines)
        /// Nothing yet; other work gets its turn first.
        case later
        /// There are no more objects.
        case end
    }

    private let rows: StreamRows
    /// Writes the first batch.
    private let writer: any LineWriter
    /// Writes others on the thread of the stream; nil until that is needed, and after an error.
    private var writerAhead: (any LineWriter)?
    /// Makes a writer for another thread.
    private let makeWriter: @Sendable (WorkBudget) -> any LineWriter
    /// The threads that help.
    private let helpers: ScanHelpers
    /// Writes the text before the first line; nil once it was written, and for none.
    private var header: ((OutputBuffer) -> Void)?
    /// The next batches.
    private let queue = BatchQueue()
    /// The part after the batches of the queue; nil when the search for objects has to continue.
    private var following: Found?
    /// The mean length in bytes of the objects that were written last.
    private var rowBytes = 512
    private var rowsPerBatch: Int { max(1, min(LineStream.batchBytes / rowBytes, Mask.capacity)) }

    /// Makes a stream of lines.
    ///
    /// - Parameters:
    ///   - helpers: The threads that help.
    ///   - header: Writes the text before the first line; nil for none.
    ///   - makeWriter: Makes a writer of objects that spends from a budget; called on the threads that use them.
    package init(
        _ rows: StreamRows, helpers: ScanHelpers = .shared, header: ((OutputBuffer) -> Void)? = nil,
        _ makeWriter: @escaping @Sendable (WorkBudget) -> any LineWriter
    ) {
        self.rows = rows
        self.helpers = helpers
        self.header = header
        self.makeWriter = makeWriter
        writer = makeWriter(rows.budget)
    }

    deinit { queue.stop() }

    /// Appends the next lines to a chunk until it is full, or other work gets its turn.
    ///
    /// - Returns: Whether there are no more.
    /// - Throws: An error of storage, or that the search was stopped.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        header?(buffer)
        header = nil
        while buffer.count < Streaming.chunkBytes {
            switch try next() {
            case .lines(let lines): buffer.append(lines.bytes)
            case .later: return false
            case .end: return true
            }
        }
        return false
    }

    /// Returns the next lines.
    ///
    /// - Throws: An error of storage, or that the search was stopped.
    func next() throws -> Found {
        try fill()
        callHelpers()
        while true {
            if let lines = queue.removeFirst() { return .lines(measured(lines)) }
            // The first batch is with a helper when all are taken, which may have been kept from it by other work of the machine.
            guard let (number, batch) = queue.dequeue() ?? queue.firstBatch else { break }
            if queue.isFirst(number) {
                queue.store(try writer.lines(of: batch, in: rows.parts[batch.part].table), at: number)
            } else {
                writeAhead(batch, number)
            }
        }
        let found = following ?? .end
        if case .later = found { following = nil }
        return found
    }

    /// Writes a batch while the first one is with a helper.
    private func writeAhead(_ batch: RowBatch, _ number: Int) {
        let writer = writerAhead ?? makeWriter(rows.budget.twins(byteLimit: LineStream.longestRowBytes)())
        let lines = try? writer.lines(of: batch, in: rows.parts[batch.part].table)
        // After an error a writer is of no use, and the batch waits until it is the first.
        writerAhead = lines == nil ? nil : writer
        if let lines { queue.store(lines, at: number) }
    }

    /// Searches for objects until there are enough batches.
    private func fill() throws {
        var missing = LineStream.batchCount - queue.count
        while missing > 0, following == nil {
            switch try rows.nextBatch(rowsPerBatch) {
            case .batch(let batch): queue.add(batch)
            case .later: following = .later
            case .end: following = .end
            }
            missing -= 1
        }
    }

    /// Gives batches to helpers that are free.
    private func callHelpers() {
        let wanted = queue.wantedHelpers(atMost: LineStream.helperCount)
        guard wanted > 0, rowBytes < LineStream.longestRowBytes else { return }
        let (queue, makeWriter, tables) = (queue, makeWriter, rows.parts.map(\.table))
        let makeBudget = rows.budget.twins(byteLimit: LineStream.longestRowBytes)
        queue.noteHelpers(wanted)
        let taken = helpers.begin(wanted) {
            defer { queue.noteHelpers(-1) }
            let writer = makeWriter(makeBudget())
            while let (number, batch) = queue.dequeue() {
                // Whatever goes wrong is left for the thread of the stream, which meets it when it is its turn.
                guard let lines = try? writer.lines(of: batch, in: tables[batch.part]) else { return }
                queue.store(lines, at: number)
            }
        }
        queue.noteHelpers(taken - wanted)
    }

    /// Returns lines, and takes over the length of their objects.
    private func measured(_ lines: BatchLines) -> BatchLines {
        if lines.count > 0 { rowBytes = max(1, lines.bytes.count / lines.count) }
        return lines
    }
}
