// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmConsole
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Data that a new realm can begin with, for a first impression.
package enum Sample: String, Sendable, CaseIterable {
    /// A small shop: products, customers and orders.
    case store

    /// Returns a reader of the sample, which is an export.
    ///
    /// - Throws: `internal_error` when the program lacks it.
    package func reader() throws(Problem) -> ImportReader {
        guard let text = EmbeddedFile.samples.first(where: { $0.path.description == rawValue + ".ndjson.gz" })?.text,
            let packed = Base64.decode(text.description), let lines = try? Gzip.inflate(packed, limit: Sample.byteLimit)
        else { throw Problem(.internalError, "the sample is missing") }
        return ImportReader(ImportSource(lines), className: nil, bounds: JSONBounds(depth: JSONBounds.deepestExport))
    }

    /// More bytes than any sample has.
    private static let byteLimit = 64 << 20
}
