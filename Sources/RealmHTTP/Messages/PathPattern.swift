// SPDX-License-Identifier: Apache-2.0

/// The form of a path: fixed words and variables, such as `/v1/realms/{realm}`.
package final class PathPattern: Sendable {
    /// One segment between two slashes.
    package enum Segment: Sendable, Equatable {
        case word(String)
        case variable(PathVariable)
    }

    /// As it was written.
    package let text: String
    /// What the log and the metrics call the path.
    package let label: String
    /// One per segment of the path; empty for patterns that stand for no path.
    package let segments: [Segment]
    /// For each variable its segment, and -1 for those that the path does not have.
    private let positions: [Int8]

    /// Reads a pattern. A segment in braces is a variable and has to bear the name of one; all others are fixed words.
    ///
    /// A text that does not begin with a slash is a label for what has no path.
    package init(_ text: String) {
        self.text = text
        let segments = text.hasPrefix("/") ? text.split(separator: "/").map { PathPattern.segment($0) } : []
        self.segments = segments
        label = text.hasPrefix("/") ? segments.reduce(into: "") { $0 += "/" + PathPattern.label($1) } : text
        positions = PathVariable.allCases.map { Int8(segments.firstIndex(of: .variable($0)) ?? -1) }
    }

    /// The pattern of requests whose path was not looked up, or is not known.
    package static let none = PathPattern("-")

    /// The variables in the order of the path.
    package var variables: [PathVariable] {
        segments.compactMap { segment in
            if case .variable(let variable) = segment { return variable }
            return nil
        }
    }

    /// Whether this is the path of a realm itself.
    package var isRealm: Bool { segments.count == 3 && segments.last == .variable(.realm) }

    /// The number of the segment that `variable` has; nil when the path has no such variable.
    package func position(of variable: PathVariable) -> Int? {
        let position = Int(positions[variable.rawValue])
        return position < 0 ? nil : position
    }

    private static func segment(_ text: Substring) -> Segment {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return .word(String(text)) }
        let name = text.dropFirst().dropLast()
        guard let variable = PathVariable.allCases.first(where: { $0.name == name }) else {
            preconditionFailure("the path pattern has an unknown variable '\(name)'")
        }
        return .variable(variable)
    }

    private static func label(_ segment: Segment) -> String {
        switch segment {
        case .word(let word): return word
        case .variable(let variable): return "{" + variable.label + "}"
        }
    }
}
