// SPDX-License-Identifier: Apache-2.0

/// Where in an input a mistake is, from the root of that input.
///
/// It grows from the inside out: the innermost code throws an error without a path, and each level that holds the input adds
/// its step.
package struct InputPath: Sendable, Equatable, CustomStringConvertible {
    /// One step into an input.
    package enum Step: Sendable, Equatable {
        case name(String)
        case index(Int)
    }

    /// From the root of the input inwards.
    package private(set) var steps: [Step]

    /// The place that these steps lead to; without any, the root.
    package init(_ steps: [Step] = []) { self.steps = steps }

    /// The path of the same place, seen from what holds this input under `step`.
    package func inside(_ step: Step) -> InputPath { InputPath([step] + steps) }

    /// As a JSON Pointer (RFC 6901).
    package var description: String {
        steps.map { step in
            switch step {
            case .name(let name): return "/" + InputPath.escaped(name)
            case .index(let index): return "/\(index)"
            }
        }.joined()
    }

    /// A name as a part of a JSON Pointer.
    private static func escaped(_ name: String) -> String {
        var text = ""
        for character in name {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
        return text
    }
}
