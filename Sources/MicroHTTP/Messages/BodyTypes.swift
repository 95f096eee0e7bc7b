// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The media types that an operation accepts as its body, and how the type of a request is checked against them.
///
/// An operation states its types once, in its `OperationDescription`. The check of requests,
/// `Accept-Patch`, `Accept-Post`, `Accept-Query` and the API description derive from there.
package struct BodyTypes: OptionSet, Sendable, Hashable {
    /// One bit per type, in the order of `BodyType.allCases`.
    package let rawValue: UInt8
    /// Creates the set of the types whose bits are set.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the set of some types.
    package init(_ types: BodyType...) {
        self.init(
            rawValue: BodyType.allCases.enumerated().reduce(0) { $0 | (types.contains($1.element) ? 1 << UInt8($1.offset) : 0) })
    }

    /// JSON, plain or extended: the types of most bodies.
    package static let json = BodyTypes(.json, .ejson)
    /// One object, an array of objects, or one object per line.
    package static let objects = BodyTypes(.json, .ejson, .ndjson)
    /// A merge patch, which may be sent as JSON too.
    package static let mergePatch = BodyTypes(.mergePatch, .json, .ejson)
    /// A change of one object: a merge patch or a JSON Patch.
    package static let objectPatch = BodyTypes(.mergePatch, .jsonPatch, .json, .ejson)
    /// A few settings, of which those that are absent keep their values.
    package static let settings = BodyTypes(.mergePatch, .json)
    /// The value of one property.
    package static let value = BodyTypes(.json, .ejson, .bytes)
    /// A Realm file as it is, or JSON that names one.
    package static let realmFile = BodyTypes(.json, .bytes)
    /// A Realm file as it is.
    package static let file = BodyTypes(.bytes)
    /// Objects to import: the lines of an export, an array, CSV, or tables.
    package static let imports = BodyTypes(.json, .ejson, .ndjson, .csv, .sqlite)

    /// The types of the set, in the order in which header fields list them.
    package var all: [BodyType] {
        BodyType.allCases.enumerated().filter { rawValue & 1 << UInt8($0.offset) != 0 }.map(\.element)
    }

    /// The types as the value of a header field such as `Accept-Patch`.
    package var fieldValue: String { all.map(\.rawValue).joined(separator: ", ") }

    /// Returns the media type of the body of a request.
    ///
    /// - Parameter request: A request at a path whose operation accepts these types.
    /// - Returns: The type; nil when the request has neither a body nor a `Content-Type`, or when
    ///   the operation accepts no body and the request has none.
    /// - Throws: `unsupported_media_type` for a body without a type or of another type, for a body
    ///   where none is accepted, and for text in another character set than UTF-8. The header
    ///   fields of the response list the accepted types.
    package func type(of request: Request) throws(Problem) -> BodyType? {
        guard let text = request[.contentType] else {
            guard request.body.isEmpty else {
                throw unsupported(
                    isEmpty ? "this request takes no body" : "the body has no Content-Type; \(advice(for: nil))", request)
            }
            return nil
        }
        guard !isEmpty else {
            guard request.body.isEmpty else { throw unsupported("this request takes no body", request) }
            return nil
        }
        // Most clients send a type without parameters, in the usual case.
        if let plain = BodyType(rawValue: text), contains(BodyTypes(plain)) { return plain }
        guard let media = MediaType(text), let type = BodyType(rawValue: media.essence), contains(BodyTypes(type)) else {
            let essence = MediaType(text)?.essence
            throw unsupported(
                "the media type of the body, \((essence ?? text).truncated), is not accepted here; \(advice(for: essence))",
                request)
        }
        if type.isText, let charset = media.parameters["charset"], charset.lowercasedASCII != "utf-8" {
            throw unsupported("the only character set of text is UTF-8", request)
        }
        return type
    }

    /// Returns the advice for a client, mainly for curl on a command line.
    ///
    /// - Parameter essence: The type that was sent; nil for none.
    private func advice(for essence: String?) -> String {
        let types = "the types are \(fieldValue)"
        let usual = contains(BodyTypes(.json)) ? BodyType.json : all.first ?? .json
        switch essence {
        case "application/x-www-form-urlencoded":
            return "curl sends it where no other type is given: add -H 'Content-Type: \(usual.rawValue)'; \(types)"
        case "multipart/form-data":
            let file = contains(BodyTypes(.csv)) ? BodyType.csv : usual
            return
                "send the file itself, with curl --data-binary @FILE -H 'Content-Type: \(file.rawValue)' in the place of -F; \(types)"
        case nil: return "add -H 'Content-Type: \(usual.rawValue)'; \(types)"
        case let essence?:
            let hint = BodyTypes.meanings[essence].flatMap { contains(BodyTypes($0)) ? "; did you mean '\($0.rawValue)'?" : nil }
            return types + (hint ?? Suggestion.hint(for: essence, in: all.map(\.rawValue)))
        }
    }

    /// Other names of the accepted types.
    private static let meanings: [ByteText: BodyType] = [
        "text/json": .json, "application/x-json": .json, "text/plain": .json, "application/javascript": .json,
        "application/ndjson": .ndjson, "application/jsonl": .ndjson, "application/x-jsonlines": .ndjson,
        "application/json-lines": .ndjson,
        "application/x-jsonl": .ndjson, "application/json-seq": .ndjson,
        "application/csv": .csv, "text/x-csv": .csv, "application/vnd.ms-excel": .csv, "text/comma-separated-values": .csv,
        "application/json-patch": .jsonPatch, "application/merge-patch": .mergePatch,
    ]

    /// Returns the problem that lists the accepted types in the header field that belongs to the
    /// method: `Accept-Patch`, `Accept-Query` or `Accept-Post`. Other methods have no such field.
    private func unsupported(_ detail: String, _ request: Request) -> Problem {
        let problem = Problem(.unsupportedMediaType, detail)
        switch request.method {
        case .patch: return problem.with(header: HeaderField("Accept-Patch", text: fieldValue))
        case .query: return problem.with(header: HeaderField("Accept-Query", text: fieldValue))
        case .post: return problem.with(header: HeaderField("Accept-Post", text: fieldValue))
        default: return problem
        }
    }
}
