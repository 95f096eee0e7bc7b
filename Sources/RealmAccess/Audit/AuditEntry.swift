// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// One line of the audit log: principal, action, place and outcome.
///
/// It has names and keys, which identify, and nothing that was stored or sent: no values, no bodies, no queries and no credentials.
package struct AuditEntry: Sendable {
    /// The sender of a request.
    package struct Sender: Sendable {
        /// The kind of principal.
        package var kind = ""
        /// The id of the principal among those of its kind.
        package var id = ""
        /// The name of the principal for people.
        package var name = ""
        /// The address of the client; empty on a Unix socket.
        package var address = ""

        /// Makes a sender.
        package init(kind: String = "", id: String = "", name: String = "", address: String = "") {
            self.kind = kind
            self.id = id
            self.name = name
            self.address = address
        }
    }

    /// The kind of event of the line.
    package var kind: AuditKind
    package var requestID = ""
    /// The sender of the request; nil for lines of the server itself.
    package var sender: Sender?
    /// The method of the request; nil for lines about no request.
    package var method: String?
    /// The form of the path, as in the metrics.
    package var route: String?
    package var realm: String?
    package var className: String?
    /// The id in the path, such as that of a key or a transaction, or the one that the request has made.
    package var id: String?
    /// The transaction that the request was a part of.
    package var transaction: String?
    /// The keys of the objects that the request named or made, at most `AuditKeys.countLimit`.
    package var keys = AuditKeys()
    /// Whether the request was a dry run.
    package var isDryRun = false
    /// Whether the response is the one that an earlier request with the same idempotency key got.
    package var isRepeated = false
    /// The status of the response; nil for lines about no request.
    package var status: Int?
    /// The code of the problem; nil for success.
    package var code: String?
    /// The token of the version that was made or given out.
    package var version: String?
    /// The final state of a transaction.
    package var state: String?
    /// The number of missing lines.
    package var lostCount: Int?

    /// The number of bytes of a name or key that are written; longer ones are truncated.
    package static let textLimit = 256

    /// Makes a line with its kind alone.
    ///
    /// - Parameter kind: The kind of event.
    package init(kind: AuditKind) { self.kind = kind }

    /// Appends the line.
    ///
    /// - Parameters:
    ///   - time: The time of the line.
    ///   - buffer: The buffer with the preceding lines.
    package func write(at time: WallClock, to buffer: OutputBuffer) {
        var writer = JSONWriter(buffer)
        writer.beginObject()
        writer.member("time", time: time)
        writer.member("kind", text: kind.rawValue)
        write("id", requestID.isEmpty ? nil : requestID, to: &writer)
        writeSender(to: &writer)
        for (name, text) in [
            ("method" as StaticString, method), ("route", route), ("realm", realm), ("class", className), ("target", id),
            ("transaction", transaction),
        ] { write(name, text, to: &writer) }
        keys.write(to: &writer)
        if isDryRun { writer.member("dryRun", bool: true) }
        if isRepeated { writer.member("repeated", bool: true) }
        if let status { writer.member("status", int: status) }
        for (name, text) in [("code" as StaticString, code), ("version", version), ("state", state)] {
            write(name, text, to: &writer)
        }
        if let lostCount { writer.member("lines", int: lostCount) }
        writer.endObject()
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Writes who sent the request.
    private func writeSender(to writer: inout JSONWriter) {
        guard let sender else { return }
        writer.key("principal")
        writer.beginObject()
        writer.member("kind", text: sender.kind)
        write("id", sender.id.isEmpty ? nil : sender.id, to: &writer)
        write("name", sender.name.isEmpty ? nil : sender.name, to: &writer)
        writer.endObject()
        write("client", sender.address.isEmpty ? nil : sender.address, to: &writer)
    }

    /// Writes a member with a text of bounded length; nothing without a text.
    private func write(_ name: StaticString, _ text: String?, to writer: inout JSONWriter) {
        if let text { writer.member(name, text: AuditEntry.bounded(text)) }
    }

    /// Returns text truncated to the limit, with an ellipsis where bytes are missing.
    package static func bounded(_ text: String) -> String {
        guard text.utf8.count > textLimit else { return text }
        var byteCount = 0
        let kept = text.unicodeScalars.prefix { scalar in
            byteCount += UTF8.width(scalar)
            return byteCount <= textLimit
        }
        return String(String.UnicodeScalarView(kept)) + "…"
    }
}

/// The kinds of events in the audit log.
package enum AuditKind: String, Sendable, CaseIterable {
    /// A change of objects or of their schema, also inside a transaction that is not committed yet.
    case write
    /// A realm or class that was given out as a whole.
    case export
    /// A copy of a file that was made, given out, deleted or put in the place of another.
    case backup
    /// A change of the server: its realms, keys, leases or configuration.
    case administration
    /// A session of a browser that began or ended.
    case session
    /// A request that was refused for who sent it.
    case refusal
    /// A transaction that has ended although no request asked for that.
    case transaction
    /// Lines that are missing because too many were waiting.
    case lost
}
