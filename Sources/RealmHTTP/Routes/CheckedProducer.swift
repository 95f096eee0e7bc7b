// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// A stream that is cut off when the file it is read from is no longer what it was.
final class CheckedProducer: ChunkProducer {
    private let producer: any ChunkProducer
    private let database: Database

    /// The stream of `producer`, which reads from `database`.
    init(_ producer: any ChunkProducer, _ database: Database) {
        self.producer = producer
        self.database = database
    }

    /// Produces the next chunk. Throws why the file cannot be read any more, which cuts the stream off before the chunk is
    /// sent.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        let isEnd = try producer.produce(into: buffer)
        if let failure = database.health.lookIfDue(.now()) { throw failure }
        return isEnd
    }
}
