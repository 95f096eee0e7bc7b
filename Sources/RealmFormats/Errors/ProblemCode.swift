// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The machine-readable kinds of problems. The raw value of a case is the member `code` of a problem document.
///
/// Codes are part of the interface: they are never renamed, and none is ever used again for
/// something else. `row` has the status, the groups and the texts of each.
package enum ProblemCode: String, Sendable, CaseIterable {
    case malformedRequest = "malformed_request"
    case invalidJSON = "invalid_json"
    case invalidBody = "invalid_body"
    case invalidQuery = "invalid_query"
    case unknownParameter = "unknown_parameter"
    case invalidParameter = "invalid_parameter"
    case conflictingParameters = "conflicting_parameters"
    case cursorInvalid = "cursor_invalid"
    case unknownKeyPath = "unknown_key_path"
    case missingWhere = "missing_where"
    case unauthenticated
    case forbidden
    case crossOrigin = "cross_origin"
    case transactionsDisabled = "transactions_disabled"
    case pathNotAllowed = "path_not_allowed"
    case realmNotFound = "realm_not_found"
    case classNotFound = "class_not_found"
    case objectNotFound = "object_not_found"
    case sectionNotFound = "section_not_found"
    case notFound = "not_found"
    case fileNotFound = "file_not_found"
    case methodNotAllowed = "method_not_allowed"
    case readOnly = "read_only"
    case notAcceptable = "not_acceptable"
    case requestTimeout = "request_timeout"
    case duplicateKey = "duplicate_key"
    case tooManyAffected = "too_many_affected"
    case patchTestFailed = "patch_test_failed"
    case assertionFailed = "assertion_failed"
    case transactionBusy = "transaction_busy"
    case transactionAborted = "transaction_aborted"
    case conflict
    case idempotencyInProgress = "idempotency_in_progress"
    case schemaVersionConflict = "schema_version_conflict"
    case wouldLoseData = "would_lose_data"
    case alreadyCommitted = "already_committed"
    case alreadyAttached = "already_attached"
    case fileExists = "file_exists"
    case fileInUse = "file_in_use"
    case notOwned = "not_owned"
    case versionNotFound = "version_not_found"
    case snapshotExpired = "snapshot_expired"
    case transactionExpired = "transaction_expired"
    case subscriptionExpired = "subscription_expired"
    case preconditionFailed = "precondition_failed"
    case bodyTooLarge = "body_too_large"
    case uriTooLong = "uri_too_long"
    case unsupportedMediaType = "unsupported_media_type"
    case rangeNotSatisfiable = "range_not_satisfiable"
    case hostNotAllowed = "host_not_allowed"
    case notOwner = "not_owner"
    case unknownProperty = "unknown_property"
    case missingProperty = "missing_property"
    case noPrimaryKey = "no_primary_key"
    case notRestorable = "not_restorable"
    case valueLost = "value_lost"
    case valueUnproven = "value_unproven"
    case pathNotFound = "path_not_found"
    case invalidSchema = "invalid_schema"
    case invalidConfiguration = "invalid_configuration"
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
    case idempotencyKeyReused = "idempotency_key_reused"
    case aggregateOverflow = "aggregate_overflow"
    case answerTooLarge = "answer_too_large"
    case notARealm = "not_a_realm"
    case encryptionKeyRequired = "encryption_key_required"
    case encryptionKeyWrong = "encryption_key_wrong"
    case fileFormatUnsupported = "file_format_unsupported"
    case filesystemUnsuitable = "filesystem_unsuitable"
    case fileCorrupt = "file_corrupt"
    case writeLockBusy = "write_lock_busy"
    case preconditionRequired = "precondition_required"
    case rateLimited = "rate_limited"
    case tooManySnapshots = "too_many_snapshots"
    case tooManyStreams = "too_many_streams"
    case tooManyRealms = "too_many_realms"
    case tooManyTransactions = "too_many_transactions"
    case headersTooLarge = "headers_too_large"
    case internalError = "internal_error"
    case notImplemented = "not_implemented"
    case notReady = "not_ready"
    case shuttingDown = "shutting_down"
    case overloaded
    case realmUnavailable = "realm_unavailable"
    case outcomeUnknown = "outcome_unknown"
    case logUnavailable = "log_unavailable"
    case fileChanged = "file_changed"
    case tooManyActiveVersions = "too_many_active_versions"
    case deadlineExceeded = "deadline_exceeded"
    case auditUnavailable = "audit_unavailable"
    case insufficientStorage = "insufficient_storage"
}

extension ProblemCode {
    /// The constant title of the code for people: the words of the raw value with a capital letter,
    /// apart from a few exceptions.
    package var title: String {
        switch self {
        case .invalidJSON: return "Invalid JSON"
        case .uriTooLong: return "Request target too long"
        case .notARealm: return "Not a Realm file"
        case .missingWhere: return "Missing 'where'"
        default:
            let words = rawValue.replacing("_", with: " ")
            return words.prefix(1).uppercased() + words.dropFirst()
        }
    }

    /// Whether responses with this code carry `Retry-After`: those whose usual status is 423, 429 or 503.
    package var hasRetryAfter: Bool { [423, 429, 503].contains(status) }
}

extension String {
    /// Returns this text with every occurrence of `character` replaced by `other`.
    fileprivate func replacing(_ character: Character, with other: Character) -> String {
        String(map { $0 == character ? other : $0 })
    }
}
