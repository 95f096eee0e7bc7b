// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension Request {
    /// Whether the body was sent with a content coding other than `identity`.
    var isPacked: Bool { headers[.contentEncoding].map { $0 != "identity" } ?? false }

    /// The coding in which the client prefers compressed responses: one that `Accept-Encoding` lists with
    /// a weight above 0. Nil when it accepts none.
    var coding: ContentCoding? { headers[.acceptEncoding].flatMap { ContentCoding.preferred(by: $0) } }
}
