// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Decides which requests leave a line in the audit log, and sees to it that each leaves one.
struct AuditTrail: Sendable {
    /// The log; nil when there is none.
    let log: AuditLog?

    /// Begins the record of a request that is about to be carried out, if it leaves a line.
    ///
    /// - Parameters:
    ///   - call: The request, whose sender is known.
    ///   - route: The route of its path.
    /// - Throws: `audit_unavailable` when it must not be carried out without a line.
    func begin(_ call: Call, _ route: Route) throws(Problem) {
        guard let log, call.audit == nil, let operation = route.operation(of: call.request.method),
            let kind = operation.auditKind(of: call.request.method)
        else { return }
        guard operation.mayGoUnrecorded || log.admits() else {
            throw Problem(.auditUnavailable, "the audit log cannot be written at the moment")
        }
        call.audit = AuditRecord(log, call.auditEntry(kind))
    }

    /// Writes the line of a request whose response is known, unless it has one: that of its record, or one about a refusal.
    ///
    /// - Parameters:
    ///   - response: The response, as it is sent after this.
    ///   - call: The request.
    func end(_ response: borrowing Response, of call: Call) {
        guard let log else { return }
        if let record = call.audit {
            let version = response.status < 400 ? call.versionToken : nil
            return record.respond(status: response.status, code: response.problem?.rawValue, version: version)
        }
        guard call.caller.isRefusedByRights || AuditRecord.isRefusal(response.status) else { return }
        let record = AuditRecord(log, call.auditEntry(.refusal))
        call.audit = record
        record.end(status: response.status, code: response.problem?.rawValue)
    }
}
