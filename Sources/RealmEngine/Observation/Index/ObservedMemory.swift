// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// The memory that the observed definitions of the process take: their rows and sections, and the change sets that are kept of them.
///
/// Definitions that several clients observe count once. All threads may use it.
package final class ObservedMemory: Sendable {
    /// The memory of this process.
    package static let shared = ObservedMemory()
    private let used = Atomic<Int>(0)

    /// The bytes in use, about.
    package var byteCount: Int { used.load(ordering: .relaxed) }

    /// Counts more bytes, or fewer if negative.
    package func add(_ bytes: Int) { if bytes != 0 { used.add(bytes, ordering: .relaxed) } }

    /// The limits for beginning an observation.
    package struct Admission: Sendable {
        /// The bytes of all definitions beyond which none begins.
        package var byteLimit = Int.max
        /// The instant until which the caller waits. An evaluation on another thread continues as long as any caller waits for
        /// it.
        package var deadline = Instant.distantFuture
        /// Returns whether the observation is still wanted, as long as it is evaluated or waits for that; nil if that is not known.
        /// Called on the thread that evaluates and on that of the hub.
        package var isWanted: (@Sendable () -> Bool)?
        /// Whether the caller has time left and still waits. Called without a lock.
        var mayContinue: Bool { Instant.now() < deadline && isWanted?() ?? true }
        /// The seconds between two checks whether a waiting call is still wanted.
        private static let pause = 0.5
        /// The instant at which a waiting call is looked at next: its deadline, or soon when its client may leave.
        var looked: Instant { isWanted == nil ? deadline : min(deadline, Instant.now().adding(seconds: Admission.pause)) }

        /// Has another thread than that of the hub do work, which evaluates the target; false if there is none. Nil to evaluate it on the
        /// thread of the hub, where all other targets wait meanwhile.
        package var runElsewhere: (@Sendable (_ work: @escaping @Sendable () -> Void) -> Bool)?

        /// Makes an admission without limits.
        package init() {}
    }
}
