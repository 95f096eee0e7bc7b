// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The codes of problems by what causes them.
///
/// An operation names the groups that concern it, and so every code that it can answer. The API
/// description lists the codes of an operation and derives its error statuses from them; tests
/// check each problem that a server answers against the list of its operation.
extension Set<ProblemCode> {
    /// What any request at all can be answered with: errors in its head, limits of the server, and
    /// failures of the server itself.
    package static let ofAnyRequest: Set = [
        .malformedRequest, .unknownParameter, .invalidParameter, .conflictingParameters, .forbidden, .crossOrigin,
        .methodNotAllowed, .notAcceptable, .notFound, .requestTimeout, .bodyTooLarge, .uriTooLong, .unsupportedMediaType,
        .hostNotAllowed, .rateLimited, .headersTooLarge, .internalError, .notImplemented, .shuttingDown, .overloaded,
        .deadlineExceeded, .answerTooLarge, .unauthenticated, .auditUnavailable,
    ]

    /// Bodies that are read as JSON, or as lines of it.
    package static let ofBodies: Set = [.invalidJSON, .invalidBody]

    /// Requests that name a realm: it does not exist, is being opened, cannot be served, or was refused with its schema after its
    /// request had been answered.
    package static let ofRealms: Set = ofSchemas.union([
        .realmNotFound, .realmUnavailable, .notReady, .fileChanged, .fileCorrupt, .fileNotFound, .notARealm,
        .encryptionKeyRequired, .encryptionKeyWrong, .fileFormatUnsupported, .filesystemUnsuitable, .fileInUse,
        .tooManyActiveVersions, .insufficientStorage, .notOwner, .outcomeUnknown, .logUnavailable,
    ])

    /// Reads of contents, which may name a snapshot, a transaction or a version to wait for.
    package static let ofReads: Set = ofRealms.union([
        .snapshotExpired, .transactionExpired, .transactionBusy, .transactionAborted, .transactionsDisabled,
        .alreadyCommitted, .preconditionFailed, .classNotFound,
    ])

    /// Predicates with their arguments, and the other parameters of selections.
    package static let ofQueries: Set = [
        .invalidQuery, .unknownKeyPath, .cursorInvalid, .objectNotFound, .sectionNotFound, .typeMismatch, .unknownProperty,
        .aggregateOverflow, .outOfRange,
    ]

    /// Requests that name an object by its key, and perhaps one of its properties.
    package static let ofObjects: Set = [
        .objectNotFound, .noPrimaryKey, .typeMismatch, .outOfRange, .unknownProperty, .pathNotFound,
    ]

    /// All writes: the state of the realm and of the transaction that a write belongs to, and what one commit may change.
    package static let ofWrites: Set = ofReads.union([
        .readOnly, .writeLockBusy, .preconditionRequired, .idempotencyInProgress, .idempotencyKeyReused, .tooManyTransactions,
        .subscriptionExpired, .tooManyAffected,
    ])

    /// Values that are written, and what they may be refused for.
    package static let ofValues: Set = [
        .unknownProperty, .missingProperty, .noPrimaryKey, .pathNotFound, .typeMismatch, .outOfRange, .nullNotAllowed,
        .keyMismatch, .primaryKeyImmutable, .readOnlyProperty, .linkTargetMissing, .nestedObject, .invalidDictionaryKey,
        .decimalNeedsString, .duplicateKey, .objectNotFound,
    ]

    /// Batches, which may select, patch and assert.
    package static let ofBatches: Set = [.missingWhere, .tooManyAffected, .patchTestFailed, .assertionFailed]

    /// Changes of a schema and their migrations.
    package static let ofSchemas: Set = [.invalidSchema, .schemaVersionConflict, .wouldLoseData]

    /// Streams, polls and registrations of changes.
    package static let ofChanges: Set = ofReads.union(ofQueries).union(ofObjects).union([.subscriptionExpired, .tooManyStreams])

    /// Files that are attached, created or deleted.
    package static let ofFiles: Set = [
        .pathNotAllowed, .alreadyAttached, .fileExists, .notOwned, .tooManyRealms,
    ]
}
