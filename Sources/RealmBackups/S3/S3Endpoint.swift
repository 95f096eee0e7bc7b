// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The server of an S3 store, and the place of the bucket in its requests.
package struct S3Endpoint: Sendable, Equatable {
    /// The scheme with `://`.
    private let scheme: String
    /// The host, with the port if one is given.
    private let host: String
    /// Whether the bucket is the first part of the path, and not the first label of the host.
    private let isPathStyle: Bool

    /// The rule for the text, for messages.
    package static let rule = "an address such as https://s3.example.com or http://127.0.0.1:9000, without a path"

    /// Reads the address of a server whose requests have the bucket in the path; nil for other texts.
    package init?(_ text: String) {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return nil }
        var host = text.dropFirst(scheme.count)
        if host.hasSuffix("/") { host = host.dropLast() }
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]_".utf8)
        guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy(allowed.contains) else { return nil }
        self.scheme = scheme
        self.host = String(host)
        isPathStyle = true
    }

    /// Makes the address of Amazon's store in a region.
    ///
    /// - Parameters:
    ///   - bucket: The bucket. One with dots is in the path, because no certificate has such a host.
    package init(region: String, bucket: String) {
        scheme = "https://"
        isPathStyle = bucket.contains(".")
        host = (isPathStyle ? "" : bucket + ".") + "s3.\(region).amazonaws.com"
    }

    /// Returns whether a text is the name of a region: 1 to 63 letters, digits and hyphens.
    package static func isRegion(_ text: String) -> Bool {
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        return (1...63).contains(text.utf8.count) && text.utf8.allSatisfy(allowed.contains)
    }

    /// The value of the header field `Host`, which is signed.
    package var hostField: String { host }

    /// The address without a path, for messages.
    package var text: String { scheme + host }

    /// Returns the URL of a key.
    ///
    /// - Parameters:
    ///   - key: The key; empty for the bucket itself.
    ///   - query: The parameters, in the order of their names.
    package func url(_ key: String, in bucket: String, query: [(String, String)]) -> String {
        let slash = UInt8(ascii: "/")
        var url = scheme + host + "/"
        if isPathStyle { url += key.isEmpty ? bucket : bucket + "/" }
        url += PercentDecoding.encode(key, keeping: slash)
        // The signature covers the query as it is sent, and the server expects `name=` for an empty value.
        let parameters = query.map { PercentDecoding.encode($0.0) + "=" + PercentDecoding.encode($0.1) }
        return parameters.isEmpty ? url : url + "?" + parameters.joined(separator: "&")
    }
}
