// SPDX-License-Identifier: Apache-2.0

/// The header fields of requests that mean something to this server.
package enum RequestHeader: Int, CaseIterable, Sendable {
    case host, accept, acceptEncoding, contentType, contentLength, contentEncoding, transferEncoding, expect
    case ifMatch, ifNoneMatch, origin, authorization, prefer, requestID, traceparent, idempotencyKey, lastEventID
    case realmTransaction, realmMinVersion, realmWithoutNotifying
    case accessControlRequestMethod, accessControlRequestHeaders
    case fetchSite, referer

    /// There are fewer fields than bits.
    var bit: UInt32 { 1 << UInt32(rawValue) }

    /// The name in lower case.
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
        case .realmWithoutNotifying: return "realm-without-notifying"
        case .accessControlRequestMethod: return "access-control-request-method"
        case .accessControlRequestHeaders: return "access-control-request-headers"
        case .fetchSite: return "sec-fetch-site"
        case .referer: return "referer"
        }
    }

    /// Fields that are comma lists, so that several lines mean one list.
    package var isList: Bool {
        switch self {
        case .accept, .acceptEncoding, .ifMatch, .ifNoneMatch, .prefer, .realmWithoutNotifying,
            .accessControlRequestHeaders, .transferEncoding, .contentEncoding:
            return true
        default: return false
        }
    }
}
