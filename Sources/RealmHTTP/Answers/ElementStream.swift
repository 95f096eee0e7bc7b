// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A whole collection as lines, made while it is sent.
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and each is made by one worker.
final class ElementStream: ChunkProducer, @unchecked Sendable {
    private let positions: CollectionView.Positions
    private let lines: ElementLines
    private let pace: StreamPace
    private var next: Int
    private var hasBegun = false

    /// The lines of the elements from `first` on.
    init(_ lines: ElementLines, _ positions: CollectionView.Positions, from first: Int, _ pace: StreamPace) {
        self.lines = lines
        self.pace = pace
        self.positions = positions
        next = first
    }

    /// Writes lines until a chunk is full.
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
