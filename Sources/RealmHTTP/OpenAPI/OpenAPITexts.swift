// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Descriptions of operations and schemas beyond their names.
enum OpenAPITexts {
    /// The description of one operation.
    struct Operation: Sendable {
        /// The text beyond the summary.
        let details: String
        /// A sentence about the body of a request; nil for an operation without one.
        let body: String?

        /// Makes the text of an operation.
        init(_ details: String, body: String? = nil) {
            self.details = details
            self.body = body
        }
    }

    /// The texts of operations, by their ids.
    static let operations: [ByteText: Operation] = realms.merging(objects) { first, _ in first }
        .merging(leases) { first, _ in first }.merging(others) { first, _ in first }

    /// The texts about realms, schemas and files.
    private static let realms: [ByteText: Operation] = [
        "listRealms": .init(
            "Realms that the client has no right to are left out. A realm that could not be opened has its problem."),
        "attachRealm": .init(
            "With path an existing file is served, or a new one is made there; with inMemory the realm lives until it is detached. A schema, migrations and a seed are applied before the realm is served.",
            body: "The body says where the realm is and how it is opened."),
        "uploadRealm": .init(
            "The file is copied into the data folder of the server, and checked before it is served. With the key of an encrypted file it can be read.",
            body: "The body is a Realm file."),
        "getRealm": .init("Names the file, its size and version, and its current activity."),
        "detachRealm": .init(
            "Requests in progress are completed. The file stays, unless files=true asks for its deletion, which is possible for files that the server made."
        ),
        "putRealmKey": .init("The key is kept in memory only.", body: "The body has the key of the file."),
        "getSchema": .init(
            "Classes and properties that the client may not see are left out. Other forms are source text for apps."),
        "getClass": .init("Has the properties of one class, and the links that lead to it from others."),
        "getRealmOpenAPI": .init(
            "Has typed operations for each class, for generators of clients. It shows what the client may see and nothing else, so clients with other rights get other documents."
        ),
        "migrate": .init(
            "Steps are done in order, as a unit; a failure leaves everything as it was. A backup of the file is made before. With dryRun=true the result is shown and undone.",
            body: "The body names the version that the schema has, the one that it gets, and the steps in between."),
        "exportRealm": .init(
            "All objects are of one version, however long the export takes. An export as lines can be imported again."),
        "compareVersions": .init(
            "Has a line for each object that was added, removed or changed, with the values of both versions, and for each difference of the schema. The client sees of both versions what its rights show."
        ),
        "backUpRealm": .init("The copy has no free space, and the key of the realm if that is encrypted."),
        "copyRealm": .init(
            "The copy has no free space. A copy in a file of the server is described by the response instead of being its body.",
            body: "The body names the key, the classes or the path of the copy."),
        "compactRealm": .init("Writes continue; only the last step takes a turn of the writer."),
        "getStats": .init(
            "Every byte of the file is counted once. It is for administrators, and for principals from whom nothing in the realm is hidden."
        ),
        "listVersions": .init(
            "A realm with the option undo keeps versions; others have the one before the newest until the next commit. It is for administrators, and for principals from whom nothing in the realm is hidden."
        ),
        "undoCommit": .init(
            "Added objects are deleted, removed ones are made again, and properties get the values before. Objects that later commits have changed are a conflict, and nothing is written then.",
            body: "The body names the version that the commit made."),
        "listBackups": .init("Lists backups that the server made itself and those made on request."),
        "makeBackup": .init("The backup is made in the folder of backups, and old ones are removed as the configuration says."),
        "getBackup": .init("A client that names application/octet-stream in Accept gets the file."),
        "deleteBackup": .init("The file is removed from the folder of backups."),
        "listRecovered": .init(
            "The first request copies the file while no commit runs, and searches the copy. The findings are kept until ten minutes after their last use. A client that asks for lines gets all of them."
        ),
        "releaseRecovered": .init("The next request searches the file again."),
        "listRecoveredVersions": .init("Says how much of each version can be read and is proved."),
        "restoreRecovered": .init(
            "All states are restored or none. A deleted object is created; one that was changed gets its former values, if it is as it was when the file was copied. Links to objects that do not live become null and are listed.",
            body: "The body names the recovery and the states."),
        "restoreRealm": .init(
            "The old file becomes a backup, so that this can be undone. Streams and leases of the old file end.",
            body: "The body names a backup, or is a Realm file."),
        "importObjects": .init(
            "An import is one transaction unless atomic=false. Lines of an export state their class; other lines are of the class that the parameter names.",
            body:
                "The body has objects as lines or an array of JSON, as CSV with a line of names, or as tables of an SQLite database."
        ),
    ]

