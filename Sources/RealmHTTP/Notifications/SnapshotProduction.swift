// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Writes the whole state of subscriptions at one version, part by part.
///
/// It holds the version for as long as it takes. `@unchecked Sendable`: only one worker at a time calls `next`.
final class SnapshotProduction: @unchecked Sendable {
    /// Rows of a part on a stream.
    static let rowsOfPart = 1000
    /// Bytes behind which a part on a stream ends, whatever its rows.
    static let bytesOfPart = 1 << 20

    private let version: Version
    private let items: [(sub: ReadSubscription, contents: ObservedContents?)]
    private var index = 0
    private var current: SnapshotWriter?

    init(_ items: [(ReadSubscription, ObservedContents?)], _ version: Version) {
        self.items = items.map { (sub: $0.0, contents: $0.1) }
        self.version = version
    }

    /// The next `snapshot` event; nil when all is written.
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

extension EventText {
    fileprivate static func snapshot(_ snapshot: SnapshotWriter) throws(Problem) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 1024)
        buffer.append("event: snapshot\ndata: " as StaticString)
        var writer = JSONWriter(buffer)
        try snapshot.writePart(to: &writer)
        buffer.append(ChangeSet.lineEnd)
        return buffer
    }
}
