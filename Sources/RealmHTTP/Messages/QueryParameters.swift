// SPDX-License-Identifier: Apache-2.0

/// The parameters of a URL: decoded strictly, in order, each at most once.
package struct QueryParameters: Sendable {
    package private(set) var items: [(name: String, value: String)] = []

    /// No parameters at all.
    package init() {}

    /// Decodes the raw query of `target`. Repeated names and malformed escapes are `invalid_parameter`.
    package init(_ target: RequestTarget) throws(Problem) {
        guard let query = target.query, !query.isEmpty else { return }
        for part in target.bytes[query].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let shown = String(decoding: part[..<equals], as: UTF8.self)
            guard let name = PercentDecoding.decode(part[..<equals], plusIsSpace: true) else {
                throw .invalidParameter(shown, "the name is not percent-encoded UTF-8")
            }
            guard let value = PercentDecoding.decode(part[equals...].dropFirst(), plusIsSpace: true) else {
                throw .invalidParameter(name, "the value is not percent-encoded UTF-8")
            }
            guard !items.contains(where: { $0.name == name }) else {
                throw .invalidParameter(name, "the parameter is given more than once")
            }
            items.append((name, value))
        }
    }

    /// The decoded value of a parameter; nil when the URL does not have it.
    package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// Whether the URL has no parameters.
    package var isEmpty: Bool { items.isEmpty }

    /// Refuses names outside `known`.
    package func requireKnown(_ known: [String]) throws(Problem) {
        for item in items where !known.contains(item.name) {
            throw QueryParameters.unknown(item.name, known)
        }
    }

    /// `unknown_parameter`, with the nearest known name when there is one.
    package static func unknown(_ name: String, _ known: [String]) -> Problem {
        let hint = Spelling.nearest(to: name, in: known).map { "; did you mean '\($0)'?" } ?? ""
        return Problem(.unknownParameter, "there is no parameter '\(name)' here\(hint)").with("parameter", name)
    }
}
