// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Streams all elements of a collection as lines, which are made while the response is sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
final class ElementStream: ChunkProducer, @unchecked Sendable {
    /// The elements to write, in their order.
    private let positions: CollectionView.Positions
    private let lines: ElementLines
    /// Limits the time that each chunk may take.
    private let pace: StreamPace
    /// The index, in `positions`, of the next element to write.
    private var next: Int
    /// Whether the line of column names was written.
    private var hasBegun = false

    /// Creates a stream of the lines from an index on.
    ///
    /// - Parameters:
    ///   - positions: The elements, in their order.
    ///   - first: The index in `positions` of the first element to write.
    ///   - pace: The time that each chunk may take.
    init(_ lines: ElementLines, _ positions: CollectionView.Positions, from first: Int, _ pace: StreamPace) {
        self.lines = lines
        self.pace = pace
        self.positions = positions
        next = first
    }

    /// Writes lines until the chunk is full; returns whether the stream is complete.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        pace.beginChunk()
        if !hasBegun { lines.begin(in: buffer) }
        hasBegun = true
        while next < positions.count {
            guard buffer.count < Streaming.chunkBytes else { return false }
            lines.budget.beginPart(at: buffer.count)
            try lines.budget.spend()
            try lines.write(at: positions[next], to: buffer)
            next += 1
        }
        return true
    }
}
