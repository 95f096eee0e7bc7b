// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Ends a program that runs for too long, by SIGKILL: children inherit the signals that threads of the tests block, so that neither
/// SIGTERM nor the alarm of `timeout` reaches them.
package final class Watchdog: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    /// Watches a process that has begun.
    package init(_ process: Process, seconds: Int) {
        let id = process.processIdentifier
        let ended = self.ended
        Thread.detachNewThread {
            if ended.wait(timeout: .now() + .seconds(seconds)) == .timedOut { kill(id, SIGKILL) }
        }
    }

    /// Stops watching, when the process has ended.
    package func stop() { ended.signal() }
}
