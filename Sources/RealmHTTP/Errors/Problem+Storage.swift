// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

extension StorageError {
    /// Whether an answer has as much in it as it may have.
    package var isFullAnswer: Bool {
        switch self {
        case .stopped(.tooManyBytes), .stopped(.tooManyObjects): return true
        default: return false
        }
    }
}

extension Problem {
    /// Why a file could not be opened, with the status that attaching it answers.
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
        case .synchronized: self.init(.fileFormatUnsupported, refusal.text)
        case .tooManyVersions: self.init(.tooManySnapshots, refusal.text)
        case .writesStopped, .notWritable: self.init(.notReady, refusal.text)
        case .formatUnsupported(let found, _): self.init(format: found, supported: FileHeader.supportedFormats, refusal)
        case .formatNotWritable(let found): self.init(format: found, supported: newest...newest, refusal)
        }
    }

    private init(format found: Int, supported: ClosedRange<Int>, _ refusal: StorageError.Refusal) {
        self.init(.fileFormatUnsupported, refusal.text)
        extensions = [
            Extension(name: "found", value: .integer(Int64(found))),
            Extension(name: "supported", value: .integers(supported.map(Int64.init))),
        ]
    }

    /// Damage or a failing disk met while serving. Where exactly is for the log, not for the client.
    package init(serving error: StorageError) {
        switch error {
        case .corrupt: self.init(.fileCorrupt, "the file of this realm is damaged")
        case .limit: self.init(.outOfRange, error.description)
        case .io, .refused: self.init(.internalError, "the file of this realm cannot be read")
        case .stopped(let stop): self.init(stop)
        }
    }

    /// Why the making of an answer was given up.
    package init(_ stop: WorkStop) {
        switch stop {
        case .expired, .cancelled, .handOver: self.init(.deadlineExceeded, stop.text)
        case .tooManyBytes(let limit): self = .answerTooLarge("the answer has more than \(limit) bytes", "answer-bytes", limit)
        case .noRoom(let limit, let ofPrincipal): self = .noRoomForAnswer(limit: limit, ofPrincipal: ofPrincipal)
        case .tooManyValues(let limit):
            self = .answerTooLarge(
                "the query keeps more than \(limit) values to sort rows or to tell them apart", "sorted-values", limit)
        case .tooManyObjects(let limit):
            self = .answerTooLarge("the answer expands links to more than \(limit) objects", "expanded-objects", limit)
        }
    }

    /// Answers that are made, or that clients have not read yet, take all the memory that there is for them.
    static func noRoomForAnswer(limit: Int, ofPrincipal: Bool) -> Problem {
        let whose = ofPrincipal ? " of this address" : ""
        let detail = "answers\(whose) that are being made, or were not read yet, take all the memory that there is for them"
        return Problem.overLimit(ofPrincipal ? .rateLimited : .overloaded, detail, limit: limit)
            .with("limitName", ofPrincipal ? "unsent-bytes-per-principal" : "unsent-bytes")
    }

    /// `limit` is the value of the bound that is called `name` on the command line.
    package static func answerTooLarge(_ detail: String, _ name: String, _ limit: Int) -> Problem {
        Problem.overLimit(.answerTooLarge, detail + "; ask for less at a time, or for fewer fields", limit: limit).with(
            "limitName", name)
    }

    /// Runs something that reads storage.
    package static func mapping<Result>(_ read: () throws(StorageError) -> Result) throws(Problem) -> Result {
        do throws(StorageError) {
            return try read()
        } catch {
            throw Problem(serving: error)
        }
    }
}

extension Problem {
    /// What is told of a realm that is not open because of `error`.
    init(unavailable error: StorageError) {
        self.init(.realmUnavailable, error.isFileChange ? error.description : "the realm could not be opened")
    }
}
