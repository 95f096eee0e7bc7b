// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The causes of problems.
///
/// An operation names the groups that concern it, and so every code of its responses. The API description lists the codes of an
/// operation and derives its error statuses from them; tests check each problem of a server against the list of its operation.
struct ProblemGroups: OptionSet {
    let rawValue: UInt16

    static let any = ProblemGroups(rawValue: 1 << 0)
    static let bodies = ProblemGroups(rawValue: 1 << 1)
    static let realms = ProblemGroups(rawValue: 1 << 2)
    static let reads = ProblemGroups(rawValue: 1 << 3)
    static let queries = ProblemGroups(rawValue: 1 << 4)
    static let objects = ProblemGroups(rawValue: 1 << 5)
    static let writes = ProblemGroups(rawValue: 1 << 6)
    static let values = ProblemGroups(rawValue: 1 << 7)
    static let batches = ProblemGroups(rawValue: 1 << 8)
    static let schemas = ProblemGroups(rawValue: 1 << 9)
    static let changes = ProblemGroups(rawValue: 1 << 10)
    static let files = ProblemGroups(rawValue: 1 << 11)
}

extension Set<ProblemCode> {
    /// Problems of any request: errors in its head, limits of the server, and failures of the server itself.
    package static let ofAnyRequest = of(.any)

    /// Bodies that are read as JSON, or as lines of it.
    package static let ofBodies = of(.bodies)

    /// Requests that name a realm: it does not exist, is being opened, cannot be served, or was refused with its schema after its
    /// request had been answered.
    package static let ofRealms = of(.realms).union(ofSchemas)

    /// Reads of contents, which may name a snapshot, a transaction or a version to wait for.
    package static let ofReads = of(.reads).union(ofRealms)

    /// Predicates with their arguments, and the other parameters of selections.
    package static let ofQueries = of(.queries)

    /// Requests that name an object by its key, and perhaps one of its properties.
    package static let ofObjects = of(.objects)

    /// All writes: the state of the realm and of the transaction that a write belongs to, and the limits of one commit.
    package static let ofWrites = of(.writes).union(ofReads)

    /// Written values, and the reasons to refuse them.
    package static let ofValues = of(.values)

    /// Batches, which may select, patch and assert.
    package static let ofBatches = of(.batches)

    /// Changes of a schema and their migrations.
    package static let ofSchemas = of(.schemas)

    /// Streams, polls and registrations of changes.
    package static let ofChanges = of(.changes).union(ofReads).union(ofQueries).union(ofObjects)

    /// Files that are attached, created or deleted.
    package static let ofFiles = of(.files)

    private static func of(_ group: ProblemGroups) -> Set { Set(ProblemCode.allCases.filter { $0.row.groups.contains(group) }) }
}
