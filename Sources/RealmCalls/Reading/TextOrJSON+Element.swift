// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// How `indexOf` names an object by its key, and an element by its value.
extension ParameterSet.TextOrJSON {
    /// The text of a parameter in a URL; nil for a member of a body.
    package var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// Returns the value as JSON; nil for text that is a plain string.
    ///
    /// - Parameter isMixed: Whether the value is a mixed one, whose text is JSON if it can be. A text that begins with `@` is one
    ///   of the forms of keys.
    package func value(isMixed: Bool) -> JSONValue? {
        switch self {
        case .json(let value): return value
        case .text(let text):
            guard isMixed else { return nil }
            if text == "@null" { return .null }
            if text == "@empty" { return .string("") }
            return (try? JSONParser.parse(text, depthLimit: 8))
                ?? .string(text.utf8.starts(with: "@@".utf8) ? String(text.dropFirst()) : text)
        }
    }

    /// Returns the text of an object's key: a text, an integer, null, or the stub of a link to an object of the class.
    ///
    /// - Throws: `invalid_parameter` for everything else.
    package func keyText(of table: Table) throws(Problem) -> String {
        switch self {
        case .text(let text): return text
        case .json(.string(let text)): return text
        case .json(.integer(let number)): return String(number)
        case .json(.null): return "@null"
        case .json(let value):
            if let (name, key) = value.object?.single.flatMap({ $0.name == "$link" ? ExtendedJSON.stub($0.value) : nil }),
                snapshotName(of: table) == name
            {
                return key
            }
            throw .invalidParameter("indexOf", "'indexOf' is the key of an object: a text, an integer or null")
        }
    }

    /// The name of a class as clients write it.
    private func snapshotName(of table: Table) -> String { table.className ?? table.name }
}
