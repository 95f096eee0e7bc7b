// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A path from an object into its embedded objects and collections: `address.phones`, `kids[0].tags`.
///
/// Only its syntax has been checked. Whether the steps exist is found when the path is followed in an object.
package struct PropertyPath: Sendable, Equatable {
    /// One step of a path, to a name or to a position.
    package enum Step: Sendable, Equatable {
        /// A property, or the key of a dictionary entry.
        case name(String)
        /// The position of an element in a list, from 0.
        case index(Int)
    }

    /// The steps of the path, from the object inwards; there is at least one.
    package let steps: [Step]

    /// The largest number of steps. Stored values are not nested as deep as this.
    package static let maximumSteps = OwnerLookup.maximumSteps

    /// Reads `name ("[" digits "]" | "." name)*`; nil when the text does not have that form.
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

    /// Appends the name that was collected to the steps, if one is due here. Returns false when it is due but empty.
    private static func finish(_ name: inout String, _ steps: inout [Step], isExpected: Bool) -> Bool {
        guard isExpected else { return true }
        guard !name.isEmpty else { return false }
        steps.append(.name(name))
        name = ""
        return true
    }

    /// Returns the number between brackets; nil for anything but decimal digits, or a number beyond `Int`.
    private static func index(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(digits)
    }
}
