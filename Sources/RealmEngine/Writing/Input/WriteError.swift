// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery

/// Why a write was rejected or failed, with the place of the error in its input.
///
/// The engine describes an error by a code, a sentence and typed details. The HTTP layer decides how it appears in a response.
package struct WriteError: Error, Sendable {
    /// The kinds of errors. Raw values are codes of problems, but for `cancelled` and the errors of other layers.
    package enum Code: String, Sendable, CaseIterable {
        /// The input names a property that the class does not have.
        case unknownProperty = "unknown_property"
        /// The input lacks a required property or primary key.
        case missingProperty = "missing_property"
        /// The operation needs a primary key, and the class has none.
        case noPrimaryKey = "no_primary_key"
        /// A path of a patch or an element operation leads to nothing.
        case pathNotFound = "path_not_found"
        /// A schema, or a step of a migration, breaks the rules.
        case invalidSchema = "invalid_schema"
        /// A value is of another type than its property.
        case typeMismatch = "type_mismatch"
        /// A number, text or nesting exceeds what can be stored.
        case outOfRange = "out_of_range"
        case nullNotAllowed = "null_not_allowed"
        /// The primary key in the body differs from that of the address.
        case keyMismatch = "key_mismatch"
        /// The write would change the primary key of an existing object.
        case primaryKeyImmutable = "primary_key_immutable"
        /// The member is computed, as linking objects are, and cannot be written.
        case readOnlyProperty = "read_only_property"
        /// A link refers to an object or class that does not exist.
        case linkTargetMissing = "link_target_missing"
        /// A whole object was given in place of a link without the option for it.
        case nestedObject = "nested_object"
        /// A dictionary key contains a dot or starts with `$`.
        case invalidDictionaryKey = "invalid_dictionary_key"
        /// A decimal with a fraction was given as a number instead of a text.
        case decimalNeedsString = "decimal_needs_string"
        case classNotFound = "class_not_found"
        /// There is no object with the given key.
        case objectNotFound = "object_not_found"
        /// The class is embedded; its objects are written inside their owners only.
        case embeddedClass = "method_not_allowed"
        /// Another object has the same primary key.
        case duplicateKey = "duplicate_key"
        /// The write would change more objects or bytes than allowed.
        case tooManyAffected = "too_many_affected"
        /// A test operation of a JSON Patch found another value.
        case patchTestFailed = "patch_test_failed"
        /// An assertion about objects does not hold.
        case assertionFailed = "assertion_failed"
        /// The realm or object has another version than the write expects.
        case preconditionFailed = "precondition_failed"
        /// The schema version is not the expected one, or the schema needs more than additions.
        case schemaVersionConflict = "schema_version_conflict"
        /// The migration would lose data, which is not allowed.
        case wouldLoseData = "would_lose_data"
        /// The roles of the sender do not allow the write, or what it would leave behind.
        case forbidden
        /// The file or the server accepts no writes.
        case readOnly = "read_only"
        /// An interactive transaction holds the writer.
        case writeLockBusy = "write_lock_busy"
        /// Too many writes are waiting or take too much memory together, or the system has no thread for the writer.
        case overloaded
        /// The write did not end before its deadline, and was rolled back.
        case deadlineExceeded = "deadline_exceeded"
        /// The write was cancelled, and was rolled back or never started.
        case cancelled
        /// The realm is being closed, checked or failed.
        case realmUnavailable = "realm_unavailable"
        /// More versions are in use than allowed.
        case tooManyActiveVersions = "too_many_active_versions"
        /// The client has too many interactive transactions.
        case tooManyTransactions = "too_many_transactions"
        /// Another request is running in the transaction.
        case transactionBusy = "transaction_busy"
        /// A write of the transaction failed, so that it was rolled back.
        case transactionAborted = "transaction_aborted"
        /// The lease of the transaction has ended, so that it was rolled back.
        case transactionExpired = "transaction_expired"
        /// The interactive transaction is already committed, so nothing more can be done in it.
        case alreadyCommitted = "already_committed"
        /// There is no transaction, asynchronous write or property with the given name.
        case notFound = "not_found"
        /// The disk has no room; `cause` is the error of storage.
        case insufficientStorage = "insufficient_storage"
        /// Storage failed; `cause` is its error.
        case storage
        /// A query failed; `cause` is its error.
        case query
        /// Code of the caller that ran inside the engine threw an error, which is in `cause`.
        case caller
    }

    /// The error of another layer that a write error wraps.
    package enum Cause: Sendable {
        /// An error of the storage layer.
        case storage(StorageError)
        /// An error of the query layer.
        case query(QueryError)
        /// An error that code of the caller threw inside the engine.
        case caller(any Error)
    }

    /// A setting of the server that limits writes.
    package enum Setting: Sendable {
        /// The setting `WriteLimits.writeBytes`.
        case writeBytes
        /// The setting `WriteLimits.uncommittedBytes`.
        case uncommittedBytes
        /// The setting `WriteLimits.uncommittedBytesPerClient`.
        case uncommittedBytesPerClient
        /// The setting `WriteLimits.migrationRounds`.
        case migrationRounds
    }

    /// The kind of error, from which the HTTP layer derives the status code.
    package var code: Code
    /// The reason, as a sentence for the client.
    package var detail: String
    /// The place of the error in the input; empty when it does not concern a part of the input.
    package var path: InputPath
    /// The key text of the object that the error concerns.
    package var key: String?
    /// The object that breaks a rule, for the caller alone; nil for other errors.
    package var object: ObjectPlace?
    /// Numbers with their names, for example how many objects would be lost.
    package var counts: [(name: String, count: Int)] = []
    /// The limit that was exceeded.
    package var limit: Int?
    /// The setting that `limit` comes from, if it is one.
    package var exceeded: Setting?
    /// An unknown name together with the known ones, from which the nearest one can be suggested.
    package var unknownName: (name: String, known: [String])?
    /// The time after which another attempt may succeed.
    package var retryAfter: Duration?
    /// The error of another layer that this error wraps.
    package var cause: Cause?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - detail: The reason, as a sentence for the client.
    ///   - path: The place in the input.
    package init(_ code: Code, _ detail: String, path: InputPath = InputPath()) {
        self.code = code
        self.detail = detail
        self.path = path
    }

    /// Converts an error of storage. A full disk, an exceeded limit and an expired budget get codes of their own.
    package init(_ error: StorageError) {
        switch error {
        case .io where error.isFullDisk:
            self.init(.insufficientStorage, "there is no room left for this write")
        case .limit(let reason): self.init(.outOfRange, reason)
        case .stopped(.expired), .stopped(.cancelled), .stopped(.handOver): self.init(.deadlineExceeded, WriteError.late)
        case .refused(.notOwner), .refused(.outcomeUnknown), .refused(.logUnavailable):
            self.init(.realmUnavailable, error.description)
        default: self.init(.storage, error.description)
        }
        cause = .storage(error)
    }

    /// Converts an error of a query. Errors of storage inside it are converted as such.
    package init(_ error: QueryError) {
        switch error {
        case .storage(let error): self.init(error)
        case .cancelled: self.init(.deadlineExceeded, WriteError.late)
        default:
            self.init(.query, error.description)
            cause = .query(error)
        }
    }

    /// Converts an error of a closure: one of the engine remains as it is, any other becomes `caller`.
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

    /// Makes the error for a top-level operation on a class whose objects are written inside their owners.
    package static func embeddedClass(_ className: String) -> WriteError {
        WriteError(.embeddedClass, "objects of the embedded class '\(className)' are written inside their owners")
    }

    /// The detail of the error for a write whose deadline has passed.
    static let late = "the write ran past its deadline and was rolled back"

    /// Returns the same error as seen from the input that contains this one.
    ///
    /// - Parameter step: The step from the containing input to this one.
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

/// Runs an operation of storage, and converts its error to a `WriteError`.
@discardableResult @inline(__always)
func stored<Result>(_ body: @autoclosure () throws(StorageError) -> Result) throws(WriteError) -> Result {
    do throws(StorageError) { return try body() } catch { throw WriteError(error) }
}

/// Runs an operation of the query layer, and converts its error to a `WriteError`.
@discardableResult @inline(__always)
func queried<Result>(_ body: @autoclosure () throws(QueryError) -> Result) throws(WriteError) -> Result {
    do throws(QueryError) { return try body() } catch { throw WriteError(error) }
}

/// Runs an operation on a part of the input, and adds the step to that part to the path of its error.
///
/// - Parameters:
///   - step: The step from the present input to its part; evaluated for an error only.
///   - body: The operation.
@discardableResult @inline(__always)
func at<Result>(
    _ step: @autoclosure () -> InputPath.Step, _ body: @autoclosure () throws(WriteError) -> Result
) throws(WriteError) -> Result {
    do throws(WriteError) { return try body() } catch { throw error.inside(step()) }
}
