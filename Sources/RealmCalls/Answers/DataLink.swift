// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A request that follows a plain link to data.
///
/// An element of a page, the address bar of a browser or a download sends it, in contrast to a program that reads values.
package struct DataLink {
    /// The id of the snapshot to read; nil for the newest version.
    package let snapshot: String?
    /// The name of the version to read; nil for the newest one.
    package let version: String?
    /// The name of the file to save as; empty for the usual name, nil when the data is to be shown.
    let download: String?

    /// The media types of values. A client that names one of them in `Accept` wants the value in that form.
    private static let ofValues = ["application/json", "application/ejson", "application/x-ndjson", "text/csv", DataType.unknown]

    /// Reads a request; nil when it does not follow a link, or has parameters of other reads.
    ///
    /// A client that accepts anything alike, as programs do by default, gets the value as JSON, unless it
    /// asks for a part or for a download.
    package init?(_ request: Request) {
        guard request.method == .get || request.method == .head,
            let parameters = try? QueryParameters(request.target),
            parameters.items.allSatisfy({ ["snapshot", "version", "download", "format"].contains($0.name) })
        else { return nil }
        snapshot = parameters["snapshot"]
        version = parameters["version"]
        download = parameters["download"]
        if let format = parameters["format"] {
            guard format == "bytes" else { return nil }
            return
        }
        let accept = request[.accept] ?? ""
        let ranges = AcceptHeader(accept)
        guard !DataLink.ofValues.contains(where: ranges.names) else { return nil }
        let acceptsAllAlike = accept.isEmpty || ranges.entries.allSatisfy { $0.range.essence == "*/*" }
        guard download != nil || request.has(.range) || !acceptsAllAlike else { return nil }
    }
}
