// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A form in which the result of a read is sent.
package enum ResponseFormat: Sendable, Equatable {
    /// Plain JSON (`application/json`), the default.
    case json
    /// MongoDB's Extended JSON, version 2: canonical, or relaxed.
    case ejson(isRelaxed: Bool)
    /// One JSON object a line (`application/x-ndjson`), without an envelope.
    case ndjson
    /// Comma-separated values (`text/csv`), whose first line has the names of the columns.
    case csv
    /// The raw bytes of one data property (`application/octet-stream`).
    case octets

    /// The forms that an endpoint offers, as a set.
    package struct Choice: OptionSet, Sendable {
        /// One bit for each form, or pair of forms, that is offered.
        package let rawValue: Int
        /// Creates a choice from its bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The endpoint offers documents in JSON and Extended JSON.
        package static let documents = Choice(rawValue: 1)
        /// The endpoint offers rows as NDJSON and CSV.
        package static let rows = Choice(rawValue: 2)
        /// The endpoint offers the raw bytes of a data property, to clients that name their media type.
        package static let octets = Choice(rawValue: 4)
    }

    /// Chooses the form of a response.
    ///
    /// The parameter `format` takes precedence over `Accept`. Among forms that the client accepts equally, JSON comes first.
    ///
    /// - Parameters:
    ///   - request: The request, for its `Accept`.
    ///   - parameter: The value of `format`; nil when it is absent.
    ///   - choice: The forms that the endpoint offers.
    /// - Throws: `not_acceptable` when the endpoint offers no form that the client accepts; `invalid_parameter` for an unknown
    ///   word in `format`.
    package static func negotiate(
        _ request: Request, parameter: String?, among choice: Choice
    ) throws(Problem) -> ResponseFormat {
        if let parameter { return try named(parameter, choice) }
        guard let text = request[.accept], !text.isEmpty, text != "*/*", text != "application/json" else { return .json }
        let accept = AcceptHeader(text)
        let offers = offers(choice).filter { offer in !offer.mustBeNamed || accept.names(offer.essence) }
        guard let winner = accept.preferred(offers.map { ($0.essence, $0.format) }) else {
            // Generated clients list the documented media types. Where success has no body, only problems have one.
            if accept.names("application/problem+json") { return .json }
            let types = ResponseFormat.offers(choice).map(\.essence).joined(separator: ", ")
            throw Problem(.notAcceptable, "none of the media types of this path is acceptable to the client; there are \(types)")
        }
        guard case .ejson = winner else { return winner }
        return .ejson(isRelaxed: accept.best(for: "application/ejson")?.range.parameters["mode"] == "relaxed")
    }

    /// A form that an endpoint offers, with its media type.
    private struct Offer {
        /// The form in which the result is sent if the offer is chosen.
        let format: ResponseFormat
        /// The media type without parameters, for example `text/csv`.
        let essence: String
        /// Whether the form is chosen only when `Accept` names its type. A browser's `*/*` does not mean raw bytes.
        let mustBeNamed: Bool
    }

    /// Returns the offers of a choice, the preferred one first.
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

    /// Returns the form that a value of `format` names.
    ///
    /// - Throws: `not_acceptable` for a form that exists but is not offered here, else
    ///   `invalid_parameter`.
    private static func named(_ name: String, _ choice: Choice) throws(Problem) -> ResponseFormat {
        let format: ResponseFormat? =
            switch name {
            case "json" where choice.contains(.documents): .json
            case "ejson" where choice.contains(.documents): .ejson(isRelaxed: false)
            case "ndjson" where choice.contains(.rows): .ndjson
            case "csv" where choice.contains(.rows): .csv
            case "bytes" where choice.contains(.octets): .octets
            default: nil
            }
        if let format { return format }
        let names = ["json", "ejson", "ndjson", "csv", "bytes"]
        guard !names.contains(name) else {
            throw Problem(.notAcceptable, "this path has no format '\(name)'").with("parameter", "format")
        }
        throw .invalidParameter(
            "format",
            "there is no format '\(name.truncated)'; the formats are \(names.joined(separator: ", "))\(Suggestion.hint(for: name, in: names))"
        )
    }
}
