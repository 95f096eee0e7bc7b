// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Another thread than that of a hub, which evaluates a target when it is the turn of a client.
package struct EvaluationThread: Sendable {
    /// Has the thread do work; false if there is none.
    package typealias Run = @Sendable (_ work: @escaping @Sendable () -> Void) -> Bool

    /// The client whose turn it needs.
    package let client: ByteText
    /// Has the thread do work.
    package let run: Run

    package init(client: ByteText, run: @escaping Run) {
        self.client = client
        self.run = run
    }
}
