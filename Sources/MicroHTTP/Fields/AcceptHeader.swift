// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parsed value of an `Accept` header field: the media types that a client takes, with the weight that it gives to each.
///
/// Source: RFC 9110, section 12.5.1.
package struct AcceptHeader: Sendable {
    /// One media range with its weight.
    package struct Entry: Sendable {
        /// The range, such as `application/json`, `text/*` or `*/*`, with its parameters.
        package let range: MediaType
        /// The weight from 0 (not acceptable) to 1 (preferred).
        package let weight: Double
    }

    /// The ranges in the order in which the client wrote them.
    package let entries: [Entry]

    /// Parses the value of the field.
    ///
    /// Members that are not media ranges are left out, as if they named something that this server
    /// does not have. A weight that is no number counts as 0.
    ///
    /// - Parameter text: The value, with several lines joined by commas.
    package init(_ text: String) {
        entries = text.split(separator: ",").compactMap { part in
            guard let range = MediaType(part) else { return nil }
            let weight = range.parameters["q"].map { Double($0) ?? 0 } ?? 1
            return Entry(range: range, weight: min(max(weight, 0), 1))
        }
    }

    /// Returns the weight that the client gives to a media type: that of the most specific range that covers it.
    ///
    /// - Parameter essence: A media type in lower case without parameters, such as
    ///   `application/json`.
    /// - Returns: A number from 0 to 1; 0 when no range covers the type.
    package func weight(of essence: String) -> Double { best(for: essence)?.weight ?? 0 }

    /// Returns the offer whose media type has the greatest weight, the first one of several.
    ///
    /// - Parameter offers: Media types in lower case without parameters, each with the value that it represents.
    /// - Returns: The value of the preferred media type; nil when no offer is acceptable.
    package func preferred<Offer>(_ offers: [(String, Offer)]) -> Offer? {
        var best: (offer: Offer, weight: Double)?
        for (essence, offer) in offers {
            let weight = weight(of: essence)
            if weight > best?.weight ?? 0 { best = (offer, weight) }
        }
        return best?.offer
    }

    /// Returns the most specific range that covers a media type, so that its parameters can be read.
    ///
    /// - Parameter essence: A media type in lower case without parameters.
    /// - Returns: The entry of the type itself, else that of `type/*`, else that of `*/*`; nil when
    ///   there is none.
    package func best(for essence: String) -> Entry? {
        let type = essence.prefix { $0 != "/" }
        return entries.first { $0.range.essence == essence }
            ?? entries.first { $0.range.type == type && $0.range.subtype == "*" }
            ?? entries.first { $0.range.essence == "*/*" }
    }

    /// Returns whether a media type is listed explicitly, and not only covered by a wildcard, with a weight above 0.
    ///
    /// - Parameter essence: A media type in lower case without parameters.
    package func names(_ essence: String) -> Bool { entries.contains { $0.range.essence == essence && $0.weight > 0 } }
}
