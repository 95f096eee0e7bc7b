// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change set of a feed, encoded once for all who receive it.
///
/// What differs from reader to reader, the name of the subscription and the position it was at, is written before it.
final class ChangeSet: Sendable {
    /// The range of commits that it tells of: from the version before to the version after.
    let from: UInt64
    let to: UInt64
    /// The JSON behind `from`, with the brace that closes it and the empty line that ends an event.
    let tail: OutputBuffer
    /// The size of the collection after it; nil where there is none.
    let count: Int?
    /// What was observed is gone, and nothing will follow.
    let isLast: Bool

    static let lineEnd: StaticString = "\n\n"

    /// The head that was asked for last: most readers of a feed need the same one.
    private struct Head {
        let sub: String
        let from: UInt64
        let isLastOfVersion: Bool
        let text: OutputBuffer
    }

    private let head = RankedMutex<Head?>(.leaf, nil)

    init(from: UInt64, to: UInt64, tail: OutputBuffer, count: Int?, isLast: Bool) {
        self.from = from
        self.to = to
        self.tail = tail
        self.count = count
        self.isLast = isLast
    }

    var byteCount: Int { tail.count }

    /// What an event begins with for a reader that was at `position`; `token` turns versions into text.
    func eventHead(sub: String, position: UInt64, isLastOfVersion: Bool, _ token: (UInt64) -> String) -> OutputBuffer {
        head.withLock { head in
            if let head, head.from == position, head.isLastOfVersion == isLastOfVersion, head.sub == sub { return head.text }
            let text = EventText.changesHead(sub: sub, from: token(position), id: isLastOfVersion ? token(to) : nil)
            head = Head(sub: sub, from: position, isLastOfVersion: isLastOfVersion, text: text)
            return text
        }
    }
}
