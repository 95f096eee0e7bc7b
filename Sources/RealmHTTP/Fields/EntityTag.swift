// SPDX-License-Identifier: Apache-2.0

/// Functions for the entity tags of responses.
package enum EntityTag {
    /// Returns the entity tag of a compressed form of a response, which has to differ from those of the
    /// plain form and of other codings.
    ///
    /// - Parameters:
    ///   - etag: The tag of the plain form, with its quotes.
    ///   - coding: The form.
    /// - Returns: The same tag with `z`, or `zs` for zstd, before the closing quote.
    static func packed(_ etag: String, _ coding: ContentCoding) -> String {
        etag.hasSuffix("\"") ? etag.dropLast() + (coding == .zstd ? "zs\"" : "z\"") : etag
    }
}
