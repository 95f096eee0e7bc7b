// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// The threads of clients, whose work waits until the test calls `work()`.
final class WaitingWorkers: Sendable {
    private let monitor = Monitor<[@Sendable () -> Void]>([])

    /// The number of waiting calls.
    var count: Int { monitor.withLock { $0.count } }

    func add(_ work: @escaping @Sendable () -> Void) { monitor.broadcast { $0.append(work) } }

    func thread(_ client: String) -> EvaluationThread {
        EvaluationThread(client: ByteText(client)) { [self] work in
            add(work)
            return true
        }
    }

    /// Does what waits, on the calling thread.
    func work() {
        let waiting = monitor.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in waiting { work() }
    }

    /// Does what waits until the answers have come; returns false after 20 seconds.
    func answer<Value: Sendable>(_ answers: Awaited<Value>...) -> Bool { self.answer(answers) }

    /// Does what waits until the answers have come; returns false after 20 seconds.
    func answer<Value: Sendable>(_ answers: [Awaited<Value>]) -> Bool {
        eventually(seconds: 20) {
            work()
            return answers.allSatisfy(\.isSet)
        }
    }
}
