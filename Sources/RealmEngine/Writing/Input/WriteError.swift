// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Why a write was refused or failed, with the place of the mistake in its input.
///
/// The engine says what is wrong in a code, a sentence and typed details. How that reads in an answer, status codes included,
/// is up to the layer above, which has one mapping for it.
package struct WriteError: Error, Sendable {
    /// What went wrong, with a stable word for logs.
    package enum Code: String, Sendable, CaseIterable {
        // The input does not fit the schema.
        case unknownProperty = "unknown_property"
        case missingProperty = "missing_property"
        case noPrimaryKey = "no_primary_key"
        case pathNotFound = "path_not_found"
        case invalidSchema = "invalid_schema"
        case typeMismatch = "type_mismatch"
        case outOfRange = "out_of_range"
        case nullNotAllowed = "null_not_allowed"
        case keyMismatch = "key_mismatch"
        case primaryKeyImmutable = "primary_key_immutable"
        case readOnlyProperty = "read_only_property"
        case linkTargetMissing = "link_target_missing"
        case nestedObject = "nested_object"
        case invalidDictionaryKey = "invalid_dictionary_key"
        case decimalNeedsString = "decimal_needs_string"
        // The data are in the way.
        case classNotFound = "class_not_found"
        case objectNotFound = "object_not_found"
        /// Objects of embedded classes are written inside their owners only.
        case embeddedClass = "embedded_class"
        case duplicateKey = "duplicate_key"
        case tooManyAffected = "too_many_affected"
        case patchTestFailed = "patch_test_failed"
        case assertionFailed = "assertion_failed"
        case preconditionFailed = "precondition_failed"
        case schemaVersionConflict = "schema_version_conflict"
        case wouldLoseData = "would_lose_data"
        // The writer is in the way.
        case readOnly = "read_only"
        case writeLockBusy = "write_lock_busy"
        case overloaded
        case deadlineExceeded = "deadline_exceeded"
        case cancelled
        case realmUnavailable = "realm_unavailable"
        case tooManyActiveVersions = "too_many_active_versions"
        case tooManyTransactions = "too_many_transactions"
        case transactionBusy = "transaction_busy"
        case transactionAborted = "transaction_aborted"
        case transactionExpired = "transaction_expired"
        case alreadyCommitted = "already_committed"
        case notFound = "not_found"
        // A layer below failed; `cause` is its error.
        case insufficientStorage = "insufficient_storage"
        case storage
        case query
        /// Thrown by code of the caller that ran inside the engine.
        case caller
    }

    /// The error of another layer.
    package enum Cause: Sendable {
        case storage(StorageError)
        case query(QueryError)
        /// What code of the caller threw inside the engine.
        case caller(any Error)
    }

    /// A setting that bounds writes.
    package enum Setting: Sendable {
        /// `WriteLimits.writeBytes`
        case writeBytes
    }

    /// What went wrong.
    package let code: Code
    /// Why, in words for the client.
    package var detail: String
    /// Where in the input the mistake is; empty when it is not about a part of the input.
    package var path: InputPath
    /// The key of the object in question, as text.
    package var key: String?
    /// Numbers by name, for example how many objects would be lost.
    package var counts: [(name: String, count: Int)] = []
    /// The number that was exceeded.
    package var limit: Int?
    /// The setting that this number comes from, if it is a setting.
    package var exceeded: Setting?
    /// A name that means nothing, and those that would: from which the nearest one can be suggested.
    package var misnomer: (name: String, known: [String])?
    /// When it may make sense to try again.
    package var retryAfter: Duration?
    /// The error of another layer that this one stands for.
    package var cause: Cause?

    /// An error at a place of the input.
    package init(_ code: Code, _ detail: String, path: InputPath = InputPath()) {
        self.code = code
        self.detail = detail
        self.path = path
    }

    /// What storage threw, in the words of writes.
    package init(_ error: StorageError) {
        switch error {
        case .io where error.isFullDisk:
            self.init(.insufficientStorage, "there is no room left for this write")
        case .limit(let reason): self.init(.outOfRange, reason)
        case .stopped(.expired), .stopped(.cancelled), .stopped(.handOver): self.init(.deadlineExceeded, WriteError.late)
        default: self.init(.storage, error.description)
        }
        cause = .storage(error)
    }

    /// What a query threw, in the words of writes.
    package init(_ error: QueryError) {
        switch error {
        case .storage(let error): self.init(error)
        case .cancelled: self.init(.deadlineExceeded, WriteError.late)
        default:
            self.init(.query, error.description)
            cause = .query(error)
        }
    }

    /// An error of the caller's own code, or one of the engine that went through it.
    package init(caller error: any Error) {
        switch error {
        case let error as WriteError: self = error
        case let error as StorageError: self.init(error)
        case let error as QueryError: self.init(error)
        default:
            self.init(.caller, "\(error)")
            cause = .caller(error)
        }
    }

    /// Objects of this class are written inside their owners only.
    package static func embeddedClass(_ className: String) -> WriteError {
        WriteError(.embeddedClass, "objects of the embedded class '\(className)' are written inside their owners")
    }

    /// The words for a write whose deadline has passed.
    static let late = "the write ran past its deadline and was rolled back"

    /// The same error, seen from what holds the input under `step`.
    func inside(_ step: InputPath.Step) -> WriteError {
        var error = self
        error.path = path.inside(step)
        return error
    }
}

extension WriteError: CustomStringConvertible {
    /// The code, the place and the reason, for logs.
    package var description: String {
        path.steps.isEmpty ? "\(code.rawValue): \(detail)" : "\(code.rawValue) at \(path): \(detail)"
    }
}

/// Runs something that touches storage.
@discardableResult @inline(__always)
func stored<Result>(_ body: @autoclosure () throws(StorageError) -> Result) throws(WriteError) -> Result {
    do throws(StorageError) { return try body() } catch { throw WriteError(error) }
}

/// Runs something that evaluates a query.
@discardableResult @inline(__always)
func queried<Result>(_ body: @autoclosure () throws(QueryError) -> Result) throws(WriteError) -> Result {
    do throws(QueryError) { return try body() } catch { throw WriteError(error) }
}

/// Runs something on a part of the input; its errors get the path of that part.
@discardableResult @inline(__always)
func at<Result>(
    _ step: @autoclosure () -> InputPath.Step, _ body: @autoclosure () throws(WriteError) -> Result
) throws(WriteError) -> Result {
    do throws(WriteError) { return try body() } catch { throw error.inside(step()) }
}
