// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The memory that the uncommitted writes of all realms take together, and what of it each client has.
///
/// The limit of a single write does not bound many of them in many realms. All threads may use it; one lock guards the counts.
package final class WriteMemory: Sendable, Equatable {
    /// The memory of this process.
    package static let shared = WriteMemory()

    /// The counts.
    private struct State {
        /// The bytes of all transactions.
        var total = 0
        var clients: [ByteText: Int] = [:]
        var refusals = 0
    }

    private let state = RankedMutex(.leaf, State())

    /// Makes a memory that nothing is taken from.
    package init() {}

    /// Whether both are the same memory.
    package static func == (left: WriteMemory, right: WriteMemory) -> Bool { left === right }

    /// The bytes in use, about.
    package var byteCount: Int { state.withLock { $0.total } }
    /// The number of writes that were refused because others take too much.
    package var refusalCount: Int { state.withLock { $0.refusals } }

    /// Counts more bytes of a transaction.
    ///
    /// A transaction that has as much as all others together is granted more, as is the only one, so small writes do not abort a large
    /// one; its own limit bounds it. Writes without a client, such as attaching, are granted too.
    ///
    /// - Parameters:
    ///   - client: The client whose write takes them; nil for none.
    ///   - own: The bytes that the transaction has already, in all and for this client.
    /// - Throws: `overloaded` when all transactions, or those of the client, would take more than their limit; nothing has changed
    ///   then.
    fileprivate func take(
        _ bytes: Int, for client: ByteText?, plus own: (total: Int, ofClient: Int), _ limits: WriteLimits
    ) throws(WriteError) {
        let refusal = state.withLock { state -> WriteError? in
            if let client {
                let ofClient = state.clients[client] ?? 0
                if state.total - own.total > own.total, state.total + bytes > limits.uncommittedBytes {
                    state.refusals += 1
                    return WriteMemory.refusal("writes", limits.uncommittedBytes, .uncommittedBytes)
                }
                if ofClient - own.ofClient > own.ofClient, ofClient + bytes > limits.uncommittedBytesPerClient {
                    state.refusals += 1
                    return WriteMemory.refusal(
                        "writes of this client", limits.uncommittedBytesPerClient, .uncommittedBytesPerClient)
                }
                state.clients[client] = ofClient + bytes
            }
            state.total += bytes
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Releases the memory of a transaction.
    ///
    /// - Parameters:
    ///   - shares: The bytes of each client.
    fileprivate func giveBack(_ total: Int, _ shares: [ByteText: Int]) {
        guard total > 0 else { return }
        state.withLock { state in
            state.total -= total
            for (client, bytes) in shares {
                let left = (state.clients[client] ?? 0) - bytes
                state.clients[client] = left > 0 ? left : nil
            }
        }
    }

    /// Makes the error for a write that has to wait until others are committed.
    private static func refusal(_ whose: String, _ limit: Int, _ setting: WriteError.Setting) -> WriteError {
        var error = WriteError(
            .overloaded,
            "with this, uncommitted \(whose) in all realms would take more than \(limit) bytes; retry when others are committed")
        error.limit = limit
        error.exceeded = setting
        error.retryAfter = .seconds(1)
        return error
    }
}

extension WriteMemory {
    /// The share of one transaction in the memory for uncommitted writes. It belongs to the thread of the writer.
    final class Holding {
        /// The bytes that a transaction may take uncounted; most writes need fewer.
        private static let free = 256 << 10
        /// How many bytes are counted at once, so that it is done seldom.
        private static let step = 1 << 20

        private let memory: WriteMemory
        /// The bytes by the clients whose writes took them.
        private var shares: [ByteText: Int] = [:]
        /// The client whose write runs; nil for none.
        private var client: ByteText?
        /// The bytes that the transaction may take before more are counted.
        private(set) var byteCount = Holding.free
        /// The bytes of the results of the writes so far, which are kept until the commit.
        var resultBytes = 0

        /// Makes a holding of nothing.
        ///
        /// - Parameters:
        ///   - memory: The memory that it takes from.
        ///   - client: The client of the writes; nil for none.
        init(_ memory: WriteMemory, of client: String? = nil) {
            self.memory = memory
            setClient(client)
        }

        /// Sets the client whose write follows; nil or an empty name for none.
        func setClient(_ name: String?) { client = name.flatMap { $0.isEmpty ? nil : ByteText($0) } }

        /// The bytes that are counted.
        private var counted: Int { byteCount - Holding.free }

        /// Counts more memory if the transaction takes more than was counted.
        ///
        /// - Parameters:
        ///   - bytes: The memory that it takes in all.
        /// - Throws: `overloaded` when there is not so much.
        func extend(to bytes: Int, _ limits: WriteLimits) throws(WriteError) {
            guard bytes > byteCount else { return }
            let more = bytes - byteCount + Holding.step
            let ofClient = client.flatMap { shares[$0] } ?? 0
            try memory.take(more, for: client, plus: (total: counted, ofClient: ofClient), limits)
            if let client { shares[client] = ofClient + more }
            byteCount += more
        }

        /// Gives everything back.
        func release() {
            memory.giveBack(counted, shares)
            shares = [:]
            byteCount = Holding.free
        }

        deinit { release() }
    }
}
