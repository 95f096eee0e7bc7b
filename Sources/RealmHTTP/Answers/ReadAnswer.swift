// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension ReadContext {
    /// The answer with `body`, tagged with `etag`.
    func answer(
        _ body: OutputBuffer, type: StaticString, etag: String, notes: RepresentationNotes = RepresentationNotes()
    ) -> Response {
        var response = Response(type: type, body)
        addReadHeaders(to: &response, etag: etag)
        if notes.hasUnsafeIntegers { response.add("Realm-Unsafe-Integers", constant: "1") }
        if notes.hasLossyDates { response.add("Realm-Lossy", constant: "date") }
        return response
    }

    /// The answer to a client that has this representation already.
    func unchanged(_ etag: String) -> Response {
        var response = Response(status: 304)
        addReadHeaders(to: &response, etag: etag)
        return response
    }

    /// Adds tag and version, and how long the answer may be kept: the newest version has to be asked for again, a snapshot
    /// never changes.
    func addReadHeaders(to response: inout Response, etag: String) {
        response.add("ETag", etag)
        response.add("Realm-Version", version.tokenText)
        guard let lease else { return response.add("Cache-Control", constant: "private, no-cache") }
        response.add("Cache-Control", "private, max-age=\(Int(lease.secondsLeft)), immutable")
        response.addLiveVersions(of: database)
    }
}
