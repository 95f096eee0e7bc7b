// SPDX-License-Identifier: Apache-2.0

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
    ///   - request: The request, whose sender is known.
    ///   - route: The route of its path.
    /// - Throws: `audit_unavailable` when it must not be carried out without a line.
    func begin(_ request: Request, _ route: Route) throws(Problem) {
        guard let log, request.audit == nil, let operation = route.operation(of: request.method),
            let kind = operation.auditKind(of: request.method)
        else { return }
        guard operation.mayGoUnrecorded || log.admits() else {
            throw Problem(.auditUnavailable, "the audit log cannot be written at the moment")
        }
        request.audit = AuditRecord(log, request.auditEntry(kind))
    }

    /// Writes the line of a request whose response is known, unless it has one: that of its record, or one about a refusal.
    ///
    /// - Parameters:
    ///   - response: The response, as it is sent after this.
    ///   - request: The request.
    func end(_ response: borrowing Response, of request: Request) {
        guard let log else { return }
        if let record = request.audit {
            let version = response.status < 400 ? request.version : nil
            return record.respond(status: response.status, code: response.problem?.rawValue, version: version)
        }
        guard request.isRefusedByRights || AuditRecord.isRefusal(response.status) else { return }
        let record = AuditRecord(log, request.auditEntry(.refusal))
        request.audit = record
        record.end(status: response.status, code: response.problem?.rawValue)
    }
}
