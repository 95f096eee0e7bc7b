// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The machine-readable kinds of problems. The raw value of a case is the member `code` of a
/// problem document.
///
/// Codes are part of the interface: they are never renamed, and none is ever used again for
/// something else. The comment of a case states its usual HTTP status; see `status`.
package enum ProblemCode: String, Sendable, CaseIterable {
    /// 400: the request line or the header section breaks the rules of HTTP.
    case malformedRequest = "malformed_request"
    /// 400: the body is empty, is no valid JSON, or nests too deeply.
    case invalidJSON = "invalid_json"
    /// 400: the body is valid JSON of another shape than its endpoint takes.
    case invalidBody = "invalid_body"
    /// 400: a query does not parse, or does not fit the class that it is about.
    case invalidQuery = "invalid_query"
    /// 400: the URL, or a query in a body, has a parameter that the endpoint does not know.
    case unknownParameter = "unknown_parameter"
    /// 400: a parameter or header field has a value that it cannot have.
    case invalidParameter = "invalid_parameter"
    /// 400: two parameters exclude each other.
    case conflictingParameters = "conflicting_parameters"
    /// 400: the cursor of a page is damaged, or belongs to another query.
    case cursorInvalid = "cursor_invalid"
    /// 400: a query, a sort or a list of fields names a property that does not exist.
    case unknownKeyPath = "unknown_key_path"
    /// 400: a write to many objects does not state which ones.
    case missingWhere = "missing_where"
    /// 401: the request comes from where the server grants nothing without credentials.
    case unauthenticated
    /// 403: the client may read, but not do what this request asks for.
    case forbidden
    /// 403: a web page of an origin that is not allowed made the browser send this request.
    case crossOrigin = "cross_origin"
    /// 403: the server was started without interactive transactions.
    case transactionsDisabled = "transactions_disabled"
    /// 403: a realm cannot be attached from a path outside of the permitted folders.
    case pathNotAllowed = "path_not_allowed"
    /// 404: no realm of this name is served.
    case realmNotFound = "realm_not_found"
    /// 404: the realm has no class of this name.
    case classNotFound = "class_not_found"
    /// 404: the class has no object with this key.
    case objectNotFound = "object_not_found"
    /// 404: a sectioned result has no section of the requested key.
    case sectionNotFound = "section_not_found"
    /// 404: there is nothing at this path, or no such lease, registration or property.
    case notFound = "not_found"
    /// 404: the file of a realm that is to be attached does not exist.
    case fileNotFound = "file_not_found"
    /// 405: the path does not offer this method; `Allow` lists those that it does.
    case methodNotAllowed = "method_not_allowed"
    /// 405: a write to a realm that is served for reading only.
    case readOnly = "read_only"
    /// 406: the client accepts no media type that the path can produce.
    case notAcceptable = "not_acceptable"
    /// 408: the request was sent too slowly. Slow work of the server is never reported with it.
    case requestTimeout = "request_timeout"
    /// 409: another object has this primary key already.
    case duplicateKey = "duplicate_key"
    /// 409: a write matches or changes more than its limit; nothing was written.
    case tooManyAffected = "too_many_affected"
    /// 409: a `test` operation of a JSON Patch found another value.
    case patchTestFailed = "patch_test_failed"
    /// 409: an `assert` operation of a batch is not fulfilled.
    case assertionFailed = "assertion_failed"
    /// 409: another request is running in the same interactive transaction.
    case transactionBusy = "transaction_busy"
    /// 409: an earlier write of the interactive transaction failed and rolled it back.
    case transactionAborted = "transaction_aborted"
    /// 409: the first request with this `Idempotency-Key` is still running.
    case idempotencyInProgress = "idempotency_in_progress"
    /// 409: a migration was made for another schema version than the realm has.
    case schemaVersionConflict = "schema_version_conflict"
    /// 409: a schema change would delete data, and the request does not permit that.
    case wouldLoseData = "would_lose_data"
    /// 409: the transaction, or the asynchronous write, was committed before.
    case alreadyCommitted = "already_committed"
    /// 409: a realm of this name is served already.
    case alreadyAttached = "already_attached"
    /// 409: a realm is to be created at a path where there is a file.
    case fileExists = "file_exists"
    /// 409: another program has the file open in a way that excludes this server.
    case fileInUse = "file_in_use"
    /// 409: the server is to delete a file that does not belong to it.
    case notOwned = "not_owned"
    /// 410: the snapshot was valid and has ended.
    case snapshotExpired = "snapshot_expired"
    /// 410: the lease of the interactive transaction ended, and it was rolled back.
    case transactionExpired = "transaction_expired"
    /// 410: the registration of subscriptions was valid and has ended.
    case subscriptionExpired = "subscription_expired"
    /// 412: a condition such as `If-Match` is not fulfilled.
    case preconditionFailed = "precondition_failed"
    /// 413: the body, or the number of values or operations in it, exceeds a limit.
    case bodyTooLarge = "body_too_large"
    /// 414: the request target is too long or has too many parameters.
    case uriTooLong = "uri_too_long"
    /// 415: the endpoint does not take bodies of this media type or content coding.
    case unsupportedMediaType = "unsupported_media_type"
    /// 416: the part that `Range` asks for lies beyond the end of the data.
    case rangeNotSatisfiable = "range_not_satisfiable"
    /// 421: the host name of the request is not one that the server answers to.
    case hostNotAllowed = "host_not_allowed"
    /// 421: another node of the cluster serves this realm.
    case notOwner = "not_owner"
    /// 422: an object in a body has a member that is no property of its class.
    case unknownProperty = "unknown_property"
    /// 422: an object to be created lacks a property that cannot be null.
    case missingProperty = "missing_property"
    /// 422: the operation finds objects by primary key, and the class has none.
    case noPrimaryKey = "no_primary_key"
    /// 422: an element operation names a place that the collection does not have.
    case pathNotFound = "path_not_found"
    /// 422: a class or a property cannot be declared like this.
    case invalidSchema = "invalid_schema"
    /// 422: the server was started without what the request needs: a configuration file or a data folder.
    case invalidConfiguration = "invalid_configuration"
    /// 422: a value has another type than its property.
    case typeMismatch = "type_mismatch"
    /// 422: a number, date or text is beyond what the type can hold.
    case outOfRange = "out_of_range"
    /// 422: null was given for a value that cannot be null.
    case nullNotAllowed = "null_not_allowed"
    /// 422: the primary key in the body differs from the key in the URL.
    case keyMismatch = "key_mismatch"
    /// 422: a write would change the primary key of an object.
    case primaryKeyImmutable = "primary_key_immutable"
    /// 422: a write to linking objects, which follow from links and cannot be written.
    case readOnlyProperty = "read_only_property"
    /// 422: a link names a class, a key or a reference that does not exist.
    case linkTargetMissing = "link_target_missing"
    /// 422: an object was given in the place of a link without asking for nested objects.
    case nestedObject = "nested_object"
    /// 422: the key of a dictionary begins with `$` or contains a dot.
    case invalidDictionaryKey = "invalid_dictionary_key"
    /// 422: a decimal with a fraction or an exponent has to be given as a string.
    case decimalNeedsString = "decimal_needs_string"
    /// 422: the `Idempotency-Key` belongs to another request.
    case idempotencyKeyReused = "idempotency_key_reused"
    /// 422: a sum does not fit into 64 bits.
    case aggregateOverflow = "aggregate_overflow"
    /// 422: the response would exceed a size limit; the client has to ask for less.
    case answerTooLarge = "answer_too_large"
    /// 422: the file to be attached is no Realm file.
    case notARealm = "not_a_realm"
    /// 422: the file to be attached is encrypted, and no key was given.
    case encryptionKeyRequired = "encryption_key_required"
    /// 422: the encryption key does not fit the file, or is malformed.
    case encryptionKeyWrong = "encryption_key_wrong"
    /// 422: the format of the file cannot be read, or not be written.
    case fileFormatUnsupported = "file_format_unsupported"
    /// 422: the file, or the place where it is, does not allow to serve it safely.
    case filesystemUnsuitable = "filesystem_unsuitable"
    /// 500 when damage is met while serving, 422 when a damaged file is to be attached.
    case fileCorrupt = "file_corrupt"
    /// 423: another writer holds the realm for longer than the request may wait.
    case writeLockBusy = "write_lock_busy"
    /// 428: writes to this class need `If-Match` or `If-None-Match`.
    case preconditionRequired = "precondition_required"
    /// 429: this client exceeded its rate, or its share of connections or memory.
    case rateLimited = "rate_limited"
    /// 429: the realm or the client has as many snapshots as it may have.
    case tooManySnapshots = "too_many_snapshots"
    /// 429: the client has as many streams or registrations as it may have.
    case tooManyStreams = "too_many_streams"
    /// 429: the server serves as many realms as it may.
    case tooManyRealms = "too_many_realms"
    /// 429: the client has as many interactive transactions, open or waiting, as it may have.
    case tooManyTransactions = "too_many_transactions"
    /// 431: the header section has too many bytes or fields.
    case headersTooLarge = "headers_too_large"
    /// 500: an error of the server, whose description is in the log only.
    case internalError = "internal_error"
    /// 501: the method or the transfer coding of the request is not known.
    case notImplemented = "not_implemented"
    /// 503: the server is starting, or the realm cannot be written to at the moment.
    case notReady = "not_ready"
    /// 503: the server is about to end and takes no new requests.
    case shuttingDown = "shutting_down"
    /// 503: the server has no free worker, connection or memory for this request.
    case overloaded
    /// 503: the realm is not open, for instance because its file changed.
    case realmUnavailable = "realm_unavailable"
    /// 503: it is unknown whether a write has happened; it is there once or not at all.
    case outcomeUnknown = "outcome_unknown"
    /// 503: the log of the cluster cannot be reached; the write has not happened.
    case logUnavailable = "log_unavailable"
    /// 503: another program changed the file of the realm while it was served.
    case fileChanged = "file_changed"
    /// 503: so many old versions are being read that no new one is written.
    case tooManyActiveVersions = "too_many_active_versions"
    /// 504: the work took longer than the server allows; a write was rolled back.
    case deadlineExceeded = "deadline_exceeded"
    /// 503: the request would have to be recorded in the audit log, which cannot be written.
    case auditUnavailable = "audit_unavailable"
    /// 507: there is no disk space for a write or for the body of a request.
    case insufficientStorage = "insufficient_storage"
}

