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
        etag.hasSuffix("\"") ? etag.dropLast() + (coding == .zstd ? "zs\"" : "z\"") : etag
    }

    /// Returns the entity tag of the form on several lines: the same tag with `i` before the closing quote.
    ///
    /// - Parameter etag: The tag of the usual form, with its quotes.
    package static func indented(_ etag: String) -> String { etag.hasSuffix("\"") ? etag.dropLast() + "i\"" : etag }
}
