// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The keys that an index offers, ascending and each once, from one or several lists that are merged.
///
/// They are read in pieces, so that a caller who stops early reads few of them. To iterate, call
/// `peek`, then `drop` with the key.
struct CandidateKeys {
    /// One of the merged lists, of which a piece is in memory.
    private struct Stream {
        /// The whole list of keys, which is read from the index on demand.
        let keys: IndexedKeys
        /// The keys that were read from the list but not taken by the caller yet.
        var buffer: ArraySlice<ObjectKey> = []
        /// The position in the list after the last key that was read.
        var end = 0
    }

    /// The greatest number of lists that are merged in this way; with more, the caller reads and sorts all keys.
    static let maximumStreams = 16

    /// The number of keys in the first piece; each later piece is twice as long, up to 1024.
    private static let firstPieceCount = 32

    private var streams: [Stream]
    /// The number of keys that the next piece will have.
    private var pieceCount = CandidateKeys.firstPieceCount
    /// Counts the keys that are read; nil when they are counted already.
    private let statistics: QueryStatistics?

    /// Creates the merged list; nothing is read yet.
    ///
    /// - Parameters:
    ///   - lists: Ascending lists of keys.
    ///   - statistics: Counts the keys that are read; nil when the caller has counted them.
    init(_ lists: [IndexedKeys], _ statistics: QueryStatistics?) {
        streams = lists.map { Stream(keys: $0) }
        self.statistics = statistics
    }

    /// Leaves out all keys up to and including `key`. It may be called only before the first key is read.
    ///
    /// - Complexity: O(log n) for each list of n keys in an index, O(n) for keys in memory.
    mutating func skip(through key: ObjectKey) throws(StorageError) {
        for index in streams.indices { streams[index].end = try streams[index].keys.firstIndex(after: key) }
    }

    /// Leaves out keys without reading them, which is possible only for a single list.
    ///
    /// - Parameter count: The number of keys to leave out.
    /// - Returns: The number of keys that were left out, 0 when it is not possible.
    mutating func skip(_ count: Int) -> Int {
        guard streams.count == 1, streams[0].buffer.isEmpty else { return 0 }
        let skipped = min(count, streams[0].keys.count - streams[0].end)
        streams[0].end += skipped
        return skipped
    }

    /// Takes all keys, when they are in one list and there are at most `limit` of them.
    ///
    /// A whole list is unpacked several times faster than key by key.
    ///
    /// - Parameter limit: The greatest number of keys to take.
    /// - Returns: The keys in ascending order, or nil when several lists are merged, more keys are
    ///   left, or some were read or left out already; then nothing is taken.
    mutating func takeAll(atMost limit: Int) throws(StorageError) -> [ObjectKey]? {
        guard streams.count == 1, streams[0].end == 0, streams[0].keys.count <= limit else { return nil }
        let keys = try streams[0].keys.all()
        statistics?.indexKeysRead += keys.count
        streams[0].end = keys.count
        return keys
    }

    /// Returns the next key without taking it; nil at the end.
    ///
    /// - Throws: A storage error when the index is damaged.
    mutating func peek() throws(StorageError) -> ObjectKey? {
        var least: ObjectKey?
        for index in streams.indices {
            if streams[index].buffer.isEmpty { try refill(index) }
            guard let key = streams[index].buffer.first else { continue }
            if least.map({ key < $0 }) ?? true { least = key }
        }
        return least
    }

    /// Takes the key that `peek` returned, from every list that has it.
    mutating func drop(_ key: ObjectKey) {
        for index in streams.indices where streams[index].buffer.first == key { streams[index].buffer.removeFirst() }
    }

    /// Reads the next piece of a list into its buffer, if the list has more keys.
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
