// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What the queue needs of a database.
///
/// The queue lies below databases, so it knows them by this alone. All methods but `current` are called on the writer thread.
protocol WriteBackend: Sendable {
    /// The newest version.
    var current: Version { get }
    /// Does what has to be done before the first write, as long as `goesOn` says so; called once, before anything else.
    func prepare(_ goesOn: () -> Bool)
    /// Throws when writes are not possible now.
    func beginWrite() throws(WriteError) -> WriteTransaction
    /// A session for one write.
    func makeSession(_ transaction: WriteTransaction, deadline: Instant) -> WriteSession
    /// A write has run, whatever came of it.
    func didRun(_ session: WriteSession)
    /// Makes the changes durable and the new version the newest.
    func commit(_ transaction: WriteTransaction, mark: CommitMark?) throws(WriteError) -> Version
    /// A group of writes is over, committed or not.
    func didEndWrite()
    /// Nothing was there to write for a moment.
    func didPause()
}
