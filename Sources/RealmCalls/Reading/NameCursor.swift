// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The position at which a page of a list by name ended, such as that of the realms.
///
/// The text of a cursor is opaque to clients; it survives changes of the list.
package struct NameCursor: Sendable {
    /// The name after which the next page begins.
    package let name: String

    /// Makes a cursor for the page after a name.
    package init(_ name: String) { self.name = name }

    /// The text that clients send back as `after`.
    package var text: String { "b64." + Base64.encode(Array(name.utf8), .url) }

    /// Reads the text of a cursor.
    ///
    /// - Throws: `cursor_invalid` for a text that no list has given out.
    package init(reading text: String) throws(Problem) {
        guard text.hasPrefix("b64."), let bytes = Base64.decode(text.dropFirst(4), .url),
            let name = RealmName(String(decoding: bytes, as: UTF8.self))
        else { throw Problem(.cursorInvalid, "the cursor is damaged").with("parameter", "after") }
        self.name = name.text
    }
}
