// SPDX-License-Identifier: Apache-2.0

/// Collects the elements of a path. The two names behind `@links` belong to it.
struct PathBuilder {
    private(set) var elements: [PathSyntax.Element] = []
    /// A `@links` that waits for its class, then for its property.
    private var backlink: (className: String?, isOpen: Bool) = (nil, false)

    /// Is only a name allowed next?
    var requiresName: Bool { backlink.isOpen }

    mutating func append(_ element: PathSyntax.Element) {
        guard case .key(let name) = element else {
            elements.append(element)
            return
        }
        if backlink.isOpen {
            if let className = backlink.className {
                elements.append(.backlink(className: className, property: name))
                backlink = (nil, false)
            } else {
                backlink.className = name
            }
        } else if name == "@links" {
            backlink = (nil, true)
        } else {
            elements.append(element)
        }
    }

    /// The elements, with a `@links` that was left open as the last one.
    func finished() -> [PathSyntax.Element] {
        backlink.isOpen ? elements + [.incompleteBacklink(className: backlink.className)] : elements
    }

    /// The elements of a path that is given as text, split at dots.
    static func elements(ofPath text: String) -> [PathSyntax.Element] {
        var builder = PathBuilder()
        for name in text.split(separator: ".", omittingEmptySubsequences: false) { builder.append(.key(String(name))) }
        return builder.finished()
    }
}
