// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Responses that the server writes to a socket directly, where the library would close the connection without one.
enum FinalResponse {
    /// Returns a complete response, head and body, that ends its connection.
    ///
    /// - Parameters:
    ///   - problem: The problem to report.
    ///   - id: The id of the request, or a new one when the request never became complete.
    static func bytes(_ problem: Problem, _ id: RequestID) -> [UInt8] {
        var writer = JSONWriter()
        problem.write(to: &writer, requestID: id)
        let head =
            "HTTP/1.1 \(problem.status) \(reason(problem.status))\r\nContent-Type: application/problem+json\r\n"
            + problem.headers.map { "\($0.name): \($0.text)\r\n" }.joined() + "Cache-Control: no-store\r\n"
            + OriginPolicy.ruleLines + "X-Request-Id: \(id.text)\r\nConnection: close\r\n"
            + "Content-Length: \(writer.buffer.count)\r\n\r\n"
        return Array(head.utf8) + writer.buffer.array
    }

    /// Returns the reason phrase of a status that such a response can have.
    private static func reason(_ status: Int) -> String {
        switch status {
        case 400: return "Bad Request"
        case 401: return "Unauthorized"
        case 403: return "Forbidden"
        case 408: return "Request Timeout"
        case 413: return "Content Too Large"
        case 414: return "URI Too Long"
        case 431: return "Request Header Fields Too Large"
        case 501: return "Not Implemented"
        case 503: return "Service Unavailable"
        case 505: return "HTTP Version Not Supported"
        case 507: return "Insufficient Storage"
        default: return "Error"
        }
    }
}
