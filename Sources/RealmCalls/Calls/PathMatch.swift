// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The route that a request target belongs to, together with the target, so that the variable parts of the path can be read.
///
/// The segments are decoded when they are read, and not before: most requests use only some of them.
package struct PathMatch: Sendable {
    /// The pattern of the route.
    package let pattern: PathPattern
    /// The position of the route in the table in which the target was looked up.
    package let index: Int
    private let target: RequestTarget
    /// The realm that `@default` resolves to; nil if it is an ordinary segment.
    package var defaultRealm: String?

    /// The segment that resolves to the default realm. No realm can have this name.
    private static let defaultRealmSegment = "@default"

    /// Records that a target matches the pattern of a route.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the route.
    ///   - index: The position of the route in its table.
    ///   - target: The target, which has at least as many segments as the pattern.
    package init(_ pattern: PathPattern, index: Int, _ target: RequestTarget) {
        self.pattern = pattern
        self.index = index
        self.target = target
    }

    /// Returns the percent-decoded text of a variable segment.
    ///
    /// - Returns: Its text; nil when the pattern has no such variable, when the segment is not percent-encoded UTF-8, and for a
    ///   realm that `RealmName` refuses, so that no such text is looked up anywhere.
    package func decoded(_ variable: PathVariable) -> String? {
        guard let text = sent(variable) else { return nil }
        guard variable == .realm else { return text }
        if text == PathMatch.defaultRealmSegment { return defaultRealm }
        return RealmName(text)?.text
    }

    /// Returns the percent-decoded text of a variable segment, also where it names no realm that can be: for messages alone.
    package func sent(_ variable: PathVariable) -> String? {
        guard let position = pattern.position(of: variable), position < target.segments.count else { return nil }
        return PercentDecoding.decode(variable == .path ? target.rest(from: position) : target.segment(position))
    }

    /// The percent-decoded text of a variable segment that the pattern is known to have.
    ///
    /// - Throws: `invalid_parameter` with the label of the variable when the segment is not
    ///   percent-encoded UTF-8; `realm_not_found` for a realm.
    package subscript(variable: PathVariable) -> String {
        get throws(Problem) {
            guard let text = decoded(variable) else {
                if variable == .realm { throw .noRealm(nil, in: []) }
                throw .invalidParameter(variable.label, "the path holds text that is not percent-encoded UTF-8")
            }
            return text
        }
    }
}