    /// The texts about objects.
    private static let objects: [ByteText: Operation] = [
        "listObjects": .init(
            "Objects are in the order of the file unless sort names another. A page ends with next, which the parameter after of the next request takes; the pages of a query fit together while objects change."
        ),
        "createObjects": .init(
            "An object with a key that exists is 409 unless upsert is given. An array is created as a unit and answered with counts and keys.",
            body:
                "The body is an object with values by the name of their property, an array of such objects, or one of them per line."
        ),
        "updateObjects": .init(
            "All objects change in one transaction. The predicate is required; TRUEPREDICATE selects all.",
            body: "The body is a merge patch: members are written, null writes null, and what is absent stays."),
        "deleteObjects": .init(
            "All objects are deleted in one transaction. The predicate is required; TRUEPREDICATE selects all."),
        "getObject": .init("The entity tag in ETag and $meta is what If-Match of a later write takes."),
        "replaceObject": .init(
            "Properties that the body leaves out get their default or null. With If-None-Match: * an existing object is 412.",
            body: "The body is the whole object."),
        "updateObject": .init(
            "Members of a merge patch are written, embedded objects are merged, arrays are replaced, and what is absent stays.",
            body: "The body is a merge patch or a JSON Patch."),
        "deleteObject": .init(
            "Embedded objects are deleted with their owner. Links to the object become null or leave their list."),
        "getProperty": .init(
            "A single value is a document with the member value; a collection is a page. A data property is its bytes for clients that ask for application/octet-stream."
        ),
        "setProperty": .init(
            "A collection is replaced as a whole. Bytes are written to a data property as they are.",
            body: "The body is the new value."),
        "getLinkingObjects": .init("These are the inverse relationship of the property that the path names."),
        "aggregateProperty": .init("Elements that are null are left out; an average of nothing is null."),
        "aggregatePropertyByBody": .init(
            "Does the same as GET, for parameters that do not fit a URL.", body: "The body has the parameters as members."),
        "aggregateLinkingObjects": .init("The objects are those that the path without @aggregate lists."),
        "aggregateLinkingObjectsByBody": .init(
            "Takes what GET takes, for predicates that do not fit a URL.", body: "The body has the parameters as members."),
        "queryObjects": .init(
            "Does the same as GET of the objects, for parameters that do not fit a URL. Parameters are given in the body or in the URL, but not in both.",
            body: "The body has the parameters of a list as members."),
        "runSQL": .init("The tables are those of an export as SQLite. Comparisons use the indexes of the realm."),
        "runSQLByBody": .init(
            "The tables are those of an export as SQLite. The values of args take the places of the parameters ?."),
        "aggregate": .init(
            "Each operation has a member of its name in the answer. With groupBy there is one group for each combination of values."
        ),
        "aggregateByBody": .init(
            "Takes what GET takes as members of the body.", body: "The body has the parameters as members."),
        "deleteAllObjects": .init("The parameter confirm guards against accidents."),
        "batch": .init(
            "Each operation sees what those before it did. If one fails nothing is written, and the problem names it. An object that the batch creates under a name can be linked to by that name.",
            body: "The body lists the operations, each an object with one member named after what it does."),
        "batchClass": .init(
            "Is the same for operations on objects of one class, which do not name it. Each sees what those before it did. If one fails nothing is written, and the problem names it.",
            body: "The body lists the operations, each an object with one member named after what it does."),
    ]

