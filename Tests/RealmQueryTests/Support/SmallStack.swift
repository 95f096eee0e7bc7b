// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Runs work on a thread of its own with a stack of a given size.
enum SmallStack {
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    static func run<Value: Sendable>(byteCount: Int, _ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Result { try body() }
            outcome.result.withLock { $0 = result }
            done.signal()
        }
        thread.stackSize = byteCount
        thread.start()
        done.wait()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
