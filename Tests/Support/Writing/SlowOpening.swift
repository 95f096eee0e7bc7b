// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Opens files as slowly as a long file of an old format is converted: until it is cancelled, or for 20 seconds.
package final class SlowOpening: RealmReplication {
    /// How many openings have begun, and how many of them were cancelled.
    private let counts = RankedMutex(.leaf, (begun: 0, cancelled: 0))
    /// Whether the first opening fails at once.
    private let failsFirst: Bool

    /// How many slow openings have begun.
    package var begun: Int { counts.withLock { $0.begun } - (failsFirst ? 1 : 0) }
    /// How many openings were cancelled.
    package var cancelled: Int { counts.withLock { $0.cancelled } }

    package init(failsFirst: Bool = false) { self.failsFirst = failsFirst }

    package func open(_ name: RealmName, path: String, _ options: Database.OpenOptions) throws(StorageError) -> Database {
        let count = counts.withLock { counts -> Int in
            counts.begun += 1
            return counts.begun
        }
        if failsFirst, count == 1 { throw .corrupt(ref: .none, reason: "this is the first time") }
        let end = Instant.now().adding(seconds: 20)
        while Instant.now() < end {
            if options.control?.isCancelled == true { counts.withLock { $0.cancelled += 1 } }
            try options.control?.check()
            Threads.sleep(seconds: 0.005)
        }
        return try Database.open(name: name, path: path, options)
    }

    package func release(_ name: RealmName) {}
    package func resume(_ database: Database) {}
    package func drop(_ name: RealmName) throws(StorageError) {}
}
