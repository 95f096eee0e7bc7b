// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes the snapshots of several subscriptions at one version for a stream, part by part.
///
/// It holds the version until it is released, so a client that reads slowly keeps the version in
/// the file. `@unchecked Sendable`: only one worker at a time calls `next`.
final class SnapshotProduction: @unchecked Sendable {
    /// The maximum number of rows of one `snapshot` event.
    static let rowsOfPart = 1000
    /// The number of bytes after which a `snapshot` event ends, with any number of rows.
    static let bytesOfPart = 1 << 20

    /// The version whose contents the snapshots show, held until they are written.
    private let version: Version
    /// The subscriptions, each with its rows at the version; nil for one that has no snapshot.
    private let items: [(sub: ReadSubscription, contents: ObservedContents?)]
    /// The index of the subscription whose snapshot is being written.
    private var index = 0
    /// The writer of that subscription; nil before its first part and after its last one.
    private var current: SnapshotWriter?

    /// Makes a production, which has written nothing yet.
    ///
    /// - Parameters:
    ///   - items: The subscriptions, each with its rows at the version.
    ///   - version: The version, which is held until the object is released.
    init(_ items: [(ReadSubscription, ObservedContents?)], _ version: Version) {
        self.items = items.map { (sub: $0.0, contents: $0.1) }
        self.version = version
    }

    /// Writes the next part.
    ///
    /// - Returns: A `snapshot` event; nil when everything is written.
    /// - Throws: The problem when the file is damaged, or when the part costs more than the limits
    ///   allow.
    func next() throws(Problem) -> OutputBuffer? {
        while index < items.count {
            let item = items[index]
            if current == nil {
                current = try item.contents.flatMap { contents throws(Problem) in
                    try SnapshotWriter(
                        item.sub, contents, version, rowsOfPart: SnapshotProduction.rowsOfPart,
                        bytesOfPart: SnapshotProduction.bytesOfPart)
                }
            }
            guard let writer = current, !writer.isFinished else {
                current = nil
                index += 1
                continue
            }
            return try EventText.snapshot(writer)
        }
        return nil
    }
}

/// The event that carries one part of a snapshot.
extension EventText {
    /// Returns the event `snapshot` with the next part. It has no id, because a client cannot resume within snapshots.
    fileprivate static func snapshot(_ snapshot: SnapshotWriter) throws(Problem) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 1024)
        buffer.append("event: snapshot\ndata: " as StaticString)
        var writer = JSONWriter(buffer)
        try snapshot.writePart(to: &writer)
        buffer.append(ChangeSet.lineEnd)
        return buffer
    }
}
