// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Functions for the entity tags of responses.
package enum EntityTag {
    /// Returns the entity tag of a compressed form of a response, which has to differ from those of the
    /// plain form and of other codings.
    ///
    /// - Parameters:
    ///   - etag: The tag of the plain form, with its quotes.
    ///   - coding: The form.
    /// - Returns: The same tag with `z`, or `zs` for zstd, before the closing quote.
    package static func packed(_ etag: String, _ coding: ContentCoding) -> String {
        marked(etag, coding == .zstd ? "zs" : "z")
    }

    /// Returns the entity tag of the form on several lines: the same tag with `i` before the closing quote.
    ///
    /// - Parameter etag: The tag of the usual form, with its quotes.
    package static func indented(_ etag: String) -> String { marked(etag, "i") }

    /// Inserts a mark before the closing quote, which is the last byte; a character may be longer.
    private static func marked(_ etag: String, _ mark: String) -> String {
        etag.hasSuffix("\"") ? String(decoding: etag.utf8.dropLast(), as: UTF8.self) + mark + "\"" : etag
    }
}