extension ProblemCode {
    /// The HTTP status that a problem of this code has unless the place that raises it sets
    /// another.
    ///
    /// `fileCorrupt` is 500 here, for damage that is met while serving; opening a damaged file sets
    /// 422.
    package var status: Int {
        switch self {
        case .malformedRequest, .invalidJSON, .invalidBody, .invalidQuery, .unknownParameter, .invalidParameter,
            .conflictingParameters,
            .cursorInvalid, .unknownKeyPath, .missingWhere:
            return 400
        case .unauthenticated: return 401
        case .forbidden, .crossOrigin, .transactionsDisabled, .pathNotAllowed: return 403
        case .realmNotFound, .classNotFound, .objectNotFound, .sectionNotFound, .notFound, .fileNotFound: return 404
        case .methodNotAllowed, .readOnly: return 405
        case .notAcceptable: return 406
        case .requestTimeout: return 408
        case .duplicateKey, .tooManyAffected, .patchTestFailed, .assertionFailed, .transactionBusy, .transactionAborted,
            .idempotencyInProgress, .schemaVersionConflict, .wouldLoseData, .alreadyCommitted, .alreadyAttached,
            .fileExists, .fileInUse, .notOwned:
            return 409
        case .snapshotExpired, .transactionExpired, .subscriptionExpired: return 410
        case .preconditionFailed: return 412
        case .bodyTooLarge: return 413
        case .uriTooLong: return 414
        case .unsupportedMediaType: return 415
        case .rangeNotSatisfiable: return 416
        case .hostNotAllowed, .notOwner: return 421
        case .unknownProperty, .missingProperty, .noPrimaryKey, .pathNotFound, .invalidSchema, .invalidConfiguration,
            .typeMismatch, .outOfRange,
            .nullNotAllowed, .keyMismatch, .primaryKeyImmutable, .readOnlyProperty, .linkTargetMissing, .nestedObject,
            .invalidDictionaryKey, .decimalNeedsString, .idempotencyKeyReused, .aggregateOverflow, .answerTooLarge, .notARealm,
            .encryptionKeyRequired, .encryptionKeyWrong, .fileFormatUnsupported, .filesystemUnsuitable:
            return 422
        case .writeLockBusy: return 423
        case .preconditionRequired: return 428
        case .rateLimited, .tooManySnapshots, .tooManyStreams, .tooManyRealms, .tooManyTransactions: return 429
        case .headersTooLarge: return 431
        case .internalError, .fileCorrupt: return 500
        case .notImplemented: return 501
        case .notReady, .shuttingDown, .overloaded, .realmUnavailable, .fileChanged, .tooManyActiveVersions, .auditUnavailable,
            .outcomeUnknown, .logUnavailable:
            return 503
        case .deadlineExceeded: return 504
        case .insufficientStorage: return 507
        }
    }

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

    /// Whether responses with this code carry `Retry-After`: those whose usual status is 423, 429
    /// or 503.
    package var hasRetryAfter: Bool { [423, 429, 503].contains(status) }
}

extension String {
    /// Returns this text with every occurrence of `character` replaced by `other`.
    fileprivate func replacing(_ character: Character, with other: Character) -> String {
        String(map { $0 == character ? other : $0 })
    }
}
