// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An error response before it is written: the content of an `application/problem+json` document (RFC 9457).
///
/// A problem is thrown anywhere between admission and the end of an endpoint, and becomes a `Response` in one place,
/// `Response.init(_:for:)`. It is a plain value: the functions `with` return changed copies, so that a text can be made in a low
/// layer and completed in a higher one.
package struct Problem: Error, Sendable {
    /// The stable code that client programs may branch on.
    package let code: ProblemCode
    /// The HTTP status of the response: that of the code, unless the situation asks for another one.
    package var status: Int
    /// A sentence for people about this occurrence, which may change between releases. It never
    /// contains paths, keys or values when the status is 500 or above.
    package var detail: String
    /// The members of the document in addition to the fixed ones, such as `parameter` or `limit`, in the order in which they are
    /// written.
    package var extensions: [Extension] = []
    /// Header fields that the response needs because of this problem, such as `Allow` with a 405.
    package var headers: [HeaderField] = []
    /// Whether a part of the request was carried out and stays, as of an import in parts.
    package var isPartial = false
    /// Whether the credential of the request, or its rights at the moment, are the reason, and not the request.
    package var concernsSender = false
    /// The seconds that a client should wait before a retry. They are sent as `Retry-After`, plus at most one random second,
    /// where the status of the code allows that field.
    package var retryAfterSeconds = 1

    /// One member of a problem document in addition to the fixed ones.
    package struct Extension: Sendable {
        /// The name of the member. It is a constant of the program and needs no JSON escape.
        package let name: StaticString
        package let value: Member

        package init(name: StaticString, value: Member) {
            self.name = name
            self.value = value
        }
    }

    /// The value of an extension member of a problem document, in one of the shapes that the documents use.
    package enum Member: Sendable {
        /// A string, which is escaped when it is written.
        case text(String)
        /// A whole number, such as a limit or an offset.
        case integer(Int64)
        /// True or false.
        case bool(Bool)
        /// An array of strings.
        case texts([String])
        /// An array of whole numbers.
        case integers([Int64])
        /// A complete JSON value that was written elsewhere; it is copied into the document without a check.
        case json([UInt8])
    }

    /// Makes a problem with the usual status of its code and no other members.
    ///
    /// - Parameters:
    ///   - code: The kind of error, for programs.
    ///   - detail: The error for people: a clause in lower case without a full stop.
    package init(_ code: ProblemCode, _ detail: String) {
        self.code = code
        self.status = code.status
        self.detail = Problem.bounded(detail, Problem.detailBytes)
    }

    /// Returns a copy of the problem that has one more member.
    ///
    /// - Parameters:
    ///   - name: The name of the member. It has to differ from those that the problem has already.
    package func with(_ name: StaticString, _ value: Member) -> Problem {
        var copy = self
        copy.extensions.append(Extension(name: name, value: value))
        return copy
    }

    /// Returns a copy of the problem that has one more member, whose value is a string.
    package func with(_ name: StaticString, _ text: String) -> Problem {
        with(name, .text(Problem.bounded(text, Problem.textBytes)))
    }

    /// The approximate limit of bytes of a detail; it may name all limits, for example.
    private static let detailBytes = 4096
    /// The approximate limit of bytes of a member that is a string.
    private static let textBytes = 1024

    /// Returns the beginning and the end of a text that is longer than a limit, as it may repeat a name of megabytes that the client sent.
    private static func bounded(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let half = limit / 2
        let (start, end) = (text.utf8.index(text.startIndex, offsetBy: half), text.utf8.index(text.endIndex, offsetBy: -half))
        return text[..<start] + "…" + text[end...]
    }

    /// Returns a copy of the problem whose response carries one more header field.
    package func with(header: HeaderField) -> Problem {
        var copy = self
        copy.headers.append(header)
        return copy
    }
}

