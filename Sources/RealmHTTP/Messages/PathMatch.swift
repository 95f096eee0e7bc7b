// SPDX-License-Identifier: Apache-2.0

/// A path that matched a pattern, with its variable segments still encoded.
package struct PathMatch: Sendable {
    /// The pattern that the path has.
    package let pattern: PathPattern
    /// The number of the route in the table that it was looked up in.
    package let index: Int
    private let target: RequestTarget

    /// The match of a target with the pattern of the route of number `index`.
    package init(_ pattern: PathPattern, index: Int, _ target: RequestTarget) {
        self.pattern = pattern
        self.index = index
        self.target = target
    }

    /// The decoded text of a segment; nil when the path has none of that name, or when it is malformed.
    package func decoded(_ variable: PathVariable) -> String? {
        guard let position = pattern.position(of: variable), position < target.segments.count else { return nil }
        return PercentDecoding.decode(target.segment(position))
    }

    /// The decoded text of a segment; a malformed one is `invalid_parameter`.
    package subscript(variable: PathVariable) -> String {
        get throws(Problem) {
            guard let text = decoded(variable) else {
                throw .invalidParameter(variable.label, "the path holds text that is not percent-encoded UTF-8")
            }
            return text
        }
    }
}
