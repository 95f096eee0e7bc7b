// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension ProblemCode {
    /// The HTTP status that a problem of this code has unless the place that raises it sets another.
    package var status: Int { row.status }

    /// The meaning of the problem, in a sentence. Code is between backticks.
    package var meaning: String { row.meaning }

    /// The fix of the problem, in a few sentences. Code is between backticks.
    package var remedy: String { row.remedy }

    /// All that is known of a code. The status of `fileCorrupt` is for damage that is met while serving; opening a damaged file
    /// sets 422.
    // swift-format-ignore
    var row: (status: Int, groups: ProblemGroups, meaning: String, remedy: String) {
        switch self {
        case .malformedRequest: (400, .any, "The request line or the header section breaks the rules of HTTP.", """
            Send the request with an HTTP client library. Typical causes by hand are blanks in the path, which are written \
            `%20`, line breaks in header fields, or plain HTTP sent to a port that takes https.
            """)
        case .invalidJSON: (400, .bodies, "The body is empty, is not valid JSON, or nests too deeply.", """
            `detail` names the place in the body. Check for a missing brace, a comma after the last member, single quotes, or a \
            body that a shell has changed: with curl use `--data-binary @file`.
            """)
        case .invalidBody: (400, .bodies, "The body is valid JSON, but of another shape than this path takes.",
            "`pointer` leads to the part that does not fit. The API description shows the form of the body for each request.")
        case .invalidQuery: (400, .queries, "The query does not parse, or does not fit the class that it is about.", """
            `position` is the place in the query, counted in characters, and `detail` says what is expected there. Strings go in \
            quotes; programs best send values as arguments `$0`, `$1` in `args`.
            """)
        case .unknownParameter: (400, .any, "The URL, or a query in a body, has a parameter that this path does not know.", """
            `parameter` is its name, `known` lists those that there are, and `detail` says which one was probably meant. Nothing \
            is ignored silently, because a mistyped filter would show everything.
            """)
        case .invalidParameter: (400, .any, "A parameter or a header field has an invalid value.", """
            `parameter` or `header` names it, and `detail` says which values are possible. Values in URLs are percent-encoded: \
            write `%2B` for a plus sign.
            """)
        case .conflictingParameters: (400, .any, "Two parameters of the request cannot be combined.",
            "Leave out the one that `parameter` names, or send two requests.")
        case .cursorInvalid: (400, .queries,
            """
            The cursor of a page is damaged, belongs to another query, or its object has changed and the values of the order are \
            too long for a cursor.
            """,
            """
            Send `next` of the page before exactly as it came, with the same query, sort order and class. Begin with the first \
            page if the query or the object has changed; a snapshot keeps the object as it was.
            """)
        case .unknownKeyPath: (400, .queries, "A query, a sort order or a list of fields names a property that does not exist.",
            """
            `GET /v1/realms/{realm}/schema` lists the properties. Names are case-sensitive, and links are followed with dots, as \
            in `owner.name`.
            """)
        case .missingWhere: (400, .batches, "A write to many objects has no predicate.",
            "Add `where`. To mean all objects of a class, send `where=TRUEPREDICATE`; to empty a realm, `confirm=all`.")
        case .unauthenticated: (401, .any,
            "The request has no valid credential, and anonymous clients have no right to it.", """
            Send an API key or a token as `Authorization: Bearer …`. In the console sign in again: a session ends after twelve \
            hours, and with the key that it began with. `realm-rest keys add` makes keys.
            """)
        case .forbidden: (403, .any, "The credential is valid, but does not permit this.", """
            `GET /v1/me` says what a credential may do. An administrator can give its roles more rights. A request with the \
            cookie of a session that changes something also needs the header field `X-CSRF-Token`.
            """)
        case .crossOrigin: (403, .any, "A web page of another origin made the browser send this request.", """
            List the origins of pages that may use this server with `--allow-origin`. To look at an answer in a browser, type \
            the address into the address bar. Programs that are not browsers are not affected.
            """)
        case .transactionsDisabled: (403, .reads, "The server was started without interactive transactions.",
            """
            Send the changes as one batch, which is one transaction, to `/v1/realms/{realm}/batch`; or start the server without \
            `--no-transactions`.
            """)
        case .pathNotAllowed: (403, .files, "A realm cannot be attached from a path outside of the permitted folders.",
            "Move the file into the data folder, or permit its folder with `--attach-root` when the server is started.")
        case .realmNotFound: (404, .realms, "No realm of this name is served, or the sender may not know of it.", """
            `GET /v1/realms` lists the realms that the sender may see. The name is that of the file without `.realm`, and \
            case-sensitive.
            """)
        case .classNotFound: (404, .reads, "The realm has no class of this name.",
            "`GET /v1/realms/{realm}/schema` lists the classes. A class may also be hidden from the sender by its roles.")
        case .objectNotFound: (404, [.queries, .objects, .values], "The class has no object with this key.", """
            It may have been deleted, or the sender may not see it; when the text cannot be a key of the class, `detail` says \
            what its keys are. Keys are primary keys; objects without one are named by the member `key` of their `$meta`, such \
            as `@k0`. Texts as keys are percent-encoded.
            """)
        case .sectionNotFound: (404, .queries, "A result in sections has no section of this key.", """
            Read the sections first: the key is the value by which they are formed, and it disappears with the last of its \
            objects.
            """)
        case .notFound: (404, .any, "There is nothing at this path, or no such lease, registration or property.", """
            Compare the path with the API description; a path ends without a slash. Paths for administrators do not exist for \
            other clients.
            """)
        case .fileNotFound: (404, .realms, "The file of a realm that is to be attached does not exist.", """
            Check the path as the server sees it: inside a container it differs from that outside. To make a new file, send a \
            schema with the request.
            """)
        case .methodNotAllowed: (405, .any, "The path exists, but does not offer this method.",
            "The header field `Allow` lists the methods that the sender may use.")
        case .readOnly: (405, .writes, "The realm is served for reading only.", """
            `detail` says why: the server was started with `--read-only` or `--follow`, the file has an older format (see \
            `--upgrade`), or the file system refuses writes.
            """)
        case .notAcceptable: (406, .any, "The sender accepts no media type that the path can produce.",
            "Send `Accept: application/json`, or leave the header field out.")
        case .requestTimeout: (408, .any, "The request was sent too slowly.", """
            Check the connection. Long bodies have more time per byte the more they send; a silent connection is closed. It is \
            safe to send the request again.
            """)
        case .duplicateKey: (409, .values, "Another object has this primary key already.", """
            `key` names it. Choose another key, or update the object that exists: with `PUT`, with `upsert=modified` or \
            `upsert=all` in the place of a create, or with `mode=upsert` in an import.
            """)
        case .tooManyAffected: (409, [.writes, .batches],
            "The write matches or changes more than its limit, and nothing was written.",
            "Look at the matching objects first. If they are meant, raise `maxAffected`, or change them in several steps.")
        case .patchTestFailed: (409, .batches, "An operation `test` of a JSON Patch found another value.",
            "Another client has changed the object. Read it again, then decide.")
        case .assertionFailed: (409, .batches, "An operation `assert` of a batch failed, and nothing was written.",
            "`op` is the number of the operation. Read its object again, then decide.")
        case .transactionBusy: (409, .reads, "Another request is running in the same transaction.",
            "Requests of one transaction are sent one after the other. Wait for the answer of the one before.")
        case .transactionAborted: (409, .reads, "An earlier write of the transaction failed and rolled it back.",
            "Begin a new transaction and repeat its writes. The answer to the write that failed says what was wrong.")
        case .conflict: (409, [], "A commit cannot be undone, because later ones have changed what it changed.", """
            `objects` names the objects. Undo the later commits first, the newest of them before the others, or change the \
            objects by hand.
            """)
        case .idempotencyInProgress: (409, .writes, "The first request with this `Idempotency-Key` is still running.",
            "Wait a moment and send the same request again: the answer of the first is then repeated.")
        case .schemaVersionConflict: (409, .schemas, "A migration was made for another schema version than the realm has.",
            "Read the schema again. If another client has migrated it already, nothing is left to do.")
        case .wouldLoseData: (409, .schemas, "A change of the schema would delete data, and the request does not permit that.",
            """
            `detail` names what would be lost. Try the change with `dryRun=true`; if the loss is meant, permit it with \
            `allowDataLoss`.
            """)
        case .alreadyCommitted: (409, .reads, "The transaction, or the write without waiting, was committed before.",
            "No action is needed: its changes are in the realm.")
        case .alreadyAttached: (409, .files, "A realm of this name is served already.",
            "Choose another name, or detach the other realm first.")
        case .fileExists: (409, .files, "A realm is to be created at a path where there is a file.",
            "Attach the file instead, or choose another name.")
        case .fileInUse: (409, .realms, "Another program has the file open in a way that excludes this server.",
            "End the other program, or follow the file while that program writes: `realm-rest open FILE`.")
        case .notOwned: (409, .files, "The server is to delete a file that does not belong to it.", """
            Files are deleted only if they lie in the data folder. Detach the realm without `files=true`, and remove the file by \
            hand.
            """)
        case .versionNotFound: (404, .reads, "The file has no version of this number or time, or has it no more.", """
            `oldest` and `newest` say which versions it has; `GET /v1/realms/{realm}/versions` lists them. A realm with the \
            option `undo` keeps more of them.
            """)
        case .snapshotExpired: (410, .reads, "The snapshot was valid and has ended.",
            "Make a new one. A snapshot lives as long as its lease is renewed, or as it is used; keep it with `PATCH`.")
        case .transactionExpired: (410, .reads, "The lease of the transaction ended, and it was rolled back.",
            "Begin a new one and repeat its writes. Keep transactions short: other writers wait for them.")
        case .subscriptionExpired: (410, [.writes, .changes], "The registration of subscriptions was valid and has ended.",
            "Register again. The stream then begins with a snapshot, or continues after the last version of the client.")
        case .preconditionFailed: (412, .reads, "A condition such as `If-Match` failed: the object or the realm has changed.",
            "Read the object again, compare it with the intended change, and send that with the new `ETag`.")
        case .bodyTooLarge: (413, .any, "The body, or the number of values or operations in it, exceeds a limit.", """
            `limit` is its value. Send several requests, or use the import, which takes bodies of any length. Administrators can \
            raise the limit.
            """)
        case .uriTooLong: (414, .any, "The request target is too long, or has too many parameters.",
            "Send long queries as the body of a `POST` to `/query/{class}`, or with the method `QUERY`.")
        case .unsupportedMediaType: (415, .any, "The path does not accept bodies of this media type or content coding.", """
            Send `Content-Type: application/json`, or another type that the API description lists for the path. The only content \
            coding is `gzip`. `curl -d` sends `application/x-www-form-urlencoded` unless the header field is added with `-H`; a \
            file is sent with `--data-binary @FILE`, not with `-F`.
            """)
        case .rangeNotSatisfiable: (416, [], "The part that `Range` asks for lies beyond the end of the data.",
            "`Content-Range` states the length. Ask for a part that begins before it, or leave `Range` out.")
        case .hostNotAllowed: (421, .any, "The host name of the request is not one that the server answers to.", """
            Name it with `--allow-host`. Names are checked because a hostile page could otherwise reach this server under a name \
            of its own.
            """)
        case .notOwner: (421, .realms, "Another node of the cluster serves this realm.", """
            Send the request to the URL in `Realm-Owner`, with the same `Idempotency-Key` if it is a write. Proxies learn the \
            owners from `realm-rest cluster map`.
            """)
        case .unknownProperty: (422, [.queries, .objects, .values],
            "An object in the body has a member that is not a property of its class.",
            "`pointer` leads to it. Linking objects and `$meta` cannot be written.")
        case .missingProperty: (422, .values, "An object that is to be created lacks a property that cannot be null.",
            "`pointer` leads to the object, and `detail` names the property. Give it a value, or a default in the schema.")
        case .noPrimaryKey: (422, [.objects, .values], "The operation finds objects by primary key, and the class has none.",
            "Use the member `key` that the server shows in `$meta`, such as `@k0`, or a query. To create objects, use `POST`.")
        case .notRestorable: (422, [], "A state that recovery found cannot be restored.", """
            `detail` has the reason: it is not known whose state it is, its commit never counted, or the names of its properties \
            are gone. The lines of `GET …/recovered` still have what is known of it.
            """)
        case .valueLost: (422, [], "Values of a state that recovery found were overwritten.", """
            `properties` lists them. Send the values in `values`, or `"lost":"default"` to leave them out. Nothing is filled in \
            silently.
            """)
        case .valueUnproven: (422, [], "Values of a state that recovery found are not proved to belong to it.",
            "`properties` lists them. Send other values in `values`, or `\"unproven\":true` to restore them as they are.")
        case .pathNotFound: (422, [.objects, .values],
            "An operation on an element names a place that the collection does not have.", """
            Read the collection again: positions move when elements before them come or go. A dictionary has no element of a key \
            that was not set.
            """)
        case .invalidSchema: (422, .schemas, "A class or a property cannot be declared like this.", """
            `pointer` leads to it. The rules are those of Realm: a primary key is an int, a text, a UUID or an object id, and \
            links cannot be required.
            """)
        case .invalidConfiguration: (422, [],
            "The server was started without what the request needs: a configuration file, a key file or a data folder.",
            "`detail` names the missing option; start the server with it.")
        case .typeMismatch: (422, [.queries, .objects, .values], "A value has another type than its property.", """
            `pointer` leads to the value, and `detail` names the type. Dates are RFC 3339 texts, data is base64, and decimals \
            with a fraction are texts.
            """)
        case .outOfRange: (422, [.queries, .objects, .values], "A number, a date or a text is beyond what the type can hold.",
            "Integers have 64 bits and floats 32; `pointer` leads to the value, and `detail` states the range.")
        case .nullNotAllowed: (422, .values, "Null was given for a value that cannot be null.",
            "Give a value, or make the property optional by a migration.")
        case .keyMismatch: (422, .values, "The primary key in the body differs from the key in the URL.",
            "Leave the key out of the body, or make both equal.")
        case .primaryKeyImmutable: (422, .values, "A write would change the primary key of an object.",
            "Create an object with the new key, move the links to it, and delete the old one.")
        case .readOnlyProperty: (422, .values, "A write to linking objects, which follow from links and cannot be written.",
            "Change the property of the other class that holds the link.")
        case .linkTargetMissing: (422, .values, "A link names a class, a key or a reference that does not exist.", """
            Create the object before, or in the same batch. With `nested=upsert` a whole object can stand in the place of the \
            link, and both are done at once.
            """)
        case .nestedObject: (422, .values, "An object was given in the place of a link, without asking for nested objects.",
            "Give the primary key of the object, or add `nested=upsert` to create or change the object too.")
        case .invalidDictionaryKey: (422, .values, "The key of a dictionary begins with `$` or contains a dot.",
            "Realm reserves these. Choose another key.")
        case .decimalNeedsString: (422, .values, "A decimal with a fraction or an exponent must be given as a text.",
            "Put quotes around it: `\"19.90\"`. As a number it would lose digits on its way through most JSON libraries.")
        case .idempotencyKeyReused: (422, .writes, "The `Idempotency-Key` belongs to another request.",
            "Use a new key for each write, for example a UUID, and the same one only when the same write is repeated.")
        case .aggregateOverflow: (422, .queries, "A sum does not fit into 64 bits.",
            "Sum a part of the objects, or compute the average, or read the values and sum them in the client.")
        case .answerTooLarge: (422, .any, "The response would exceed a limit of its size.",
            "Ask for less: a smaller `limit`, fewer `fields`, no `expand`; or use the export, which has no such limit.")
        case .notARealm: (422, .realms, "The file is no Realm file.", """
            `detail` says what the file is, where that is known, such as an archive or an SQLite database. An encrypted file \
            looks like this too if no key is given, and an interrupted copy may be empty.
            """)
        case .encryptionKeyRequired: (422, .realms, "The file is encrypted, and no key was given.", """
            Send the key with the request, start the server with `--key NAME=FILE`, or set `REALM_REST_KEY_NAME`. A key has 64 \
            bytes, as 128 hex digits or as base64.
            """)
        case .encryptionKeyWrong: (422, .realms, "The encryption key does not fit the file, or is malformed.", """
            A key has 64 bytes, as 128 hex digits or as base64. If the key is the right one, the file is damaged in its first \
            page.
            """)
        case .fileFormatUnsupported: (422, .realms, "The format of the file cannot be read, or cannot be written.", """
            Files of the formats 2 to 11 and 20 to 23 are read, and brought to format 24 with `--upgrade in-place` or \
            `realm-rest upgrade`; without it they can be written to as a copy only. `realm-rest info FILE` says what a file is, \
            and what can be done. A file of a synchronized realm can be written to as a copy: `realm-rest copy`.
            """)
        case .filesystemUnsuitable: (422, .realms, "The file, or the file system that it is on, cannot be served safely.", """
            Copy the file to a local disk, as a regular file that the server may write to. Network file systems and links are \
            refused because locks and memory maps fail there silently.
            """)
        case .fileCorrupt: (500, .realms, "The file is damaged.", """
            `realm-rest verify FILE` says where. A file that is cut short was not copied to its end: copy it again. Otherwise \
            restore a backup: `GET /v1/realms/{realm}/backups` lists them. Export the readable data before.
            """)
        case .writeLockBusy: (423, .writes, "Another writer holds the realm for longer than the request may wait.", """
            Send the request again a little later. `GET /admin/leases` shows which transaction is open; an administrator can end \
            it.
            """)
        case .preconditionRequired: (428, .writes, "Writes to this class need a condition.",
            "Send the `ETag` that came with the object as `If-Match`; to create an object, `If-None-Match: *`.")
        case .rateLimited: (429, .any, "This client exceeded its rate, or its share of connections or memory.", """
            Wait as long as `Retry-After` says. Fewer, larger requests help: batches, pages with a larger `limit`, streams in \
            the place of polling.
            """)
        case .tooManySnapshots: (429, [], "The realm or the client has reached its limit of snapshots.",
            "Release those that are not needed any more. They also expire with their leases.")
        case .tooManyStreams: (429, .changes, "The client has reached its limit of streams or registrations.",
            "Close those that are not needed, or subscribe to several things with one stream.")
        case .tooManyRealms: (429, .files, "The server has reached its limit of realms.",
            "Detach one, or raise the limit `realms`; `--close-after` closes unused realms automatically.")
        case .tooManyTransactions: (429, .writes, "The client has reached its limit of open or waiting transactions.",
            "End one. Several changes that belong together are one batch, which needs no transaction.")
        case .headersTooLarge: (431, .any, "The header section has too many bytes or fields.",
            "Send fewer or shorter header fields. Cookies of other programs on the same host are the usual cause in browsers.")
        case .internalError: (500, .any, "The server failed to process the request.",
            "The log has its description under the id in `instance`. Please report it with that line.")
        case .notImplemented: (501, .any, "The server does not know the method or the transfer coding of the request.",
            "Use one of the methods that `OPTIONS *` lists.")
        case .notReady: (503, .realms, "The server is starting, or the realm cannot be written to at the moment.",
            "Try again a little later; `GET /readyz` lists the realms that are not open yet.")
        case .shuttingDown: (503, .any, "The server is shutting down and accepts no new requests.",
            "Send the request again when the server is back, or to another one.")
        case .overloaded: (503, .any, "The server has no free worker, connection or memory for this request.",
            "Try again a little later. If it stays, look at `/metrics`: long queries without an index are the usual cause.")
        case .realmUnavailable: (503, .realms,
            "The realm is not open at the moment, for instance because it is being opened or its file is away.",
            "`cause` and `GET /v1/realms/{realm}` say why. The server opens it again automatically when the cause is gone.")
        case .outcomeUnknown: (503, .realms,
            "It is unknown whether the write has happened: the log of the cluster has not answered in time.", """
            Repeat it with the same `Idempotency-Key`, or look whether it is there: it is there once or not at all, and will be \
            known as soon as the log answers.
            """)
        case .logUnavailable: (503, .realms,
            "The log of the cluster cannot be reached. A write has not happened, and never will.",
            "Repeat it a little later. Reads continue. The log of the server and its metrics say more.")
        case .fileChanged: (503, .realms, "Another program changed the file of the realm while it was served.", """
            No data of this server was lost. It reopens the file automatically when that is complete. Follow programs that write \
            the file: `--follow`.
            """)
        case .tooManyActiveVersions: (503, .realms, "So many old versions are being read that no new one is written.",
            "Release snapshots and end long reads; `GET /admin/leases` shows who holds them.")
        case .deadlineExceeded: (504, .any, "The work took longer than the server allows. A write was rolled back.", """
            Ask for less, or add an index: `explain` shows how a query is answered. Administrators can raise the limits of time.
            """)
        case .auditUnavailable: (503, .any, "The request must be recorded in the audit log, which cannot be written.",
            "An administrator must free disk space or fix the path of the audit log. Reads continue.")
        case .insufficientStorage: (507, .realms, "There is no disk space for a write, or for the body of a request.", """
            Free disk space. Compacting a realm releases its unused space; the write can then be sent again.
            """)
        }
    }
}
