// SPDX-License-Identifier: Apache-2.0

/// An answer that is an error: what becomes an `application/problem+json` document (RFC 9457).
package struct Problem: Error, Sendable {
    /// The stable code, which programs may decide by.
    package let code: ProblemCode
    /// The status of the answer: that of the code, unless the situation asks for another.
    package var status: Int
    /// For people; may change. Never contains paths, keys or values when the status is 5xx.
    package var detail: String
    /// Members beside the fixed ones, in the order they are written.
    package var extensions: [Extension] = []
    /// Header fields that belong to the answer, such as `Allow`.
    package var headers: [HeaderField] = []
    /// Seconds for `Retry-After`, where the code has one.
    package var retryAfterSeconds = 1

    /// A member of the document beside the fixed ones.
    package struct Extension: Sendable {
        package let name: StaticString
        package let value: Member
    }

    /// The value of an extension member.
    package enum Member: Sendable {
        case text(String)
        case integer(Int64)
        case bool(Bool)
        case texts([String])
        case integers([Int64])
        /// JSON made elsewhere.
        case json([UInt8])
    }

    /// A problem with the status of its code.
    package init(_ code: ProblemCode, _ detail: String) {
        self.code = code
        self.status = code.status
        self.detail = detail
    }

    /// The same problem with one more member.
    package func with(_ name: StaticString, _ value: Member) -> Problem {
        var copy = self
        copy.extensions.append(Extension(name: name, value: value))
        return copy
    }

    /// The same problem with one more member, a text.
    package func with(_ name: StaticString, _ text: String) -> Problem { with(name, .text(text)) }

    /// The same problem with one more header field in its answer.
    package func with(header: HeaderField) -> Problem {
        var copy = self
        copy.headers.append(header)
        return copy
    }
}

extension Problem {
    /// A value that a parameter cannot have.
    package static func invalidParameter(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidParameter, detail).with("parameter", name)
    }

    /// A malformed header field.
    package static func invalidHeader(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidParameter, detail).with("header", name)
    }

    /// A parameter that makes no sense beside others, which are fine by themselves.
    package static func conflict(_ detail: String, parameter: String) -> Problem {
        Problem(.conflictingParameters, detail).with("parameter", parameter)
    }

    /// A request that the HTTP library refuses with `status` before the server sees it.
    init(refusedByDaemon status: Int) {
        switch status {
        case 413: self.init(.bodyTooLarge, "the length of the body is beyond all limits")
        case 414: self.init(.uriTooLong, "the request target is too long; send long queries with POST to /query")
        case 431: self.init(.headersTooLarge, "the header section is too large")
        default: self.init(.malformedRequest, "the request is not as HTTP wants it")
        }
    }

    /// Too much waits for the threads that do longer work, or none can be made.
    static var noWorker: Problem { Problem(.overloaded, "too many requests are waiting for a worker") }

    /// A limit of the server that was exceeded.
    package static func overLimit(_ code: ProblemCode, _ detail: String, limit: Int) -> Problem {
        Problem(code, detail).with("limit", .integer(Int64(limit)))
    }
}

extension Problem {
    /// The document. `requestID` becomes `instance`.
    package func write(to writer: inout JSONWriter, requestID: RequestID) {
        writer.beginObject()
        writer.member("type", text: "urn:realm-rest:problem:" + code.rawValue)
        writer.member("title", text: code.title)
        writer.member("status", int: status)
        writer.member("code", text: code.rawValue)
        writer.member("detail", text: detail)
        writer.member("instance", text: requestID.urn)
        for member in extensions {
            writer.key(member.name)
            member.value.write(to: &writer)
        }
        writer.endObject()
    }
}

extension Problem.Member {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .text(let text): writer.string(text)
        case .integer(let number): writer.int(number)
        case .bool(let flag): writer.bool(flag)
        case .texts(let texts):
            writer.beginArray()
            for text in texts { writer.string(text) }
            writer.endArray()
        case .integers(let numbers):
            writer.beginArray()
            for number in numbers { writer.int(number) }
            writer.endArray()
        case .json(let bytes): writer.raw(bytes)
        }
    }
}

extension Problem: CustomStringConvertible {
    /// One line for the command line.
    package var description: String {
        var text = "\(code.rawValue): \(detail)"
        for member in extensions {
            switch member.value {
            case .text(let value): text += " (\(member.name) \(value))"
            case .integer(let value): text += " (\(member.name) \(value))"
            case .bool, .texts, .integers, .json: break
            }
        }
        return text
    }
}
