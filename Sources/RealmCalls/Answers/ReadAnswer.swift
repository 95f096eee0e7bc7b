// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Makes responses to reads, with the header fields that all of them have.
extension ReadContext {
    /// Returns a response with a body.
    ///
    /// - Parameters:
    ///   - body: The document or the lines.
    ///   - type: The media type.
    ///   - etag: The entity tag, in quotes.
    ///   - notes: Notes on values that could not be represented exactly, for header fields.
    package func answer(
        _ body: OutputBuffer, type: StaticString, etag: String, notes: RepresentationNotes = RepresentationNotes()
    ) -> Response {
        var response = Response(type: type, body)
        addReadHeaders(to: &response, etag: etag)
        if notes.hasUnsafeIntegers { response.add("Realm-Unsafe-Integers", constant: "1") }
        if notes.hasLossyDates { response.add("Realm-Lossy", constant: "date") }
        return response
    }

    /// Returns 304, for a client that has the representation already.
    package func unchanged(_ etag: String) -> Response {
        var response = Response(status: 304)
        addReadHeaders(to: &response, etag: etag)
        return response
    }

    /// Adds the entity tag, the version and the rules for caches.
    ///
    /// The newest version has to be validated before each use. A snapshot never changes, so it may
    /// be kept as long as its lease lasts, and its response reports the number of live versions. Rights
    /// can end earlier, so clients with a credential or roles validate it too.
    package func addReadHeaders(to response: inout Response, etag: String) {
        response.add("ETag", etag)
        response.add("Realm-Version", version.tokenText)
        guard let lease else { return response.add("Cache-Control", constant: "private, no-cache") }
        if call.caller.rights == nil, call.caller.principal.logName == nil {
            response.add("Cache-Control", "private, max-age=\(Int(lease.secondsLeft)), immutable")
        } else {
            response.add("Cache-Control", constant: "private, no-cache")
        }
        response.addLiveVersions(of: database)
    }
}

/// The header field about live versions that responses of snapshot endpoints carry.
extension Response {
    /// Adds the header field `Realm-Live-Versions`, the number of versions of a realm that are being read.
    ///
    /// The endpoints of snapshots send it, so that a client that holds versions can see the number of versions that it pins.
    ///
    /// - Parameter database: The realm that the request is about.
    package mutating func addLiveVersions(of database: Database) {
        add("Realm-Live-Versions", String(database.liveVersions))
    }
}
