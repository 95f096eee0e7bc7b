// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parameters in the query part of a URL, percent-decoded and in the order in which they were sent.
///
/// Decoding is strict, and no name may occur twice: a parameter that is misread or ignored would silently change the response.
package struct QueryParameters: Sendable {
    /// The parameters in their order. The names differ from each other.
    package private(set) var items: [(name: String, value: String)] = []

    /// Makes the parameters of a URL without a query.
    package init() {}

    /// Decodes the query of a request target. `+` means a space, and empty parts between two `&` are skipped.
    ///
    /// - Parameter target: The target as it was sent.
    /// - Throws: `invalid_parameter` when a name or value is not percent-encoded UTF-8, or when a
    ///   name is repeated.
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
            // It concerns every JSON answer, so endpoints need not know it.
            if name != RequestTarget.prettyParameter { items.append((name, value)) }
        }
    }

    /// The decoded value of a parameter; nil when the URL does not have it. The search is linear in the number of parameters.
    package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// Whether the URL has no parameters.
    package var isEmpty: Bool { items.isEmpty }

    /// Checks that the URL has no parameters other than the known ones.
    ///
    /// - Parameter known: The names that the endpoint understands.
    /// - Throws: `unknown_parameter` for the first other name.
    package func requireKnown(_ known: [String]) throws(Problem) {
        for item in items where !known.contains(item.name) {
            throw QueryParameters.unknown(item.name, known)
        }
    }

    /// Makes 400 `unknown_parameter`, with the known names in its member `known`, and a suggestion
    /// when one of them is spelled similarly.
    ///
    /// - Parameters:
    ///   - name: The name that was sent.
    ///   - known: The names that the endpoint understands.
    package static func unknown(_ name: String, _ known: [String]) -> Problem {
        let hint = ParameterMeaning.hint(for: name, in: known)
        return Problem(.unknownParameter, "there is no parameter '\(name.truncated)' here\(hint)").with("parameter", name)
            .with("known", .texts(known.sorted()))
    }
}
