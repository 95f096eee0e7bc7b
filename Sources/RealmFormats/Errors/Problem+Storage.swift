// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

extension StorageError {
    /// Whether work was stopped because its response reached its size limit: bytes, or objects shown in the place of links.
    ///
    /// A page that meets this error ends early and offers a cursor to the rest; every other error fails the request.
    package var isFullAnswer: Bool {
        switch self {
        case .stopped(.tooManyBytes), .stopped(.tooManyObjects): return true
        default: return false
        }
    }
}

extension Problem {
    /// Makes the problem for a file that could not be opened, with the status of a request to attach it.
    ///
    /// A damaged file is 422 here, although the same code is 500 when damage is found while serving: the client named a file
    /// that cannot be used. The detail may describe the file, because only an administrator can attach one.
    ///
    /// - Parameter error: The reason why the storage layer did not open the file.
    package init(opening error: StorageError) {
        switch error {
        case .refused(let refusal): self.init(refusal)
        case .corrupt:
            self.init(.fileCorrupt, error.description)
            status = 422
        case .io where error.isFullDisk: self.init(.insufficientStorage, "there is no room left for this realm")
        case .io, .limit: self.init(.filesystemUnsuitable, error.description)
        case .stopped(let stop): self.init(stop)
        }
    }

    /// Maps each reason for which the storage layer refuses a file to the code of a problem.
    private init(_ refusal: StorageError.Refusal) {
        let newest = FileHeader.writtenFormat
        switch refusal {
        case .fileNotFound: self.init(.fileNotFound, refusal.text)
        case .unsuitable: self.init(.filesystemUnsuitable, refusal.text)
        case .notARealm: self.init(.notARealm, refusal.text)
        case .encryptionKeyRequired: self.init(.encryptionKeyRequired, refusal.text)
        case .encryptionKeyWrong, .encryptionKeyMalformed: self.init(.encryptionKeyWrong, refusal.text)
        case .fileInUse: self.init(.fileInUse, refusal.text)
        case .unsound:
            self.init(.fileCorrupt, refusal.text)
            status = 422
        case .fileChanged: self.init(.fileChanged, refusal.text)
        case .unfittingOptions: self.init(.invalidSchema, refusal.text)
        case .synchronized: self.init(.fileFormatUnsupported, refusal.text)
        case .tooManyVersions: self.init(.tooManySnapshots, refusal.text)
        case .writesStopped, .notWritable: self.init(.notReady, refusal.text)
        case .notOwner, .outcomeUnknown, .logUnavailable: self = Problem.ofLog(refusal) ?? Problem(.notReady, refusal.text)
        case .formatUnsupported(let found, _): self.init(format: found, supported: FileHeader.supportedFormats, refusal)
        case .formatNotWritable(let found): self.init(format: found, supported: [newest], refusal)
        }
    }

    /// Makes `file_format_unsupported` with the members `found`, the format number of the file, and
    /// `supported`, all numbers that would have been accepted.
    private init(format found: Int, supported: [Int], _ refusal: StorageError.Refusal) {
        self.init(.fileFormatUnsupported, refusal.text)
        extensions = [
            Extension(name: "found", value: .integer(Int64(found))),
            Extension(name: "supported", value: .integers(supported.map(Int64.init))),
        ]
    }

    /// Makes the problem for damage or a failing disk during a request.
    ///
    /// The texts for statuses of 500 and above are constant: where exactly the file is damaged
    /// belongs into the log and not into a response.
    ///
    /// - Parameter error: The error of the storage layer.
    package init(serving error: StorageError) {
        if case .refused(let refusal) = error, let problem = Problem.ofLog(refusal) {
            self = problem
            return
        }
        switch error {
        case .corrupt, .refused(.unsound), .refused(.notARealm), .refused(.formatUnsupported):
            // A copy, such as a converted one for a backup, is refused for errors in the file itself.
            self.init(.fileCorrupt, "the file of this realm is damaged")
        case .limit: self.init(.outOfRange, error.description)
        case .io, .refused: self.init(.internalError, "the file of this realm cannot be read")
        case .stopped(let stop): self.init(stop)
        }
    }

    /// Makes the problem for work that a `WorkBudget` stopped: a deadline, a size limit, or missing memory for responses.
    ///
    /// - Parameter stop: The reason that the budget noted.
    package init(_ stop: WorkStop) {
        switch stop {
        case .expired, .cancelled, .handOver: self.init(.deadlineExceeded, stop.text)
        case .tooManyBytes(let limit): self = .answerTooLarge("the answer has more than \(limit) bytes", "answer-bytes", limit)
        case .noRoom(let limit, let ofPrincipal): self = .noRoomForAnswer(limit: limit, ofPrincipal: ofPrincipal)
        case .tooManyValues(let limit):
            self = .tooManyValues(limit)
        case .tooManyGroups(let limit):
            self = .answerTooLarge("the result has more than \(limit) groups", "groups", limit)
        case .tooManyObjects(let limit):
            self = .answerTooLarge("the answer expands links to more than \(limit) objects", "expanded-objects", limit)
        }
    }

