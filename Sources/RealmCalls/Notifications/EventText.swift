// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes the frames of `text/event-stream`: events, heartbeats and the opening of a stream.
enum EventText {
    /// The beginning of every stream: the time of 2 seconds after which a client reconnects, and a
    /// comment that makes proxies forward the header section.
    static let opening: OutputBuffer = {
        let buffer = OutputBuffer(capacity: 32)
        buffer.append("retry: 2000\n: realm-rest\n\n" as StaticString)
        return buffer
    }()

    /// Returns an event whose data is JSON on one line.
    ///
    /// - Parameters:
    ///   - id: The position that a client keeps for resuming; nil for an event that leaves it
    ///     unchanged.
    ///   - write: Writes the data.
    static func event(_ name: StaticString, id: String? = nil, _ write: (inout JSONWriter) throws -> Void) rethrows
        -> OutputBuffer
    {
        let buffer = OutputBuffer(capacity: 128)
        begin(name, id: id, in: buffer)
        var writer = JSONWriter(buffer)
        try write(&writer)
        buffer.append(ChangeSet.lineEnd)
        return buffer
    }

    /// Appends the lines of an event up to its data.
    private static func begin(_ name: StaticString, id: String?, in buffer: OutputBuffer) {
        buffer.append("event: " as StaticString)
        buffer.append(name)
        if let id {
            buffer.append("\nid: " as StaticString)
            buffer.append(id)
        }
        buffer.append("\ndata: " as StaticString)
    }

    /// Returns an event whose data is a version only: `ready` or `heartbeat`.
    ///
    /// - Parameters:
    ///   - token: The version token, which is also the id.
    static func position(_ name: StaticString, _ token: String) -> OutputBuffer {
        event(name, id: token) { writer in
            writer.beginObject()
            writer.member("version", text: token)
            writer.endObject()
        }
    }

    /// Returns a comment that shows that the connection is alive.
    ///
    /// - Parameter token: The position when it has moved since the last id, which the client then
    ///   keeps; otherwise nil.
    static func heartbeat(_ token: String?) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 48)
        buffer.append(": hb\n" as StaticString)
        if let token {
            buffer.append("id: " as StaticString)
            buffer.append(token)
            buffer.append(UInt8(ascii: "\n"))
        }
        buffer.append(UInt8(ascii: "\n"))
        return buffer
    }

    /// Returns the event `end`, after which the server closes the stream as planned.
    ///
    /// - Parameter reason: `age`, `shutdown`, `deleted` or `unauthenticated`.
    static func end(_ reason: StaticString) -> OutputBuffer {
        event("end") { writer in
            writer.beginObject()
            writer.member("reason", text: reason.description)
            writer.endObject()
        }
    }

    /// Returns the event `error`, after which the server closes the stream.
    ///
    /// - Parameters:
    ///   - problem: The problem. Problems with a status from 500 on are marked as retryable.
    ///   - id: The id of the request that opened the stream.
    static func error(_ problem: Problem, _ id: RequestID) -> OutputBuffer {
        event("error") { writer in problem.with("retryable", .bool(problem.status >= 500)).write(to: &writer, requestID: id) }
    }

    /// Returns the event `reset`: the client discards the contents of the named subscriptions.
    static func reset(_ reset: ResetNotice) -> OutputBuffer { event("reset") { writer in reset.write(to: &writer) } }

    /// Returns the event `schema`: the schema of the realm has changed.
    static func schema(_ change: SchemaNotice) -> OutputBuffer { event("schema") { writer in change.write(to: &writer) } }

    /// Returns the beginning of a `changes` event, up to where the encoded change set follows.
    ///
    /// - Parameters:
    ///   - sub: The name of the subscription.
    ///   - from: The version token of the position before the set.
    ///   - id: The version token after the set, for the last event of a version; otherwise nil.
    static func changesHead(sub: String, from: String, id: String?) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 128)
        begin("changes", id: id, in: buffer)
        setHead(sub: sub, from: from, in: buffer)
        return buffer
    }

    /// Appends the beginning of a change set in JSON, such as `{"sub":"dogs","from":"k3f9q2.1841"`.
    static func setHead(sub: String, from: String, in buffer: OutputBuffer) {
        buffer.append("{\"sub\":" as StaticString)
        buffer.append(jsonString: sub)
        buffer.append(",\"from\":" as StaticString)
        buffer.append(jsonString: from)
    }
}
