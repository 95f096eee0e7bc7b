// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The request methods that this server knows. The raw value is the method as it is sent; every
/// other method is answered with 501.
package enum HTTPMethod: String, Sendable, CaseIterable {
    /// Reads the resource of the path.
    case get = "GET"
    /// Like `GET`, but the response has no body.
    case head = "HEAD"
    /// Reads with the parameters in a body (RFC 10008).
    case query = "QUERY"
    /// Creates an object or a lease, or runs an operation.
    case post = "POST"
    /// Creates or replaces the resource of the path.
    case put = "PUT"
    /// Changes a part of the resource of the path.
    case patch = "PATCH"
    /// Deletes the resource of the path, or ends a lease.
    case delete = "DELETE"
    /// Asks which methods a path offers.
    case options = "OPTIONS"
    /// Known, but offered by no path: 405.
    case trace = "TRACE"
    /// Known, but offered by no path: 405.
    case connect = "CONNECT"
}
