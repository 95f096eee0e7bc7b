// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Collects the elements of a path one by one.
///
/// Its purpose is `@links`: the two names after it, a class and a property, form one element with it.
struct PathBuilder {
    /// The complete elements so far, without a `@links` that still lacks a name.
    private(set) var elements: [PathSyntax.Element] = []
    /// A `@links` that still lacks its class, or lacks its property. `isOpen` is false when there is none.
    private var backlink: (className: String?, isOpen: Bool) = (nil, false)

    /// Whether only a name is allowed next, because a `@links` is incomplete.
    var requiresName: Bool { backlink.isOpen }

    /// Adds an element.
    ///
    /// - Parameter element: A name, an index or another element. A name completes an open `@links`,
    ///   or is one.
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

    /// Returns all elements of the path. A `@links` that is still open becomes the last one.
    func finished() -> [PathSyntax.Element] {
        backlink.isOpen ? elements + [.incompleteBacklink(className: backlink.className)] : elements
    }

    /// Splits the text of a path at its dots, as key path arguments and aliases are given.
    ///
    /// - Parameter text: Names separated by dots, without brackets. A dot behind a backslash is part of a name.
    /// - Returns: The elements, in which `@links` and the two names after it are one.
    static func elements(ofPath text: String) -> [PathSyntax.Element] {
        var builder = PathBuilder()
        var name: [UInt8] = []
        for byte in text.utf8 {
            if byte != UInt8(ascii: ".") {
                name.append(byte)
            } else if name.last == UInt8(ascii: "\\") {
                name[name.count - 1] = byte
            } else {
                builder.append(.key(String(decoding: name, as: UTF8.self)))
                name = []
            }
        }
        builder.append(.key(String(decoding: name, as: UTF8.self)))
        return builder.finished()
    }
}
