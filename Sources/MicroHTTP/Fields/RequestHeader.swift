// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The header fields of requests that have a meaning to this server. All others are measured and otherwise ignored.
package enum RequestHeader: Int, CaseIterable, Sendable {
    /// Fields of HTTP itself: the host, the forms that the client accepts, and the framing and coding of the body.
    case host, accept, acceptEncoding, contentType, contentLength, contentEncoding, transferEncoding, expect
    /// Conditions, the origin of a page, credentials, preferences, and ids of requests, traces and events.
    case ifMatch, ifNoneMatch, origin, authorization, prefer, requestID, traceparent, idempotencyKey, lastEventID
    /// Fields of this interface: the transaction that a request joins, the version that it has to
    /// see at least, whether it has to see all that was acknowledged, and the subscriptions that a write does not notify.
    case realmTransaction, realmMinVersion, realmRead, realmWithoutNotifying
    /// The encryption key of a file that is the body of a request.
    case realmEncryptionKey
    /// The questions of a browser in a CORS preflight request.
    case accessControlRequestMethod, accessControlRequestHeaders
    /// The statements of browsers about the page that caused a request.
    case fetchSite, referer
    /// The session of a browser, and the token that shows that a page of this server made the request.
    case cookie, csrfToken
    /// The part of a representation that is wanted, and the representation that it has to be a part of.
    case range, ifRange

    /// The bit of this field in a set of fields; there are fewer than 32 of them.
    package var bit: UInt32 { 1 << UInt32(rawValue) }

    /// The name of the field in lower case. Names are compared without regard to case.
    package var name: StaticString {
        switch self {
        case .host: return "host"
        case .accept: return "accept"
        case .acceptEncoding: return "accept-encoding"
        case .contentType: return "content-type"
        case .contentLength: return "content-length"
        case .contentEncoding: return "content-encoding"
        case .transferEncoding: return "transfer-encoding"
        case .expect: return "expect"
        case .ifMatch: return "if-match"
        case .ifNoneMatch: return "if-none-match"
        case .origin: return "origin"
        case .authorization: return "authorization"
        case .prefer: return "prefer"
        case .requestID: return "x-request-id"
        case .traceparent: return "traceparent"
        case .idempotencyKey: return "idempotency-key"
        case .lastEventID: return "last-event-id"
        case .realmTransaction: return "realm-transaction"
        case .realmMinVersion: return "realm-min-version"
        case .realmRead: return "realm-read"
        case .realmWithoutNotifying: return "realm-without-notifying"
        case .realmEncryptionKey: return "realm-encryption-key"
        case .accessControlRequestMethod: return "access-control-request-method"
        case .accessControlRequestHeaders: return "access-control-request-headers"
        case .fetchSite: return "sec-fetch-site"
        case .referer: return "referer"
        case .cookie: return "cookie"
        case .csrfToken: return "x-csrf-token"
        case .range: return "range"
        case .ifRange: return "if-range"
        }
    }

    /// Whether the value is a list separated by commas, so that several lines of the field mean one longer list.
    package var isList: Bool {
        switch self {
        case .accept, .acceptEncoding, .ifMatch, .ifNoneMatch, .prefer, .realmWithoutNotifying,
            .accessControlRequestHeaders, .transferEncoding, .contentEncoding:
            return true
        default: return false
        }
    }
}