    /// The texts about transactions, snapshots and subscriptions.
    private static let leases: [ByteText: Operation] = [
        "beginTransaction": .init(
            "Requests with the id in Realm-Transaction belong to it and see what it wrote. It holds the writer, so other writes wait; it ends by commit, by rollback, or when its time is over.",
            body: "The body limits how long the transaction waits, idles and lives."),
        "getTransaction": .init("A transaction that has ended is remembered for a while."),
        "rollBackTransaction": .init("Nothing that the transaction wrote remains."),
        "commitTransaction": .init("All that the transaction wrote becomes one version."),
        "getWrite": .init("A write with Prefer: respond-async names this path in Location."),
        "cancelWrite": .init("A write that has begun is not cancelled."),
        "listSnapshots": .init("Lists the snapshots of this client."),
        "createSnapshot": .init(
            "Reads with the id in the parameter snapshot see the version that it holds, regardless of later writes.",
            body: "The body states how long the version is held."),
        "getSnapshot": .init("States when the snapshot expires, and how many commits it is behind."),
        "renewSnapshot": .init("The time begins again.", body: "The body states how long the version is held from now on."),
        "freeSnapshot": .init("The version that it held can be reclaimed."),
        "getChanges": .init(
            "With Accept: text/event-stream the answer is a stream of events. Otherwise it is a poll: it waits up to the given time, and its member next is the value of since for the poll after it. The first poll returns the state unless initial=false."
        ),
        "getChangesOfClass": .init(
            "Does what the path without the class does with the parameter class. The description of a realm has it once per class, with the types of that class."
        ),
        "pollClass": .init(
            "Observes the objects of one class that the parameters select. The member next of an answer is the value of since for the poll after it; without since the answer is the state."
        ),
        "createSubscriptions": .init(
            "One stream or poll delivers all subscriptions of the registration. It expires when no client reads it for a while.",
            body: "The body has the definitions of subscriptions by name."),
        "getSubscriptions": .init("Shows the definitions, and how many streams read them."),
        "deleteSubscriptions": .init("The registration no longer counts toward the limit of the client."),
    ]

    /// The texts about the server and credentials.
    private static let others: [ByteText: Operation] = [
        "getOpenAPI": .init("Describes every path for clients of any realm. Limits are those of the configuration."),
        "getCluster": .init(
            "The node returns its view of the others. A server that is not a node of a cluster returns not_found."),
        "getVersion": .init("Identifies the server to programs; the OpenAPI documents state the version too."),
        "health": .init("Needs no credential, and reveals nothing about realms."),
        "ready": .init("Needs no credential. Realms that are not ready are named in the problem."),
        "metrics": .init("Requires an administrator; the listener for administrators needs no credential."),
        "getMe": .init("Applications can show what the user may do, without trying."),
        "beginSession": .init("Pages use a cookie in place of the credential, so that scripts cannot read it."),
        "endSession": .init("The cookie is not valid any more."),
        "listKeys": .init("Keys of the configuration are listed with those that were made."),
        "makeKey": .init("Only a hash of the secret is stored.", body: "The body names the key and what it permits."),
        "revokeKey": .init("Requests with the key are refused from now on."),
        "rotateKey": .init("Name, roles and claims stay the same."),
    ]

