// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The keys that an index offers, ascending and each once, read a few at a time: who stops early reads few of them.
struct CandidateKeys {
    /// One list of the index, of which a part is in memory.
    private struct Stream {
        let keys: IndexedKeys
        var buffer: ArraySlice<ObjectKey> = []
        /// Where in `keys` the buffer ends.
        var end = 0
    }

    /// More lists than this are merged in memory at once.
    static let maximumStreams = 16

    /// The first piece of a list; each further one is twice as long.
    private static let firstPieceCount = 32

    private var streams: [Stream]
    private var pieceCount = CandidateKeys.firstPieceCount
    private let statistics: QueryStatistics?

    /// The keys of all lists together. `statistics` counts those that are read; nil when they are counted already.
    init(_ lists: [IndexedKeys], _ statistics: QueryStatistics?) {
        streams = lists.map { Stream(keys: $0) }
        self.statistics = statistics
    }

    /// Leaves out the keys up to `key`. Only before the first one is taken.
    mutating func skip(through key: ObjectKey) throws(StorageError) {
        for index in streams.indices { streams[index].end = try streams[index].keys.firstIndex(after: key) }
    }

    /// Leaves out `count` keys where that needs no look at them: in a single list. Returns how many are left out.
    mutating func skip(_ count: Int) -> Int {
        guard streams.count == 1, streams[0].buffer.isEmpty else { return 0 }
        let skipped = min(count, streams[0].keys.count - streams[0].end)
        streams[0].end += skipped
        return skipped
    }

    /// The next key without taking it; nil at the end.
    mutating func peek() throws(StorageError) -> ObjectKey? {
        var least: ObjectKey?
        for index in streams.indices {
            if streams[index].buffer.isEmpty { try refill(index) }
            guard let key = streams[index].buffer.first else { continue }
            if least.map({ key < $0 }) ?? true { least = key }
        }
        return least
    }

    /// Takes the key that `peek` returned.
    mutating func drop(_ key: ObjectKey) {
        for index in streams.indices where streams[index].buffer.first == key { streams[index].buffer.removeFirst() }
    }

    private mutating func refill(_ index: Int) throws(StorageError) {
        let stream = streams[index]
        guard stream.end < stream.keys.count else { return }
        let piece = try stream.keys.piece(from: stream.end, atMost: pieceCount)
        statistics?.indexKeysRead += piece.count
        pieceCount = min(pieceCount * 2, 1024)
        streams[index].end += piece.count
        streams[index].buffer = piece[...]
    }
}
