// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Waits until something may have happened to a file: a write, a new file of its name, or its removal.
///
/// It is a hint only. Writes through mapped memory are not reported by the system, and where no watch can
/// be made a wait just takes its whole time. So what happened is found out by looking at the file.
///
/// One thread waits; any thread may call `interrupt`. The descriptors do not change after `init`.
package final class FileWatch: Sendable {
    /// The descriptor on which the system reports events; below zero where there is none.
    private let events: Int32
    /// The end of a pipe that `interrupt` makes readable; below zero where there is none.
    private let bell: Int32
    /// The end of the pipe that `interrupt` writes to.
    private let rope: Int32
    private let path: String

    /// The events of the file itself that end a wait.
    private static let fileEvents = UInt32(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)
    /// The events of its folder that end a wait: names that come and go.
    private static let folderEvents = UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR)

    /// Begins to watch a file and its folder, as far as the system has watches left.
    package init(_ path: String) {
        self.path = path
        events = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        (bell, rope) = FileWatch.makePipe()
        if events >= 0 { _ = unsafe inotify_add_watch(events, System.folder(of: path), FileWatch.folderEvents) }
        renew()
    }

    deinit {
        if events >= 0 { System.close(events) }
        if bell >= 0 { System.close(bell) }
        if rope >= 0 { System.close(rope) }
    }

    /// Makes a pipe on which neither end waits; both ends are below zero when there are no descriptors left.
    private static func makePipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return (ends[0], ends[1])
    }

    /// Watches the file that has the path now; called when another file may have taken its place.
    package func renew() {
        if events >= 0 { _ = unsafe inotify_add_watch(events, path, FileWatch.fileEvents) }
    }

    /// Waits for an event, for `interrupt`, or for a time.
    ///
    /// - Parameter time: The longest time to wait.
    package func wait(_ time: Duration) {
        var entries = [
            pollfd(fd: bell, events: Int16(POLLIN), revents: 0), pollfd(fd: events, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = Int32(clamping: time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000)
        _ = unsafe poll(&entries, nfds_t(entries.count), max(1, milliseconds))
        FileWatch.drain(bell)
        FileWatch.drain(events)
    }

    /// Ends the wait of the other thread, or the next one.
    package func interrupt() {
        let mark: [UInt8] = [1]
        if rope >= 0 { _ = unsafe write(rope, mark, 1) }
    }

    /// Removes what a descriptor has to be read.
    private static func drain(_ descriptor: Int32) {
        guard descriptor >= 0 else { return }
        var room = [UInt64](repeating: 0, count: 512)
        while unsafe read(descriptor, &room, 4096) > 0 {}
    }
}
