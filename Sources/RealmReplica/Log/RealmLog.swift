// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A log of commits that another service keeps durable, for many realms and nodes.
///
/// Any thread may call it. Implementations of `perform` obey two rules that everything above relies on: a condition is evaluated
/// in the same step as the change that depends on it, when that is carried out and not before; and a reply that says that
/// something was stored comes after it is durable wherever the log has to keep it. A request is never cancelled: that would leave
/// what is visible and not durable.
package protocol RealmLog: Sendable {
    /// Carries out a request, and waits for the reply until a deadline.
    ///
    /// - Returns: The reply; `.lost` at the deadline, or `.unsent` if the request had not left by then.
    func perform(_ call: LogCall, until deadline: Instant) -> LogReply

    /// Carries out a request as `perform(_:until:)` does, and does other work meanwhile, in the thread of the caller.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - deadline: When to stop to wait.
    ///   - work: The work, which is done once whatever becomes of the request.
    func perform(_ call: LogCall, until deadline: Instant, meanwhile work: () -> Void) -> LogReply

    /// Returns the heads of some realms as they are visible now; see `LogRequest.head` and `LogRequest.confirm`. Realms that the
    /// log does not know are left out. It waits for seconds at most.
    ///
    /// - Parameters:
    ///   - node: The node that has the heads confirmed; nil when whatever is visible will do.
    /// - Throws: `.refused(.logUnavailable)`.
    func heads(of realms: [String], confirmedFor node: String?) throws(StorageError) -> [ByteText: LogHead]

    /// Returns the names of realms in their order, which is that of their bytes.
    ///
    /// - Parameters:
    ///   - name: The name after which the list begins; nil for the first.
    ///   - limit: The maximum number of names.
    /// - Throws: `.refused(.logUnavailable)`.
    func names(after name: String?, limit: Int) throws(StorageError) -> [String]

    /// Returns what is known of a request that an append has brought along; nil when none of that name has, in the last ten minutes.
    ///
    /// - Parameters:
    ///   - name: The name of the request; see `CommittedRequest`.
    /// - Throws: `.refused(.logUnavailable)`.
    func request(_ name: String, of realm: String) throws(StorageError) -> LoggedRequest?

    /// Begins the log of a realm with a base, unless there is one.
    ///
    /// - Parameters:
    ///   - head: The head, whose version is that of the base.
    ///   - descriptor: A file with the bytes of the base.
    /// - Returns: Whether the log did not know the realm before.
    /// - Throws: `.refused(.logUnavailable)`; it is unknown then whether the log was begun.
    func create(
        _ head: LogHead, of realm: String, base: LogBase, from descriptor: Int32
    ) throws(StorageError) -> Bool

    /// Replaces the history of a realm by one that begins with a base, if the head is still the given one. The epoch grows by one.
    ///
    /// - Parameters:
    ///   - head: The new head, with the epoch and the owner of the former one.
    ///   - descriptor: A file with the bytes of the base.
    /// - Returns: Whether the head was still the given one.
    /// - Throws: `.refused(.logUnavailable)`; it is unknown then whether the history was replaced.
    func restart(
        _ head: LogHead, over former: LogHead, of realm: String, base: LogBase, from descriptor: Int32
    ) throws(StorageError) -> Bool

    /// Forgets a realm with its whole history, if it has the given owner.
    ///
    /// - Returns: Whether it had.
    /// - Throws: `.refused(.logUnavailable)`; it is unknown then whether the realm was forgotten.
    func drop(_ realm: String, of owner: LogOwner) throws(StorageError) -> Bool

    /// Returns whether a realm was forgotten that had a lineage, and none was begun under its name since.
    ///
    /// - Throws: `.refused(.logUnavailable)`.
    func hasDropped(_ realm: String, lineage: String) throws(StorageError) -> Bool

    /// Reads the records that follow a version, in order.
    ///
    /// - Parameters:
    ///   - versions: The versions that the records made. Versions whose records were pruned are passed over.
    ///   - take: Gets each sealed record.
    /// - Throws: `.refused(.logUnavailable)`, and what `take` throws.
    func records(
        of realm: String, lineage: String, versions: ClosedRange<UInt64>, _ take: ([UInt8]) throws(StorageError) -> Void
    ) throws(StorageError)

    /// Returns the bases of a realm, those of the newest versions first, whenever they were stored: one of a node that was slow, or has
    /// lost the realm meanwhile, may be stored after a newer one.
    func bases(of realm: String) throws(StorageError) -> [LogBase]

    /// Stores a base, as a whole or not at all. It takes the place of one of the same lineage and version.
    ///
    /// - Parameters:
    ///   - descriptor: A file with its bytes.
    func put(_ base: LogBase, of realm: String, from descriptor: Int32) throws(StorageError)

    /// Copies the bytes of a base to an empty file. They may be damaged; the caller compares the digest.
    func fetch(_ base: LogBase, of realm: String, into descriptor: Int32) throws(StorageError)

    /// Deletes a base, if the head still has a lineage. A node that has missed a new lineage does not know which bases count.
    func remove(_ base: LogBase, of realm: String, whileLineage lineage: String) throws(StorageError)

    /// Deletes records that are needed no more, and all of other lineages, if the head still has the given one. The head stays.
    ///
    /// - Parameters:
    ///   - version: The version of the last record that is deleted.
    func prune(_ realm: String, lineage: String, upTo version: UInt64) throws(StorageError)
}

