// SPDX-License-Identifier: Apache-2.0

/// Public names of properties and classes that differ from the persisted ones.
///
/// A property alias stands for a persisted name, for another alias, or for a whole backlink
/// (`@links.Class.property`). Persisted names stay usable.
package struct KeyPathMapping: Sendable {
    /// A property as aliases are looked up.
    private struct Property: Hashable {
        let className: String
        let name: String
    }

    /// After more replacements than this a chain of aliases counts as a loop.
    private static let maximumSubstitutions = 50

    private var properties: [Property: String] = [:]
    private var classes: [String: String] = [:]

    /// No aliases.
    package init() {}

    /// Lets `alias` stand for `path` in a class, which is named as it is persisted, without prefix.
    package mutating func addProperty(_ alias: String, of className: String, path: String) {
        properties[Property(className: className, name: alias)] = path
    }

    /// Lets `alias` stand for a class.
    package mutating func addClass(_ alias: String, for className: String) {
        if alias != className { classes[alias] = className }
    }

    /// The persisted name or backlink that `name` stands for in a class. Nil when the aliases go in circles.
    func property(_ name: String, of className: String) -> String? {
        guard !properties.isEmpty else { return name }
        return KeyPathMapping.follow(name) { properties[Property(className: className, name: $0)] }
    }

    /// The persisted class that `name` stands for. Nil when the aliases go in circles.
    func className(_ name: String) -> String? { KeyPathMapping.follow(name) { classes[$0] } }

    /// Replaces a name until there is no replacement; nil when that does not end.
    private static func follow(_ name: String, _ next: (String) -> String?) -> String? {
        var current = name
        for _ in 0...maximumSubstitutions {
            guard let replacement = next(current) else { return current }
            current = replacement
        }
        return nil
    }
}
