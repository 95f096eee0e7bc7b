// SPDX-License-Identifier: Apache-2.0

/// A path into embedded objects: `address.phones`, `kids[0].tags`.
package struct PropertyPath: Sendable, Equatable {
    /// One step: to a property or a key of a dictionary, or to an element of a list.
    package enum Step: Sendable, Equatable {
        /// A property, or the key of a dictionary entry.
        case name(String)
        case index(Int)
    }

    /// The steps from the object on; there is at least one.
    package let steps: [Step]

    /// Nothing is nested as deep as this.
    package static let maximumSteps = 128

    /// Reads `name ("[" digits "]" | "." name)*`; nil when the text is not of that form.
    package init?(_ text: String) {
        var steps: [Step] = []
        var name = ""
        var rest = text[...]
        var mayTakeName = true
        while let character = rest.first {
            guard steps.count < PropertyPath.maximumSteps else { return nil }
            switch character {
            case ".":
                guard !rest.dropFirst().isEmpty, PropertyPath.finish(&name, &steps, isExpected: mayTakeName) else { return nil }
                rest = rest.dropFirst()
                mayTakeName = true
            case "[":
                guard PropertyPath.finish(&name, &steps, isExpected: mayTakeName), let end = rest.firstIndex(of: "]"),
                    let index = PropertyPath.index(rest[rest.index(after: rest.startIndex)..<end])
                else { return nil }
                steps.append(.index(index))
                rest = rest[rest.index(after: end)...]
                mayTakeName = false
            default:
                guard mayTakeName else { return nil }
                name.append(character)
                rest = rest.dropFirst()
            }
        }
        guard PropertyPath.finish(&name, &steps, isExpected: mayTakeName) else { return nil }
        self.steps = steps
    }

    private static func finish(_ name: inout String, _ steps: inout [Step], isExpected: Bool) -> Bool {
        guard isExpected else { return true }
        guard !name.isEmpty else { return false }
        steps.append(.name(name))
        name = ""
        return true
    }

    private static func index(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(digits)
    }
}