extension RealmLog {
    /// Does the work first.
    package func perform(_ call: LogCall, until deadline: Instant, meanwhile work: () -> Void) -> LogReply {
        work()
        return perform(call, until: deadline)
    }

    /// Returns none: a log need not list its realms.
    package func names(after name: String?, limit: Int) throws(StorageError) -> [String] { [] }

    /// Returns false: a log need not know what it has forgotten.
    package func hasDropped(_ realm: String, lineage: String) throws(StorageError) -> Bool { false }

    /// Returns nil: a log need not keep requests.
    package func request(_ name: String, of realm: String) throws(StorageError) -> LoggedRequest? { nil }

    /// Checks that an opening still owns a realm, by a commit after the look at its head: a replaced server of the log could not
    /// make one.
    ///
    /// - Returns: The head, which has everything that was stored before.
    /// - Throws: `.refused(.notOwner)`, `.refused(.logUnavailable)`.
    package func confirm(_ owner: LogOwner, of realm: String, until deadline: Instant) throws(StorageError) -> LogHead {
        switch perform(LogCall(realm: realm, owner: owner, request: .confirm), until: deadline) {
        case .head(let head?):
            guard head.owner == owner else { throw .refused(.notOwner(head.owner.node)) }
            return head
        case .head(nil): throw .refused(.notOwner(""))
        default: throw .refused(.logUnavailable("it has not answered"))
        }
    }

    /// Returns the heads of some realms, one request after another.
    package func heads(of realms: [String], confirmedFor node: String?) throws(StorageError) -> [ByteText: LogHead] {
        let owner = LogOwner(node: node ?? "", token: "")
        var heads: [ByteText: LogHead] = [:]
        for realm in realms {
            let call = LogCall(realm: realm, owner: owner, request: node == nil ? .head : .confirm)
            guard case .head(let head) = perform(call, until: Instant.now().adding(seconds: 3)) else {
                throw .refused(.logUnavailable("it has not answered"))
            }
            heads[realm] = head
        }
        return heads
    }
}

/// A request that a commit has carried out, as the log recorded it.
package struct LoggedRequest: Sendable, Equatable {
    /// The digest of the content; see `CommittedRequest`.
    package let digest: String
    /// The lineage of the commit.
    package let lineage: String
    /// The version that the commit made.
    package let version: UInt64

    package init(digest: String, lineage: String, version: UInt64) {
        self.digest = digest
        self.lineage = lineage
        self.version = version
    }
}
