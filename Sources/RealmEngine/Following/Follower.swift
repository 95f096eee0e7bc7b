// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Follows a file that another program writes, and gives each state that it finds to a realm as its next version.
///
/// A thread of its own looks at the file at intervals, and earlier when the system reports an event. It
/// starts with `start` and ends with `stop`; the other members may be used by any thread.
final class Follower: Sendable {
    /// The findings of the thread, for metrics and documents; guarded by the monitor.
    struct Progress: Sendable {
        /// Whether the thread was started and has not ended.
        fileprivate(set) var isRunning = false
        /// Whether the thread is to end.
        fileprivate(set) var isStopped = false
        /// The number of versions that were taken over.
        fileprivate(set) var versions = 0
        fileprivate(set) var copiedBytes = 0
        /// The number of attempts that have failed.
        fileprivate(set) var failures = 0
        /// The instant since which a change is known and not taken over; nil when there is none.
        fileprivate(set) var behindSince: Instant?
    }

    /// The interval that is used unless another one is requested.
    static let usualInterval = Duration.milliseconds(500)
    /// The shortest time between two looks, however many events there are.
    private static let shortestPause = 0.005
    /// The number of copies of older versions that readers may hold. With more the follower waits.
    private static let maximumCopies = 32
    /// The number of failed looks before readers get an error, since a file that is being replaced is absent for a moment.
    private static let toleratedFailures = 3

    /// The realm that gets the versions. It owns this follower.
    private weak let realm: (any Follower.Realm)?
    /// The interval between two looks.
    private let interval: Duration
    /// Ends waits early.
    private let watch: FileWatch
    /// Cancels copies when the follower is stopped.
    private let control = WorkControl()
    private let monitor = Monitor(Progress())
    /// The file, which only the thread uses after `start`.
    private let file: RankedMutex<FollowedFile>

    /// Prepares to follow a file of which a first copy was taken.
    init(_ file: FollowedFile, path: String, interval: Duration, for realm: any Follower.Realm) {
        self.file = RankedMutex(.leaf, file)
        self.realm = realm
        self.interval = interval
        watch = FileWatch(path)
    }

    /// The present progress.
    var progress: Progress { monitor.withLock { $0 } }

    /// Starts the thread; throws when the system provides none.
    func start(name: String) throws(StorageError) {
        do throws(Threads.Failure) {
            try monitor.withLock { state throws(Threads.Failure) in
                try Threads.start("follow-" + name, stackBytes: 1 << 20) { [self] in run() }
                state.isRunning = true
            }
        } catch {
            throw .io(operation: "pthread_create", errno: error.code)
        }
    }

    /// Ends the thread. Blocks until it has ended.
    func stop() {
        monitor.broadcast { $0.isStopped = true }
        control.cancel()
        watch.interrupt()
        _ = monitor.wait { state -> Bool? in state.isRunning ? nil : true }
    }

    // MARK: - The thread

    /// Looks at the file until the follower is stopped.
    private func run() {
        var file = file.withLock { $0 }
        var work = Work()
        while !progress.isStopped {
            watch.wait(work.failures > 0 ? min(interval, .milliseconds(100)) : interval)
            guard !progress.isStopped, let realm else { break }
            poll(realm, &file, &work)
            Threads.sleep(seconds: Follower.shortestPause)
        }
        monitor.broadcast { $0.isRunning = false }
    }

    /// The state of the thread between two looks.
    private struct Work {
        /// The number of failed looks since the last successful one.
        var failures = 0
        /// The snapshots that were taken over and that readers may still hold.
        var copies: [Copy] = []

        struct Copy { weak let snapshot: Snapshot? }
    }

    /// Looks at the file once, and takes over what is new.
    private func poll(_ realm: any Follower.Realm, _ file: inout FollowedFile, _ work: inout Work) {
        do throws(StorageError) {
            guard try file.hasChanged() else { return succeed(realm, &work) }
            monitor.withLock { if $0.behindSince == nil { $0.behindSince = Instant.now() } }
            work.copies.removeAll { $0.snapshot == nil }
            guard work.copies.count <= Follower.maximumCopies else { return }
            let copy = try file.takeCopy(control)
            try realm.follow(copy)
            work.copies.append(Work.Copy(snapshot: copy.snapshot))
            monitor.withLock { state in
                state.versions += 1
                state.copiedBytes += copy.copiedByteCount
            }
            watch.renew()
            succeed(realm, &work)
        } catch {
            fail(realm, error, &work)
        }
    }

    /// Notes that the file is as the newest version is.
    private func succeed(_ realm: any Follower.Realm, _ work: inout Work) {
        work.failures = 0
        realm.setAbsence(nil)
        monitor.withLock { $0.behindSince = nil }
    }

    /// Notes that the file could not be taken over. Readers continue with the newest version while the file is busy.
    private func fail(_ realm: any Follower.Realm, _ error: StorageError, _ work: inout Work) {
        guard !control.isCancelled else { return }
        work.failures += 1
        monitor.withLock { $0.failures += 1 }
        if case .refused(.fileInUse) = error { return }
        watch.renew()
        if work.failures >= Follower.toleratedFailures { realm.setAbsence(error) }
    }
}

extension Follower {
    /// A realm that takes over the states of a file that another program writes.
    ///
    /// The thread of a `Follower` calls it.
    protocol Realm: AnyObject, Sendable {
        /// Makes a state of the file the newest version, and publishes how it differs from the one before.
        ///
        /// - Throws: `StorageError` when the versions cannot be compared; nothing has changed then.
        func follow(_ copy: FollowedFile.Copy) throws(StorageError)

        /// Sets or removes the reason for which the realm cannot be read at present.
        func setAbsence(_ error: StorageError?)
    }
}
