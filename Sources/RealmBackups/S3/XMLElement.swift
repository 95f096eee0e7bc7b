// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// An element of one of the XML documents with which S3 stores answer: its name, the text in it, and the elements
/// in it. Attributes, comments and namespaces are left out.
///
/// Documents with declarations of types are refused, so entities are those five that XML has by itself, and
/// characters by their numbers.
package struct XMLElement: Equatable {
    /// The name without a namespace prefix.
    package let name: String
    /// The characters directly in it, one after another.
    package var text = ""
    /// The elements directly in it, in their order.
    package var children: [XMLElement] = []

    /// How deep elements may be in each other.
    package static let maximumDepth = 16

    /// Returns the text of the first element of a name; nil when there is none.
    package subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    /// Reads a document; nil when it is none, or is deeper than `maximumDepth`.
    ///
    /// - Parameter bytes: The document in UTF-8.
    /// - Complexity: O(n).
    package static func read(_ bytes: [UInt8]) -> XMLElement? {
        var open: [XMLElement] = []
        var rest = bytes[...]
        while let byte = rest.first {
            guard byte == UInt8(ascii: "<") else {
                let text = rest.prefix { $0 != UInt8(ascii: "<") }
                rest = rest.dropFirst(text.count)
                guard !open.isEmpty else { continue }
                guard let decoded = characters(text) else { return nil }
                open[open.count - 1].text += decoded
                continue
            }
            if let skipped = skip(rest) {
                rest = skipped
                continue
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let tag = rest[(rest.startIndex + 1)..<end]
            rest = rest[(end + 1)...]
            guard let kind = tag.first, kind != UInt8(ascii: "!") else { return nil }
            if kind == UInt8(ascii: "/") {
                guard let last = open.popLast(), last.name == name(tag.dropFirst()) else { return nil }
                if open.isEmpty { return last }
                open[open.count - 1].children.append(last)
                continue
            }
            let isEmpty = tag.last == UInt8(ascii: "/")
            let element = XMLElement(name: name(isEmpty ? tag.dropLast() : tag))
            guard !element.name.isEmpty, open.count < maximumDepth else { return nil }
            if !isEmpty {
                open.append(element)
            } else if open.isEmpty {
                return element
            } else {
                open[open.count - 1].children.append(element)
            }
        }
        return nil
    }

    /// Returns what follows a comment or an instruction; nil when there is none here, or it does not end.
    private static func skip(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for (start, end) in [("<!--", "-->"), ("<?", "?>")] where bytes.starts(with: start.utf8) {
            let mark = Array(end.utf8)
            var rest = bytes.dropFirst(start.utf8.count)
            while let place = rest.firstIndex(of: mark[0]) {
                rest = rest[place...]
                if rest.starts(with: mark) { return rest.dropFirst(mark.count) }
                rest = rest.dropFirst()
            }
        }
        return nil
    }

    /// Returns the name at the start of a tag.
    private static func name(_ tag: ArraySlice<UInt8>) -> String {
        let name = tag.prefix { $0 > 0x20 }
        return String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
    }

    /// Returns a text with its entities replaced; nil for an unknown one.
    private static func characters(_ bytes: ArraySlice<UInt8>) -> String? {
        var text = ""
        var rest = bytes
        while let place = rest.firstIndex(of: UInt8(ascii: "&")) {
            guard let end = rest[place...].firstIndex(of: UInt8(ascii: ";")),
                let character = character(String(decoding: rest[(place + 1)..<end], as: UTF8.self))
            else { return nil }
            text += String(decoding: rest[..<place], as: UTF8.self)
            text.unicodeScalars.append(character)
            rest = rest[(end + 1)...]
        }
        return text + String(decoding: rest, as: UTF8.self)
    }

    /// Returns the character that an entity means; nil for an unknown one.
    private static func character(_ entity: String) -> Unicode.Scalar? {
        switch entity {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard entity.hasPrefix("#") else { return nil }
            let digits = entity.dropFirst()
            let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init)
        }
    }

    /// Returns a text as the content of an element.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
