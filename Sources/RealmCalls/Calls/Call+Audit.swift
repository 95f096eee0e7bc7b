// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension Call {
    /// Returns the audit entry of the request, as far as its head determines it.
    ///
    /// - Parameter kind: The kind of event.
    package func auditEntry(_ kind: AuditKind) -> AuditEntry {
        var entry = AuditEntry(kind: kind)
        entry.requestID = request.id.text
        entry.sender = AuditEntry.Sender(
            kind: caller.principal.kind.rawValue, id: caller.principal.id, name: caller.principal.name,
            address: request.clientAddress)
        entry.method = request.methodName
        entry.route = match.pattern.label
        entry.realm = match.decoded(.realm)
        entry.className = match.decoded(.class)
        entry.id = match.decoded(.id)
        entry.transaction = request[.realmTransaction]
        if let key = match.decoded(.key) { entry.keys.add(key) }
        return entry
    }

    /// Writes the line of the audit log as the result of a write, on the thread on which it was done: so lines are in the order of
    /// the commits.
    ///
    /// - Parameters:
    ///   - response: The response to the request.
    ///   - version: The version that was committed; nil for none.
    func endAudit(_ response: Response, version: String?) {
        audit?.end(status: response.status, code: response.problem?.rawValue, version: version)
    }
}
