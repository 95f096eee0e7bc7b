// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// The openings in progress of a catalog, and other long work on its realms. Detaching a realm cancels them.
///
/// A name may have more than one, as a realm may be attached again before a cancelled opening has ended. All threads may use this.
final class RunningOpenings: Sendable {
    private struct Opening: Sendable {
        /// Cancels the work.
        let control: WorkControl
        /// Actions that wait for its end.
        var waiting: [@Sendable () -> Void] = []
    }

    /// The openings by the name of their realm.
    private let openings = RankedMutex<[ByteText: [Opening]]>(.leaf, [:])

    /// Registers an opening, for which the caller has to call `end`.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - control: Cancels the opening.
    /// - Returns: The same control.
    @discardableResult
    func begin(_ name: String, _ control: WorkControl = WorkControl()) -> WorkControl {
        openings.withLock { $0[name, default: []].append(Opening(control: control)) }
        return control
    }

    /// Removes an opening that has ended, and calls the actions that wait for its end.
    func end(_ name: String, _ control: WorkControl) {
        let waiting = openings.withLock { openings -> [@Sendable () -> Void] in
            guard var left = openings[name], let index = left.firstIndex(where: { $0.control === control }) else { return [] }
            let ended = left.remove(at: index)
            openings[name] = left.isEmpty ? nil : left
            return ended.waiting
        }
        HeldLocks.assertNone()
        for action in waiting { action() }
    }

    /// Cancels the openings of a realm, which end at their next check.
    func cancel(_ name: String) {
        openings.withLock { openings in
            for opening in openings[name] ?? [] { opening.control.cancel() }
        }
    }

    /// Calls an action when the cancelled openings of a realm have ended: on the thread of the last one, or at once.
    func whenCancelled(_ name: String, _ action: @escaping @Sendable () -> Void) {
        let isOver = openings.withLock { openings -> Bool in
            guard var running = openings[name], let index = running.firstIndex(where: { $0.control.isCancelled }) else {
                return true
            }
            running[index].waiting.append({ [self] in whenCancelled(name, action) })
            openings[name] = running
            return false
        }
        if isOver { action() }
    }
}

extension Catalog {
    /// Opens a file on this thread, unless its realm was detached.
    ///
    /// - Parameters:
    ///   - control: The result of `RunningOpenings.begin`.
    /// - Throws: `WorkControl.stopped` when the realm was detached, and the errors of `Database.open`.
    func openFile(
        _ name: RealmName, path: String, _ options: Database.OpenOptions, _ control: WorkControl
    ) throws(StorageError) -> Database {
        // The realm may have been detached before this opening was registered.
        guard self[name.text] != nil else { throw WorkControl.stopped }
        var options = options
        prepare(&options, for: path)
        options.control = control
        return try Database.open(name: name, path: path, options)
    }

    /// Does long work on a realm, which detaching the realm cancels and waits for as for its openings.
    ///
    /// - Parameters:
    ///   - name: The name of the realm.
    ///   - control: Cancels the work. It is cancelled at once when there is no such realm.
    ///   - body: The work, which is done on this thread and has to check the control.
    package func work<Result, Failure>(
        on name: String, _ control: WorkControl, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        running.begin(name, control)
        defer { running.end(name, control) }
        // The realm may have been detached before this was registered.
        if self[name] == nil { control.cancel() }
        return try body()
    }

    /// Calls an action when the openings that detaching a realm has cancelled have ended.
    ///
    /// - Parameters:
    ///   - name: The name of the realm, which was detached.
    ///   - action: Called once, on this thread or on the one that ends the last opening. It must not wait.
    package func whenOpeningsEnd(_ name: String, _ action: @escaping @Sendable () -> Void) { running.whenCancelled(name, action) }
}
