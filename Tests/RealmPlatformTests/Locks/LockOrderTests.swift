// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite("The order of locks")
struct LockOrderTests {
    @Test func `locks that are taken in order do what a mutex does, and let go in any order of errors`() throws {
        struct Wrong: Error {}
        let outer = RankedMutex(.changeFeed, 1)
        let inner = RankedMutex(.leaf, 2)
        #expect(throws: Wrong.self) {
            try outer.withLock { _ in try inner.withLock { _ throws(Wrong) in throw Wrong() } }
        }
        let sum = outer.withLock { outer in inner.withLock { inner in outer + inner } }
        #expect(sum == 3)
        HeldLocks.assertNone()
    }

    @Test func `what one thread holds is nothing to another`() {
        let outer = RankedMutex(.leaf, 0)
        let done = Monitor(false)
        outer.withLock { _ in
            Threads.spawn("other") {
                RankedMutex(.changeFeed, 0).withLock { $0 += 1 }
                done.broadcast { $0 = true }
            }
        }
        #expect(done.wait(until: .now().adding(seconds: 10)) { $0 ? true : nil } == true)
    }

    #if DEBUG
    @Test func `a lock that is taken against the order ends a debug build`() async {
        await #expect(processExitsWith: .failure) {
            let inner = RankedMutex(.leaf, 0)
            let outer = RankedMutex(.changeFeed, 0)
            inner.withLock { _ in outer.withLock { _ in } }
        }
    }

    @Test func `two locks of the same rank are not held together`() async {
        await #expect(processExitsWith: .failure) {
            let first = RankedMutex(.leaf, 0)
            let second = RankedMutex(.leaf, 0)
            first.withLock { _ in second.withLock { _ in } }
        }
    }

    @Test func `a callback under a lock ends a debug build`() async {
        await #expect(processExitsWith: .failure) { RankedMutex(.leaf, 0).withLock { _ in HeldLocks.assertNone() } }
    }

    @Test func `nobody waits for another thread under a lock`() async {
        await #expect(processExitsWith: .failure) {
            let monitor = Monitor(true, rank: .versionPins)
            RankedMutex(.leaf, 0).withLock { _ in _ = monitor.wait { $0 ? true : nil } }
        }
    }
    #endif

    @Test func `the sources have no lock without a rank`() throws {
        let folder = Fixtures.packageRoot.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var (found, count) = ([String](), 0)
        for case let file as URL in files where file.pathExtension == "swift" {
            guard !["RealmPlatform/Locks/", "/SystemMonitor.swift"].contains(where: { file.path.contains($0) }) else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            count += 1
            // Most files have no such word, which is known sooner.
            guard ["Mutex", "pthread_", "NSLock", "os_unfair_lock"].contains(where: { text.contains($0) }) else { continue }
            if try /(^|[^A-Za-z])Mutex[<(]|pthread_(mutex|rwlock|spin)_|NSLock|os_unfair_lock/.firstMatch(in: text) != nil {
                found.append(file.lastPathComponent)
            }
        }
        #expect(found == [] && count > 500)
    }
}