    /// Makes the problem for a response that does not fit into the memory for responses that are
    /// being produced or not yet read.
    ///
    /// - Parameters:
    ///   - limit: The limit that would have been exceeded, in bytes.
    ///   - ofPrincipal: True when the limit is that of one client (429 `rate_limited`), false for
    ///     that of the whole server (503 `overloaded`).
    package static func noRoomForAnswer(limit: Int, ofPrincipal: Bool) -> Problem {
        let whose = ofPrincipal ? " of this address" : ""
        let detail = "responses\(whose) that are being produced or not yet read use all the memory set aside for them"
        return Problem.overLimit(ofPrincipal ? .rateLimited : .overloaded, detail, limit: limit)
            .with("limitName", ofPrincipal ? "unsent-bytes-per-principal" : "unsent-bytes")
    }

    /// Makes the problem for a response that would exceed one of its size limits.
    ///
    /// - Parameters:
    ///   - detail: The exceeded amount, as a clause; advice to request less is appended to it.
    ///   - name: The name of the limit on the command line, such as `answer-bytes`.
    package static func answerTooLarge(_ detail: String, _ name: String, _ limit: Int) -> Problem {
        Problem.overLimit(.answerTooLarge, detail + "; ask for less at a time, or for fewer fields", limit: limit).with(
            "limitName", name)
    }

    /// Makes the problem for a query that would keep more values than `sorted-values` allows.
    package static func tooManyValues(_ limit: Int) -> Problem {
        let detail = "the query keeps more than \(limit) values to sort, compare, find or group rows"
        let advice = "use fewer TEXT conditions, fewer groups or facets with fewer values, or fewer operations for each group"
        return Problem.overLimit(.answerTooLarge, "\(detail); select fewer rows, or \(advice)", limit: limit)
            .with("limitName", "sorted-values")
    }

    /// Runs a closure that reads a file, and converts its error into the problem for damage met while serving.
    package static func mapping<Result>(_ read: () throws(StorageError) -> Result) throws(Problem) -> Result {
        do throws(StorageError) { return try read() } catch { throw Problem(serving: error) }
    }

    /// Evaluates one expression that reads a file, as `mapping` runs a closure.
    package static func stored<Result>(_ read: @autoclosure () throws(StorageError) -> Result) throws(Problem) -> Result {
        try mapping(read)
    }
}

extension Problem {
    /// The detail for clients that may not know why a realm could not be opened.
    package static let notOpened = "the realm could not be opened"

    /// Makes the 503 `realm_unavailable` that requests receive while a realm is not open.
    ///
    /// - Parameter error: The reason why it is not open. Only a change of the file by another program is described to clients;
    ///   all other reasons stay in the log.
    package init(unavailable error: StorageError) {
        if case .refused(let refusal) = error, let problem = Problem.ofLog(refusal) {
            self = problem
            return
        }
        self.init(.realmUnavailable, error.isFileChange ? error.description : Problem.notOpened)
    }

    /// Makes the problem of requests for the contents of a realm that could not be opened.
    ///
    /// An error that lasts until the file or the key is replaced keeps its code and status, without a time to retry. A transient
    /// one is 503 `realm_unavailable`, whose member `cause` is the code.
    ///
    /// - Parameters:
    ///   - error: The reason why it could not be opened.
    ///   - refusal: The refusal of the request that attached it, although its file can be opened; nil for other reasons.
    ///   - showsAll: Whether the client may know all about the file. Others receive the code alone.
    package init(failed error: StorageError, _ refusal: Problem?, showsAll: Bool) {
        let cause = refusal ?? Problem(opening: error)
        // A refusal of a migration can have the code of any write; requests for a realm have those of their group alone.
        guard refusal.map({ $0.status < 500 && Set.ofRealms.contains($0.code) }) ?? error.isAboutContents else {
            self.init(unavailable: error)
            guard code == .realmUnavailable else { return }
            if showsAll, !error.isFileChange { detail = "\(Problem.notOpened): \(cause.detail)" }
            self = with("cause", cause.code.rawValue)
            return
        }
        self = cause
        if !showsAll {
            detail = Problem.notOpened
            extensions = []
        }
    }
}

extension Problem {
    /// Makes the problem for a write to a realm that this node could not become the owner of.
    ///
    /// - Parameter error: The failure to own it.
    package init(claiming error: StorageError) {
        if case .refused(let refusal) = error, let problem = Problem.ofLog(refusal) {
            self = problem
        } else {
            self = Problem(.notReady, "this node could not become the owner of the realm").after(seconds: 1)
        }
    }

    /// Makes the problem for a realm of a cluster that this node cannot serve or write to; nil for every other refusal.
    ///
    /// - Parameter refusal: The refusal. Messages of the client library of the log may name hosts, so they stay in the log.
    package static func ofLog(_ refusal: StorageError.Refusal) -> Problem? {
        switch refusal {
        case .notOwner(let node): return .notOwner(node)
        case .outcomeUnknown: return Problem(.outcomeUnknown, "it is unknown whether the write has happened").after(seconds: 1)
        case .logUnavailable: return Problem(.logUnavailable, "the log of the cluster cannot be reached").after(seconds: 1)
        default: return nil
        }
    }

    /// Makes `not_owner`.
    ///
    /// - Parameter node: The name of the node that serves the realm; empty when it is not known.
    package static func notOwner(_ node: String) -> Problem {
        guard !node.isEmpty else { return Problem(.notOwner, "another node serves this realm") }
        return Problem(.notOwner, "the node '\(node)' serves this realm").with("node", node)
    }

    /// The problem with the time after which another attempt makes sense.
    private func after(seconds: Int) -> Problem {
        var problem = self
        problem.retryAfterSeconds = seconds
        return problem
    }
}
