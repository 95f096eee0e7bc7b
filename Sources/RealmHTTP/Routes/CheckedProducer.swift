// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A stream that is cut off when another program has changed the file that it is read from, or when what its sender may see has
/// changed.
///
/// The `ResponseFinisher` puts it around each streamed response that reads a realm.
final class CheckedProducer: ChunkProducer {
    /// The stream that makes the chunks.
    private let producer: any ChunkProducer
    /// The realm that the stream reads, with the state of its file; nil for one that reads a copy.
    private let database: Database?
    private let standing: Standing

    /// Wraps a stream.
    ///
    /// - Parameters:
    ///   - producer: The stream, which is called for each chunk.
    ///   - database: The realm that it reads; nil for one that reads a copy.
    init(_ producer: any ChunkProducer, _ database: Database?, _ standing: Standing) {
        self.standing = standing
        self.producer = producer
        self.database = database
    }

    var completeByteCount: Int? { producer.completeByteCount }

    /// Produces the next chunk, then examines the file, at most every 20 milliseconds per realm.
    ///
    /// - Parameter buffer: The buffer that the chunk is appended to.
    /// - Returns: Whether this was the end.
    /// - Throws: The error of the stream, or the reason why the file cannot be read any more. In
    ///   both cases the chunk is not sent and the client sees a stream that is cut off.
    func produce(into buffer: OutputBuffer) throws -> Bool {
        let isEnd = try producer.produce(into: buffer)
        if let problem = standing.problemOfReading { throw problem }
        if let failure = database?.health.lookIfDue(.now()) { throw failure }
        return isEnd
    }
}
