// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// What is told of a write that was answered before it was done.
enum AsyncWriteDocument {
    /// What is kept when it is over.
    enum Fate: Sendable, RememberedFate {
        /// Status and document are those that the write would have answered.
        case done(version: String, status: Int, body: [UInt8]?)
        case failed(problem: [UInt8])

        var byteCount: Int {
            switch self {
            case .done(_, _, let body): return body?.count ?? 0
            case .failed(let problem): return problem.count
            }
        }
    }

    static func text(_ id: String, _ state: AsyncWrites.State) -> OutputBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", text: id)
        switch state {
        case .queued: waiting("queued", &writer)
        case .running: waiting("running", &writer)
        case .cancelled: waiting("cancelled", &writer)
        case .committed(let payload), .failed(let payload):
            switch payload as? Fate {
            case .done(let version, let status, let body): done(version, status, body, &writer)
            case .failed(let problem):
                writer.member("state", text: "failed")
                writer.key("problem")
                writer.raw(problem)
            case nil: waiting("failed", &writer)
            }
        }
        writer.endObject()
        return writer.buffer
    }

    private static func waiting(_ state: String, _ writer: inout JSONWriter) {
        writer.member("state", text: state)
        for name: StaticString in ["version", "status", "body"] { writer.nullMember(name) }
    }

    private static func done(_ version: String, _ status: Int, _ body: [UInt8]?, _ writer: inout JSONWriter) {
        writer.member("state", text: "committed")
        writer.member("version", text: version)
        writer.member("status", int: status)
        writer.key("body")
        if let body { writer.raw(body) } else { writer.null() }
    }
}
