// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The shape of a family of paths: fixed words and variables, such as `/v1/realms/{realm}`.
///
/// Every route has one, made when the table of routes is built; a pattern lives as long as the process.
package final class PathPattern: Sendable {
    /// One segment between two slashes.
    package enum Segment: Sendable, Equatable {
        /// A fixed word, which a path has to repeat exactly.
        case word(String)
        /// A part that differs from request to request.
        case variable(PathVariable)
    }

    /// The pattern as the table of routes spells it.
    package let text: String
    /// The text that the log and the metrics use in the place of the path, so that names and keys do not appear in them.
    package let label: String
    /// The segments between the slashes, in order; empty for a label that represents no path.
    package let segments: [Segment]
    /// For each variable its segment, and -1 for those that the path does not have.
    private let positions: [Int8]

    /// Reads a pattern. A segment in braces is a variable; every other segment is a fixed word, which is empty after a slash at
    /// the end.
    ///
    /// - Parameter text: The pattern. A text that does not begin with a slash is the label of
    ///   requests without a known path.
    /// - Precondition: Each name in braces is the name of a `PathVariable`.
    package init(_ text: String) {
        self.text = text
        let words = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let segments = text.hasPrefix("/") ? words.map { PathPattern.segment($0) } : []
        self.segments = segments
        label = text.hasPrefix("/") ? segments.reduce(into: "") { $0 += "/" + PathPattern.label($1) } : text
        positions = PathVariable.allCases.map { Int8(segments.firstIndex(of: .variable($0)) ?? -1) }
    }

    /// The pattern of requests whose path has not been looked up, or leads nowhere.
    package static let none = PathPattern("-")

    /// The variables of the pattern, in the order of the path.
    package var variables: [PathVariable] {
        segments.compactMap { segment in
            if case .variable(let variable) = segment { return variable }
            return nil
        }
    }

    /// Whether the pattern is the path of a realm itself, `/v1/realms/{realm}`, and not of something in the realm.
    package var isRealm: Bool { segments.count == 3 && segments.last == .variable(.realm) }

    /// Returns which segment a variable is, counted from 0.
    ///
    /// - Parameter variable: The variable to find.
    /// - Returns: The index in `segments`; nil when the pattern does not have the variable.
    package func position(of variable: PathVariable) -> Int? {
        let position = Int(positions[variable.rawValue])
        return position < 0 ? nil : position
    }

    /// Reads one segment of a pattern. A name in braces that is no `PathVariable` is an error of the program and ends it.
    private static func segment(_ text: Substring) -> Segment {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return .word(String(text)) }
        let name = text.dropFirst().dropLast()
        guard let variable = PathVariable.allCases.first(where: { $0.name == name }) else {
            preconditionFailure("the path pattern has an unknown variable '\(name)'")
        }
        return .variable(variable)
    }

    /// Returns a segment as the log and the metrics show it.
    private static func label(_ segment: Segment) -> String {
        switch segment {
        case .word(let word): return word
        case .variable(let variable): return "{" + variable.label + "}"
        }
    }
}
