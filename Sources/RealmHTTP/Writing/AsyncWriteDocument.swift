// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// The documents of writes that are answered before they are done.
enum AsyncWriteDocument {
    /// What is remembered of a committed write: the members of its document behind the state. Status and body are those that
    /// the write would have been answered with.
    static func committed(version: String, status: Int, body: OutputBuffer?) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 64 + (body?.count ?? 0))
        writer.member("version", text: version)
        writer.member("status", int: status)
        writer.key("body")
        if let body { writer.value { $0.append(body) } } else { writer.null() }
        return writer.bytes
    }

    /// What is remembered of a failed write: the member with its problem document.
    static func failed(_ problem: Problem, requestID: RequestID) -> [UInt8] {
        var writer = JSONWriter()
        writer.key("problem")
        problem.write(to: &writer, requestID: requestID)
        return writer.bytes
    }

    /// The document of the write called `id`.
    static func text(_ id: String, _ state: AsyncWrites.State) -> OutputBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", text: id)
        switch state {
        case .queued: waiting("queued", &writer)
        case .running: waiting("running", &writer)
        case .cancelled: waiting("cancelled", &writer)
        case .committed(let members):
            writer.member("state", text: "committed")
            writer.raw(members)
        case .failed(let members):
            writer.member("state", text: "failed")
            writer.raw(members)
        }
        writer.endObject()
        return writer.buffer
    }

    private static func waiting(_ state: String, _ writer: inout JSONWriter) {
        writer.member("state", text: state)
        for name: StaticString in ["version", "status", "body"] { writer.nullMember(name) }
    }
}
