// SPDX-License-Identifier: Apache-2.0

/// The methods this server knows; all others answer 501.
package enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case query = "QUERY"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    /// Known, and available nowhere: 405.
    case trace = "TRACE"
    case connect = "CONNECT"

    /// Methods that promise to change nothing.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .query, .options, .trace: return true
        case .post, .put, .patch, .delete, .connect: return false
        }
    }
}
