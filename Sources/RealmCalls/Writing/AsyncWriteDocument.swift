// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The JSON documents of asynchronous writes (`Prefer: respond-async`).
///
/// The response to such a write is 202, at once. The engine's `AsyncWrites` remembers the outcome as bytes: the final part of the
/// document, which is everything after the state. `text(_:_:)` puts that part into a whole document whenever a client reads
/// `…/writes/{id}`.
package enum AsyncWriteDocument {
    /// Returns the response to a request that was accepted: 202 with the state by now, and in `Location` the path where
    /// the outcome can be read later.
    ///
    /// - Parameters:
    ///   - database: The realm.
    ///   - call: The request, whose log line gets the newest version.
    ///   - applied: The value of `Preference-Applied`; nil for none.
    package static func accepted(_ id: String, in database: Database, _ call: Call, applied: String?) -> Response {
        let state = database.asyncWrites.state(id, owner: call.ownerScope) ?? .queued
        var response = Response(status: 202, type: "application/json", text(id, state))
        response.addLocation(ObjectAddress.write(database.name.text, id))
        let version = database.current.tokenText
        call.versionToken = version
        response.add("Realm-Version", version)
        response.add("Cache-Control", constant: "no-store")
        if let applied { response.add("Preference-Applied", applied) }
        return response
    }

    /// Returns the remembered part for a committed write: `version`, `status` and `body`, without its document when memory is
    /// short.
    ///
    /// They are a fragment of JSON, without the braces around it. The status and the body are those of a synchronous response.
    ///
    /// - Parameters:
    ///   - version: The text of the version token of the commit.
    ///   - status: The HTTP status of the synchronous response, for example 201.
    ///   - body: The JSON document of the synchronous response, or nil for a response without a body, which is written as `null`.
    package static func committed(version: String, status: Int, body: OutputBuffer?) -> AsyncWrites.Outcome {
        func members(_ body: OutputBuffer?) -> [UInt8] {
            var writer = JSONWriter(reservingCapacity: 64 + (body?.count ?? 0))
            writer.member("version", text: version)
            writer.member("status", int: status)
            writer.key("body")
            if let body { writer.value { $0.append(body) } } else { writer.null() }
            return writer.bytes
        }
        return AsyncWrites.Outcome(whole: members(body), truncated: members(nil))
    }

    /// Returns the remembered part for a failed write: `problem` with the whole document, or with its code alone when memory is
    /// short.
    ///
    /// - Parameters:
    ///   - problem: The reason for the failure of the write.
    ///   - requestID: The id of the request for the write. The `instance` of the problem is made of it.
    package static func failed(_ problem: Problem, requestID: RequestID) -> AsyncWrites.Outcome {
        func member(_ problem: Problem) -> [UInt8] {
            var writer = JSONWriter()
            writer.key("problem")
            problem.write(to: &writer, requestID: requestID)
            return writer.bytes
        }
        return AsyncWrites.Outcome(
            whole: member(problem), truncated: member(Problem(problem.code, "there is no memory for the text of the problem")))
    }

    /// Returns the document that describes an asynchronous write, as JSON.
    ///
    /// - Parameters:
    ///   - id: The id of the write, which is also the last part of its path.
    ///   - state: The state of the write. `committed` or `failed` of this type made the outcome of a final state.
    package static func text(_ id: String, _ state: AsyncWrites.State) -> OutputBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", text: id)
        switch state {
        case .queued: waiting("queued", &writer)
        case .running: waiting("running", &writer)
        case .cancelled: waiting("cancelled", &writer)
        case .committed(let outcome):
            writer.member("state", text: "committed")
            writer.raw(outcome.whole)
        case .failed(let outcome):
            writer.member("state", text: "failed")
            writer.raw(outcome.whole)
        }
        writer.endObject()
        return writer.buffer
    }

    /// Writes the members of a write that has no outcome: its state, and null for `version`, `status` and `body`.
    private static func waiting(_ state: String, _ writer: inout JSONWriter) {
        writer.member("state", text: state)
        for name: StaticString in ["version", "status", "body"] { writer.nullMember(name) }
    }
}
