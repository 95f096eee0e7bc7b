// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
internal import RealmPlatform

extension WorkerPool {
    /// Makes the worker pool of the main listener, without threads at first.
    package convenience init(_ limits: Limits) { self.init(name: "worker", Size(limits)) }
}

extension WorkerPool.Size {
    /// Makes the limits of the worker pool of the main listener from the limits of the server.
    package init(_ limits: Limits) {
        self.init(
            threads: limits.workers, threadsPerClient: limits.workersPerPrincipal, queue: limits.workerQueue,
            queuePerClient: limits.workerQueuePerPrincipal)
    }
}