extension Problem {
    /// Makes 400 `invalid_parameter` for a parameter whose value is malformed or outside of its range.
    ///
    /// - Parameters:
    ///   - name: The parameter of the URL or member of the body; it becomes the member `parameter`.
    ///   - detail: The error in the value.
    package static func invalidParameter(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidParameter, detail).with("parameter", name)
    }

    /// Makes 400 `invalid_parameter` for a header field that is missing, malformed or repeated.
    ///
    /// - Parameters:
    ///   - name: The name of the field; it becomes the member `header`.
    ///   - detail: The error in it.
    package static func invalidHeader(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidParameter, detail).with("header", name)
    }

    /// Makes 400 `conflicting_parameters` for a parameter that is valid alone and excluded by others of the same request.
    ///
    /// - Parameters:
    ///   - detail: The impossible combination.
    ///   - parameter: The parameter that the client should leave out; it becomes the member
    ///     `parameter`.
    package static func conflict(_ detail: String, parameter: String) -> Problem {
        Problem(.conflictingParameters, detail).with("parameter", parameter)
    }

    /// Makes the problem for a request that libmicrohttpd refuses before the server sees it.
    ///
    /// - Parameter status: The status that the library was about to send; those without a separate code become 400
    ///   `malformed_request`.
    package init(refusedByDaemon status: Int) {
        switch status {
        case 413: self.init(.bodyTooLarge, "the length of the body is beyond all limits")
        case 414: self.init(.uriTooLong, "the request target is too long; send long queries with POST to /query")
        case 431: self.init(.headersTooLarge, "the header section is too large")
        default: self.init(.malformedRequest, "the request is not valid HTTP")
        }
    }

    /// The problem of a request whose credential ended while it waited.
    package static var credentialEnded: Problem {
        Problem(.unauthenticated, "the credential of this request is not valid any more")
            .with(header: HeaderField("WWW-Authenticate", "Bearer realm=\"realm-rest\", error=\"invalid_token\""))
    }

    /// The problem of a request whose sender has got other rights while it waited.
    package static var rightsChanged: Problem {
        var problem = Problem(.forbidden, "the rights of this credential have changed since the request was sent; send it again")
        problem.concernsSender = true
        return problem
    }

    /// Whether the same request may succeed later without a change of what it asks for: the credential, the moment or the server is
    /// the reason. A repetition with the same `Idempotency-Key` is carried out then.
    package var isPassing: Bool {
        switch status {
        case 401, 408, 421, 423, 429, 500...: true
        default: concernsSender || code == .transactionBusy
        }
    }

    /// The problem without anything about data, for a sender with other rights: its code, and how much of the request was carried out.
    package var withoutData: Problem {
        var rest = Problem(code, "a part of the request was carried out before; it is not carried out again")
        rest.status = status
        rest.extensions = extensions.filter { ["committed", "unlinked", "overtaken"].contains($0.name.description) }
        return rest
    }

    /// The 503 for a request that needs a worker while the queue of the pool is full, or while the system can make no thread.
    package static var noWorker: Problem { Problem(.overloaded, "too many requests are waiting for a worker") }

    /// Makes a problem for a limit of the server that a request exceeded.
    ///
    /// - Parameters:
    ///   - code: The code of the exceeded limit, which also decides the status.
    ///   - detail: The exceeded amount.
    ///   - limit: The value of the limit; it becomes the member `limit`.
    package static func overLimit(_ code: ProblemCode, _ detail: String, limit: Int) -> Problem {
        Problem(code, detail).with("limit", .integer(Int64(limit)))
    }
}

extension Problem {
    /// Writes the problem document: the fixed members `type`, `title`, `status`, `code`, `detail`
    /// and `instance`, then the extensions.
    ///
    /// - Parameters:
    ///   - writer: Receives one JSON object.
    ///   - requestID: The id of the request, which becomes `instance` as a URN, so that a client's
    ///     report can be found in the log.
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
    /// The problem as one line for the command line and for logs: code, detail, and those extension
    /// members that are a string or a number.
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
