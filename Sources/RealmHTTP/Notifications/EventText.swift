// SPDX-License-Identifier: Apache-2.0

/// The frames of `text/event-stream`.
enum EventText {
    /// What a stream begins with: when to come back, and bytes that make proxies forward the head.
    static let opening: OutputBuffer = {
        let buffer = OutputBuffer(capacity: 32)
        buffer.append("retry: 2000\n: realm-rest\n\n" as StaticString)
        return buffer
    }()

    /// An event whose data is JSON on one line.
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

    private static func begin(_ name: StaticString, id: String?, in buffer: OutputBuffer) {
        buffer.append("event: " as StaticString)
        buffer.append(name)
        if let id {
            buffer.append("\nid: " as StaticString)
            buffer.append(id)
        }
        buffer.append("\ndata: " as StaticString)
    }

    /// `ready` and `heartbeat`: a version and nothing else.
    static func position(_ name: StaticString, _ token: String) -> OutputBuffer {
        event(name, id: token) { writer in
            writer.beginObject()
            writer.member("version", text: token)
            writer.endObject()
        }
    }

    /// A sign of life; with the position when it has moved since it was last told.
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

    static func end(_ reason: StaticString) -> OutputBuffer {
        event("end") { writer in
            writer.beginObject()
            writer.member("reason", text: reason.description)
            writer.endObject()
        }
    }

    static func error(_ problem: Problem, _ id: RequestID) -> OutputBuffer {
        event("error") { writer in problem.with("retryable", .bool(problem.status >= 500)).write(to: &writer, requestID: id) }
    }

    static func reset(_ reset: ResetNotice) -> OutputBuffer { event("reset") { writer in reset.write(to: &writer) } }

    static func schema(_ change: SchemaNotice) -> OutputBuffer { event("schema") { writer in change.write(to: &writer) } }

    /// The beginning of a change set's event, up to where its tail begins.
    static func changesHead(sub: String, from: String, id: String?) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: 128)
        begin("changes", id: id, in: buffer)
        setHead(sub: sub, from: from, in: buffer)
        return buffer
    }

    /// `{"sub":"dogs","from":"k3f9q2.1841"`
    static func setHead(sub: String, from: String, in buffer: OutputBuffer) {
        buffer.append("{\"sub\":" as StaticString)
        buffer.append(jsonString: sub)
        buffer.append(",\"from\":" as StaticString)
        buffer.append(jsonString: from)
    }
}
