// SPDX-License-Identifier: Apache-2.0

/// A form in which results can be sent.
package enum ResponseFormat: Sendable, Equatable {
    case json
    case ejson(isRelaxed: Bool)
    case ndjson
    case csv
    /// The bytes of one data property.
    case octets

    /// The forms an endpoint has.
    package struct Choice: OptionSet, Sendable {
        package let rawValue: Int
        /// The formats whose bits are set.
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let documents = Choice(rawValue: 1)
        package static let rows = Choice(rawValue: 2)
        package static let octets = Choice(rawValue: 4)
    }

    /// What `format` or `Accept` ask for among what there is; `not_acceptable` when nothing fits.
    package static func negotiate(
        _ request: Request, parameter: String?, among choice: Choice
    ) throws(Problem) -> ResponseFormat {
        if let parameter { return try named(parameter, choice) }
        guard let text = request.headers[.accept], !text.isEmpty, text != "*/*", text != "application/json" else { return .json }
        let accept = AcceptHeader(text)
        let offers = offers(choice).map { offer in (format: offer.format, weight: weight(of: offer, accept)) }
        // The first of equals: JSON stands in front.
        guard let best = offers.max(by: { $0.weight < $1.weight }), best.weight > 0 else {
            throw Problem(.notAcceptable, "none of the media types of this path is acceptable to the client")
        }
        let winner = offers.first { $0.weight == best.weight }?.format ?? best.format
        guard case .ejson = winner else { return winner }
        return .ejson(isRelaxed: accept.best(for: "application/ejson")?.range.parameters["mode"] == "relaxed")
    }

    private struct Offer {
        let format: ResponseFormat
        let essence: String
        /// Only given to those who name it: a browser's `*/*` does not mean raw bytes.
        let mustBeNamed: Bool
    }

    private static func offers(_ choice: Choice) -> [Offer] {
        var offers: [Offer] = []
        if choice.contains(.documents) {
            offers.append(Offer(format: .json, essence: "application/json", mustBeNamed: false))
            offers.append(Offer(format: .ejson(isRelaxed: false), essence: "application/ejson", mustBeNamed: false))
        }
        if choice.contains(.rows) {
            offers.append(Offer(format: .ndjson, essence: "application/x-ndjson", mustBeNamed: false))
            offers.append(Offer(format: .csv, essence: "text/csv", mustBeNamed: false))
        }
        if choice.contains(.octets) {
            offers.append(Offer(format: .octets, essence: "application/octet-stream", mustBeNamed: true))
        }
        return offers
    }

    private static func weight(of offer: Offer, _ accept: AcceptHeader) -> Double {
        offer.mustBeNamed && !accept.names(offer.essence) ? 0 : accept.weight(of: offer.essence)
    }

    private static func named(_ name: String, _ choice: Choice) throws(Problem) -> ResponseFormat {
        let format: ResponseFormat? =
            switch name {
            case "json" where choice.contains(.documents): .json
            case "ejson" where choice.contains(.documents): .ejson(isRelaxed: false)
            case "ndjson" where choice.contains(.rows): .ndjson
            case "csv" where choice.contains(.rows): .csv
            default: nil
            }
        if let format { return format }
        guard !["json", "ejson", "ndjson", "csv"].contains(name) else {
            throw Problem(.notAcceptable, "this path has no format '\(name)'").with("parameter", "format")
        }
        throw .invalidParameter("format", "there is no format '\(name)'")
    }
}
