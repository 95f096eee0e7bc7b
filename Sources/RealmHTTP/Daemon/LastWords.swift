// SPDX-License-Identifier: Apache-2.0

/// Answers that the server writes by itself, where the daemon would close a connection without a word.
enum LastWords {
    /// A whole answer that ends its connection.
    static func bytes(_ problem: Problem, _ id: RequestID) -> [UInt8] {
        var writer = JSONWriter()
        problem.write(to: &writer, requestID: id)
        let head =
            "HTTP/1.1 \(problem.status) \(reason(problem.status))\r\nContent-Type: application/problem+json\r\n"
            + "Cache-Control: no-store\r\n" + OriginPolicy.ruleLines + "X-Request-Id: \(id.text)\r\nConnection: close\r\n"
            + "Content-Length: \(writer.buffer.count)\r\n\r\n"
        return Array(head.utf8) + writer.buffer.array
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 400: return "Bad Request"
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
