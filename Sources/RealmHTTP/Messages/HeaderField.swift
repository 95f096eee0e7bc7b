// SPDX-License-Identifier: Apache-2.0

/// A header field of an answer.
package struct HeaderField: Sendable {
    package let name: StaticString
    package let value: Value

    package enum Value: Sendable {
        case constant(StaticString)
        case text(String)
    }

    package init(_ name: StaticString, _ value: StaticString) {
        self.name = name
        self.value = .constant(value)
    }

    package init(_ name: StaticString, text: String) {
        self.name = name
        self.value = .text(text)
    }

    package var text: String {
        switch value {
        case .constant(let constant): return constant.description
        case .text(let text): return text
        }
    }
}

/// The header fields of requests that mean something to this server.
package enum RequestHeader: Int, CaseIterable, Sendable {
    case host, accept, acceptEncoding, contentType, contentLength, contentEncoding, transferEncoding, expect
    case ifMatch, ifNoneMatch, origin, authorization, prefer, requestID, traceparent, idempotencyKey, lastEventID
    case realmTransaction, realmMinVersion, realmWithoutNotifying
    case accessControlRequestMethod, accessControlRequestHeaders
    case fetchSite, referer

    /// There are fewer fields than bits.
    fileprivate var bit: UInt32 { 1 << UInt32(rawValue) }

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

/// The known header fields of one request.
package struct RequestHeaders: Sendable {
    private var fields: [(header: RequestHeader, value: String)] = []
    /// A bit for each field that is there: most that are asked for are not.
    private var present: UInt32 = 0
    /// Names and values with separators, as far as they were counted.
    package private(set) var byteCount = 0
    package private(set) var fieldCount = 0
    /// A field that may stand once was given several times with different values, or the host several times at all.
    package private(set) var repeated: RequestHeader?
    /// The name of the first field by which a proxy tells that it passed the request on.
    package var forwardedBy: String?
    /// Whether the client calls itself a browser.
    package var isFromBrowser = false

    package init() {}

    package subscript(_ header: RequestHeader) -> String? {
        guard has(header) else { return nil }
        for field in fields where field.header == header { return field.value }
        return nil
    }

    package func has(_ header: RequestHeader) -> Bool { present & header.bit != 0 }

    /// Whether a body may come; without these there is none.
    var announcesBody: Bool { has(.contentLength) || has(.transferEncoding) }

    /// Counts a field of any name.
    package mutating func count(bytes: Int) {
        byteCount += bytes
        fieldCount += 1
    }

    package mutating func add(_ header: RequestHeader, _ value: String) {
        guard has(header), let index = fields.firstIndex(where: { $0.header == header }) else {
            present |= header.bit
            fields.append((header, value))
            return
        }
        if header.isList {
            fields[index].value += ", " + value
        } else if fields[index].value != value || header == .host {
            repeated = repeated ?? header
        }
    }
}

/// Fields that proxies add. A client can send them too, and only loses by it.
package enum ForwardingHeader {
    /// Names in lower case; those that begin with `x-forwarded` belong to them.
    package static let names: [StaticString] = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-forwarded-for",
        "x-envoy-external-address", "true-client-ip", "cf-connecting-ip", "fastly-client-ip", "fly-client-ip", "cdn-loop",
    ]
    package static let prefix: StaticString = "x-forwarded"
}
