// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Aliases: public names of properties and classes that differ from the persisted ones.
///
/// A property alias represents a persisted name, another alias, or a whole backlink
/// (`@links.Class.property`). Persisted names remain usable.
package struct KeyPathMapping: Sendable {
    /// A public name of a property in a class: the key under which its replacement is stored.
    private struct Property: Hashable {
        let className: String
        let name: String
    }

    /// The number of replacements after which a chain of aliases counts as a loop.
    private static let maximumSubstitutions = 50

    /// The replacement of each alias of a property.
    private var properties: [Property: String] = [:]
    /// The persisted name, or another alias, for each alias of a class.
    private var classes: [ByteText: String] = [:]

    /// Creates a mapping without aliases.
    package init() {}

    /// Adds an alias of a property.
    ///
    /// - Parameters:
    ///   - alias: The public name.
    ///   - className: The class, by its persisted name without prefix.
    ///   - path: The persisted name, another alias, or a backlink.
    package mutating func addProperty(_ alias: String, of className: String, path: String) {
        properties[Property(className: className, name: alias)] = path
    }

    /// Adds an alias of a class. An alias that is equal to the persisted name is ignored.
    package mutating func addClass(_ alias: String, for className: String) {
        if alias != className { classes[alias] = className }
    }

    /// Returns the persisted name or the backlink that a name represents in a class; nil when the aliases form a loop.
    func property(_ name: String, of className: String) -> String? {
        guard !properties.isEmpty else { return name }
        return KeyPathMapping.follow(name) { properties[Property(className: className, name: $0)] }
    }

    /// Returns the persisted name of the class that a name represents; nil when the aliases form a loop.
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
