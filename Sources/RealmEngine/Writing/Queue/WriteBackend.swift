// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The operations of a database that its write queue needs.
///
/// The queue belongs to a lower layer than databases and knows them through this protocol only. All
/// members but `current` are called on the writer's thread.
protocol WriteBackend: AnyObject, Sendable {
    /// The newest version. All threads may read it.
    var current: Version { get }
    /// Prepares the file for its first write; called once, before anything else.
    ///
    /// - Parameter continues: Returns false when the preparation should stop; it is called at intervals.
    func prepare(_ continues: () -> Bool)
    /// Begins a transaction at the newest version.
    ///
    /// - Throws: `WriteError` when the database accepts no writes at present.
    func beginWrite() throws(WriteError) -> WriteTransaction
    /// Makes the session in which one write runs.
    func makeSession(_ transaction: WriteTransaction, deadline: Instant) -> WriteSession
    /// Called when a write has run, whatever its outcome, with its session.
    func didRun(_ session: WriteSession)
    /// Makes the changes durable and the new version the newest one, and calls observers.
    ///
    /// - Parameters:
    ///   - transaction: The transaction with the changes.
    ///   - mark: The action after observers were notified.
    /// - Returns: The new version.
    /// - Throws: `WriteError` when the commit fails; nothing has changed then.
    func commit(_ transaction: WriteTransaction, mark: CommitMark?) throws(WriteError) -> Version
    /// Whether other programs may write the realm too, so that the findings of a write are confirmed before the response.
    var isShared: Bool { get }
    /// Makes sure that no other program has written the realm until this was called.
    ///
    /// - Throws: `WriteError` when one has, or that cannot be found out.
    func confirm() throws(WriteError)
    /// Called when a group of writes has ended, committed or not.
    func didEndWrite()
    /// Called when the writer had nothing to do for a few milliseconds.
    func didPause()
}