    /// Descriptions of shared schemas, by name.
    static let schemas: [ByteText: String] = [
        "Problem": "Is a problem document of RFC 9457, with members that this server adds.",
        "RealmDocument": "Is a realm: its file, its state and its size.", "RealmPage": "Lists realms.",
        "RealmFileBackup": "Is a copy next to the file of a realm.", "SchemaDocument": "Is the schema of a realm.",
        "SchemaClass": "Is a class of a schema.", "SchemaProperty": "Is a property of a class.",
        "SchemaBacklink": "Names a property whose links lead to a class.",
        "Meta": "Identifies the object, and states the entity tag of its state.",
        "ObjectOwner": "Is the object that holds an embedded one, and the property there.",
        "ObjectRoot": "Is the object that an embedded one is a part of, with the path to it.",
        "HiddenLinkLink": "Represents an object that the client may not see.", "Status": "Is the outcome of a check.",
        "ProgramVersion": "Names the program that serves, and its version.",
        "Cluster": "Is a cluster as one of its nodes knows it.",
        "ClusterNode": "Is a node of a cluster.",
        "RealmInCluster":
            "States whether the responding node writes the realm or follows its writer, and its lag if it follows.",
        "AggregateGroup": "Is a group of rows: its key, and a member for each operation.",
        "ObjectPage": "Is one page of a list, or another form of the result that a parameter asked for.",
        "QueryBody": "Has the parameters of a list as members.", "AggregateBody": "Has the parameters of aggregates as members.",
        "SQLBody": "Is a statement of SQL with its parameters.", "SQLResult": "Is the result of a statement of SQL.",
        "SQLColumn": "Is a column of a result: its name, and the type of the column of a table.",
        "Matched": "States how many objects were changed.", "Imported": "Counts the objects of an import.",
        "JSONPatchOperation": "Is one operation of a JSON Patch.", "Batch": "Lists operations that are done as a unit.",
        "BatchOperation": "Is one operation of a batch, whose only member names what it does.",
        "BatchCreate": "Creates an object.", "BatchPut": "Creates or replaces an object.",
        "BatchPatch": "Changes some properties of an object.", "BatchDelete": "Deletes an object.",
        "BatchPatchWhere": "Changes all objects that match.", "BatchDeleteWhere": "Deletes all objects that match.",
        "BatchIncrement": "Adds to a number.", "BatchAssert": "Fails the batch unless an object or a number of objects is there.",
        "BatchList": "Changes elements of a list.", "BatchSet": "Changes elements of a set.",
        "BatchDictionary": "Changes entries of a dictionary.", "BatchResult": "Reports the result of each operation of a batch.",
        "BatchOperationResult": "Reports the result of one operation of a batch.",
        "CommittedVersion": "Names the version of a commit.",
        "WriteState": "Is the state of an asynchronous write.",
        "TransactionOptions": "Limits the times of a transaction.", "Transaction": "Is an interactive transaction.",
        "SnapshotOptions": "States how long a version is held.",
        "SnapshotRenewal": "States how long a version is held from now on.",
        "Snapshot": "Is a version that is held for later reads.",
        "SnapshotPage": "Lists snapshots.", "RestoreRequest": "Names the backup that takes the place of the file.",
        "BackupFile": "Is a copy in a file of the server.", "Backup": "Is a backup of a realm.", "BackupPage": "Lists backups.",
        "Compacted": "States the size of a file in bytes before and after.", "RealmKey": "Has the key of an encrypted file.",
        "RealmVersions": "Lists the versions that a file has.", "RealmVersion": "Is a version that a file has.",
        "UndoOption": "States which former versions a realm keeps.", "Undo": "Names the commit that is undone.",
        "Undone": "Counts the objects that an undo made again, deleted and changed back.",
        "RecoveredPage": "Lists states of objects that the unused space of a file still holds.",
        "RecoveredVersions": "Lists the versions that a file still holds.",
        "RecoveredVersion": "Is a former version of a file.",
        "RecoveredState": "Is a former state of an object, with its evidence, and the values that are lost or not proved.",
        "RecoveredRestore": "Names states to restore.", "RecoveredRestored": "Reports the result for each state.",
        "RecoveredResult": "Reports the result for one state.",
        "RecoveredLink": "Is a link to an object, or of one, with the property that has it.",
        "RealmStats": "Says what the bytes of a file are there for. A number that is not known is absent.",
        "RealmStatsParts": "Are the parts of a file in bytes.", "RealmStatsFree": "Is the free space of a file.",
        "RealmStatsVersions": "Are the versions in use, whose space is not free.",
        "RealmStatsTable": "Is a class or a table in bytes: the sum of its parts and of its properties.",
        "RealmStatsTableProperty": "Is a property in bytes: the sum of its parts.",
        "RealmStatsLargest": "Is a value, or a collection with its contents, that takes much space.",
        "RealmStatsDamage": "Is a node that could not be read, and so nothing that it leads to.",
        "RealmAttachment": "Describes the realm to create or attach.", "SchemaDefinition": "Is a schema to be made.",
        "RealmAttachmentCompactOnOpen": "States when a file is compacted before it is opened.",
        "RealmAttachmentAutoCompact": "States when a file is compacted while it is served.",
        "ClassDefinition": "Is a class to be made.", "PropertyDefinition": "Is a property to be made.",
        "Migration": "Changes a schema and the data with it.",
        "MigrationStep": "Is a step of a migration, whose only member names what it does.",
        "MigrationLoopStep": "Is a step inside of a loop, done for each object.",
        "Migrated": "States the schema before and after.",
        "ChangeMove": "Is a row that has moved.", "ChangedSection": "Is a section that was inserted or deleted.",
        "ChangedProperty": "Is a property of an observed object that changed.",
        "ChangeReset": "States that changes were lost and that the state follows.",
        "ChangeSchema": "Says that the schema has changed.",
        "SubscriptionDefinition": "Defines the observed objects, and the properties to report.",
        "SubscriptionsBody": "Has the subscriptions of a registration.", "Registration": "Is a registration of subscriptions.",
        "RegistrationCreated": "Is a new registration, with the path at which it is read.",
        "Key": "Is an API key without its secret.",
        "KeyWithSecret": "Is an API key with its secret.", "KeyRequest": "Describes the key to create.",
        "KeyPage": "Lists API keys.",
        "Session": "Is the session of a browser.", "Me": "Is the principal of the client, with its rights.",
        "MePrincipal": "Names a principal.",
    ]
}
