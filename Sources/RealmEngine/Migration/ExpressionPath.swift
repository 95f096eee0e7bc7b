// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A key path in an expression of a migration: `city`, `p.friends[0].name`, `marks['art']`, `@links.Person.city.@count`.
struct ExpressionPath {
    /// The steps from the object or variable where the path begins; at least one.
    let steps: [ExpressionPath.Step]

    /// The path as it is written, for error messages.
    var text: String {
        steps.reduce("") { text, step in
            switch step {
            case .index, .last, .key: return text + step.text
            default: return text.isEmpty ? step.text : text + "." + step.text
            }
        }
    }

    /// The name that the path begins with; nil when it begins with linking objects.
    var firstName: String? {
        if case .name(let name)? = steps.first { return name }
        return nil
    }
}

extension ExpressionPath {
    /// One step of a key path in an expression.
    enum Step {
        /// A variable, a property, `$old`, or the key of an entry of a dictionary.
        case name(String)
        /// `[3]`: the element of a list at an index from 0.
        case index(Int)
        /// `[LAST]`: the last element of a list.
        case last
        /// `['art']`: the entry of a dictionary.
        case key(String)
        /// `@links.Person.city`: the objects that link to the object through a property.
        case links(className: String, property: String)
        /// `@count` or `@size`: the number of elements of a collection.
        case count
        /// `@keys`: the keys of a dictionary.
        case keys
        /// `@values`: the values of a dictionary.
        case values
        /// `@min`, `@max`, `@sum` or `@avg` of numbers, dates and the like, or of a property of the objects of a collection.
        case fold(Fold, property: String?)

        /// How the values of a collection become one.
        enum Fold: String { case min = "@min", max = "@max", sum = "@sum", average = "@avg" }

        /// The step as it is written, without the dot before it.
        var text: String {
            switch self {
            case .name(let name): return name
            case .index(let index): return "[\(index)]"
            case .last: return "[LAST]"
            case .key(let key): return "['\(key)']"
            case .links(let className, let property): return "@links.\(className).\(property)"
            case .count: return "@count"
            case .keys: return "@keys"
            case .values: return "@values"
            case .fold(let fold, let property): return fold.rawValue + (property.map { "." + $0 } ?? "")
            }
        }
    }
}
