// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Something that runs beside a test, which waits for its end.
final class StoppingThread: Sendable {
    private let isDone = Monitor(false)

    init(_ body: @escaping @Sendable () -> Void) {
        Threads.spawn("beside") { [isDone] in
            body()
            isDone.broadcast { $0 = true }
        }
    }

    func wait() { _ = isDone.wait(until: Instant.now().adding(seconds: 120)) { $0 ? true : nil } }
}
