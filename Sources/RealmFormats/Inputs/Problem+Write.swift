// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Turns the errors of writes into problems. Here only, an error of the engine gets a problem code and its members.
extension Problem {
    /// Whether the problem has an extension member of this name.
    package func has(_ name: String) -> Bool { extensions.contains { $0.name.description == name } }

    /// The line of the body that is wrong; nil when the problem does not state one.
    package var line: Int? {
        for member in extensions where member.name.description == "line" {
            if case .integer(let line) = member.value { return Int(line) }
        }
        return nil
    }

    /// Whether the request itself is malformed, whatever the realm contains. Such a request leaves the interactive transaction that it
    /// names as it was.
    package var isMalformedRequest: Bool {
        switch status {
        case 400, 405, 406, 415, 428: true
        default: code == .classNotFound
        }
    }

    /// Makes the problem of a write that was refused or failed.
    ///
    /// The detail proposes a similar name for a misspelt property. Counts, limits, keys and the
    /// time to wait become members or header fields.
    ///
    /// - Parameters:
    ///   - error: The error, with a path relative to the input that was being written.
    ///   - place: The place of that input in the request.
    package init(_ error: WriteError, at place: InputPlace = InputPlace()) {
        var problem = Problem.plain(error)
        if let unknownName = error.unknownName { problem.detail += Suggestion.hint(for: unknownName.name, in: unknownName.known) }
        if !error.counts.isEmpty { problem = problem.with("counts", .json(Problem.counts(error.counts))) }
        if let limit = error.limit { problem = problem.with("limit", .integer(Int64(limit))) }
        switch error.exceeded {
        case .uncommittedBytes?: problem = problem.with("limitName", "uncommitted-bytes")
        case .uncommittedBytesPerClient?: problem = problem.with("limitName", "uncommitted-bytes-per-principal")
        case .writeBytes?: problem = problem.with("limitName", "write-bytes")
        case .migrationRounds?: problem = problem.with("limitName", "migration-rounds")
        case nil: break
        }
        if let key = error.key { problem = problem.with("key", key) }
        if let time = error.retryAfter { problem.retryAfterSeconds = max(1, Int(min(time.inSeconds, 3600).rounded(.up))) }
        let inner = place.inside(error.path)
        let showsPlace = Problem.concernsInput.contains(error.code) || !inner.pointer.isEmpty
        // An error thrown by the closure of the caller has its place already.
        self = error.code == .caller ? problem : inner.describe(problem, hasPointer: showsPlace && problem.status < 500)
    }

    /// Codes that always blame the input, so the problem has a `pointer` even when it is the root of the body.
    private static let concernsInput: Set<WriteError.Code> = [
        .unknownProperty, .missingProperty, .typeMismatch, .outOfRange, .nullNotAllowed, .keyMismatch, .primaryKeyImmutable,
        .readOnlyProperty, .linkTargetMissing, .nestedObject, .invalidDictionaryKey, .decimalNeedsString,
    ]

    /// Makes the problem without a place: its code and its detail.
    private static func plain(_ error: WriteError) -> Problem {
        switch error.code {
        case .caller:
            guard case .caller(let problem as Problem)? = error.cause else { return Problem(.internalError, "the write failed") }
            return problem
        case .query:
            guard case .query(let cause)? = error.cause else { return Problem(.invalidQuery, error.detail) }
            return Problem(cause, parameter: "where")
        case .storage:
            guard case .storage(let cause)? = error.cause else { return Problem(.internalError, "the write failed") }
            return Problem(serving: cause)
        case .realmUnavailable:
            // A write whose realm is in a cluster.
            guard case .storage(.refused(let refusal))? = error.cause, let problem = Problem.ofLog(refusal) else {
                return Problem(.realmUnavailable, error.detail)
            }
            return problem
        case .cancelled: return Problem(.internalError, "the write was cancelled before it began")
        case .overloaded where error.exceeded == .uncommittedBytesPerClient: return Problem(.rateLimited, error.detail)
        case .readOnly:
            return Problem(.readOnly, error.detail).with(header: HeaderField("Allow", "GET, HEAD, OPTIONS"))
        case .nestedObject: return Problem(.nestedObject, error.detail + "; 'nested=upsert' would create or change it")
        case .wouldLoseData: return Problem(.wouldLoseData, error.detail + "; 'allowDataLoss' permits it")
        case .duplicateKey where error.key != nil: return Problem(.duplicateKey, error.detail + "; \(Problem.upsertHint)")
        default: return Problem(ProblemCode(rawValue: error.code.rawValue) ?? .internalError, error.detail)
        }
    }

    /// The hint for updating an existing object, in the words of errors about duplicate keys.
    package static let upsertHint = "'upsert=modified' would update it"

    /// Returns counts as the text of a JSON object with a member for each.
    private static func counts(_ counts: [(name: String, count: Int)]) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginObject()
        for entry in counts {
            writer.key(entry.name)
            writer.int(entry.count)
        }
        writer.endObject()
        return writer.bytes
    }

    /// Runs a step of a write and turns its error into a problem.
    ///
    /// - Parameters:
    ///   - place: The place in the request of the input that the step writes.
    ///   - body: The step.
    package static func writing<Result>(
        _ place: InputPlace = InputPlace(), _ body: () throws(WriteError) -> Result
    ) throws(Problem) -> Result {
        do throws(WriteError) { return try body() } catch { throw Problem(error, at: place) }
    }

    /// Evaluates one expression of a write, as `writing` runs a closure.
    package static func written<Result>(
        _ body: @autoclosure () throws(WriteError) -> Result, at place: InputPlace = InputPlace()
    ) throws(Problem) -> Result {
        try writing(place, body)
    }
}
