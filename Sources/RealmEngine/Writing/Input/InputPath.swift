// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The place of an error in an input, as the steps from the root of that input.
///
/// It grows from the inside out: the innermost code throws an error without a path, and each level that
/// contains the input adds its step with `at`.
package struct InputPath: Sendable, Equatable, CustomStringConvertible {
    /// One step into an input.
    package enum Step: Sendable, Equatable {
        /// The name of a member or entry.
        case name(String)
        /// The index of an element, from 0.
        case index(Int)
    }

    /// The steps from the root of the input inward.
    package private(set) var steps: [Step]

    /// Makes the path with the given steps; without any it is the root.
    package init(_ steps: [Step] = []) { self.steps = steps }

    /// Returns the path of the same place as seen from the input that contains this one.
    ///
    /// - Parameter step: The step from the containing input to this one.
    package func inside(_ step: Step) -> InputPath { InputPath([step] + steps) }

    /// The path as a JSON Pointer (RFC 6901).
    package var description: String {
        steps.map { step in
            switch step {
            case .name(let name): return "/" + InputPath.escaped(name)
            case .index(let index): return "/\(index)"
            }
        }.joined()
    }

    /// Escapes a name for use in a JSON Pointer.
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
