// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One change set of a feed, encoded once for all subscribers.
///
/// It is the difference between two versions. The parts that differ between subscribers, the name of the subscription and its
/// position, are written before the encoded text. A set does not change after it was made, apart from a cache under a lock.
final class ChangeSet: Sendable {
    /// The version before the first change of the set.
    let from: UInt64
    /// The version after the last change of the set.
    let to: UInt64
    /// The JSON after the member `from`, up to the closing brace and the empty line that ends an event.
    let tail: OutputBuffer
    /// The number of rows of the collection after the change set; nil where there are no rows.
    let count: Int?
    /// Whether the observed object or collection was deleted, so that no set follows.
    let isLast: Bool

    /// The end of an event: the end of its line and an empty line.
    static let lineEnd: StaticString = "\n\n"

    /// The beginning of an event as it was written last. Most subscribers of a feed are at the same
    /// position under the same name, so they need the same one.
    private struct Head {
        /// The name of the subscription in the cached beginning.
        let sub: String
        /// The position of the subscriber for which the beginning was written.
        let from: UInt64
        /// Whether the cached beginning has an id.
        let isLastOfVersion: Bool
        /// The cached beginning of the event.
        let text: OutputBuffer
    }

    /// The beginning of the event as it was written last, for the next subscriber at the same position.
    private let head = RankedMutex<Head?>(.leaf, nil)

    /// Makes a change set.
    ///
    /// - Parameters:
    ///   - from: The version before it.
    ///   - to: The version after it.
    ///   - tail: The encoded text.
    ///   - count: The number of rows after it.
    ///   - isLast: Whether no set follows.
    init(from: UInt64, to: UInt64, tail: OutputBuffer, count: Int?, isLast: Bool) {
        self.from = from
        self.to = to
        self.tail = tail
        self.count = count
        self.isLast = isLast
    }

    /// The bytes of the encoded text, which count against the limits of retention and backlog.
    var byteCount: Int { tail.count }

    /// Returns the beginning of an event for one subscriber, up to where the encoded text follows.
    ///
    /// - Parameters:
    ///   - sub: The name of the subscription.
    ///   - position: The position of the subscriber before the set, which becomes `from`.
    ///   - isLastOfVersion: Whether the event gets an id, so that a client may resume after it.
    ///   - token: Turns a version into a version token.
    func eventHead(sub: String, position: UInt64, isLastOfVersion: Bool, _ token: (UInt64) -> String) -> OutputBuffer {
        let known = head.withLock { head -> OutputBuffer? in
            guard let head, head.from == position, head.isLastOfVersion == isLastOfVersion, head.sub == sub else { return nil }
            return head.text
        }
        if let known { return known }
        // Making a token takes its own lock.
        let text = EventText.changesHead(sub: sub, from: token(position), id: isLastOfVersion ? token(to) : nil)
        let new = Head(sub: sub, from: position, isLastOfVersion: isLastOfVersion, text: text)
        let old = head.withLock { head in
            defer { head = new }
            return head
        }
        withExtendedLifetime(old) {}
        return text
    }
}
