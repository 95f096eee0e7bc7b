// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

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
        /// The bytes of each client that has any, by the bytes of its name.
        var clients: [[UInt8]: Int] = [:]
        /// How many writes were refused.
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
    /// A transaction beside which there is no other is always granted: its own limit bounds it. So are writes without a client,
    /// which are those of the server itself.
    ///
    /// - Parameters:
    ///   - bytes: How many more.
    ///   - holding: What the transaction has already.
    ///   - client: The client whose write takes them; nil for none.
    ///   - limits: The limits.
    /// - Throws: `overloaded` when all transactions, or those of the client, would take more than their limit; nothing has changed
    ///   then.
    fileprivate func take(
        _ bytes: Int, beside holding: [[UInt8]: Int], of client: [UInt8], _ limits: WriteLimits
    ) throws(WriteError) {
        let refusal = state.withLock { state -> WriteError? in
            let own = holding.values.reduce(0, +)
            let ofClient = state.clients[client, default: 0]
            if !client.isEmpty, state.total > own, state.total + bytes > limits.uncommittedBytes {
                state.refusals += 1
                return WriteMemory.refusal("writes", limits.uncommittedBytes, .uncommittedBytes)
            }
            let hasOthers = ofClient > holding[client, default: 0]
            if !client.isEmpty, hasOthers, ofClient + bytes > limits.uncommittedBytesPerClient {
                state.refusals += 1
                return WriteMemory.refusal("writes of this client", limits.uncommittedBytesPerClient, .uncommittedBytesPerClient)
            }
            state.total += bytes
            state.clients[client] = ofClient + bytes
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Gives back what a transaction has.
    fileprivate func giveBack(_ holding: [[UInt8]: Int]) {
        guard !holding.isEmpty else { return }
        state.withLock { state in
            for (client, bytes) in holding {
                state.total -= bytes
                let left = state.clients[client, default: 0] - bytes
                state.clients[client] = left > 0 ? left : nil
            }
        }
    }

    /// Makes the error for a write that has to wait until others are committed.
    private static func refusal(_ whose: String, _ limit: Int, _ setting: WriteError.Setting) -> WriteError {
        var error = WriteError(
            .overloaded, "uncommitted \(whose) in all realms take as much memory as the server permits; nothing was written")
        error.limit = limit
        error.exceeded = setting
        error.retryAfter = .seconds(1)
        return error
    }
}

/// What one transaction has of the memory for uncommitted writes. It belongs to the thread of the writer.
final class WriteHolding {
    /// What a transaction may take without being counted, in bytes: most writes need no more.
    private static let free = 256 << 10
    /// How many bytes are counted at once, so that it is done seldom.
    private static let step = 1 << 20

    private let memory: WriteMemory
    /// The bytes by the clients whose writes took them.
    private var shares: [[UInt8]: Int] = [:]
    /// The name of the client whose write runs, by its bytes; empty for none.
    private var client: [UInt8] = []
    /// The bytes that the transaction may take before more are counted.
    private(set) var byteCount = WriteHolding.free

    /// Makes a holding of nothing.
    ///
    /// - Parameters:
    ///   - memory: The memory that it takes from.
    ///   - client: The client of the writes; nil for none.
    init(_ memory: WriteMemory, of client: String? = nil) {
        self.memory = memory
        setClient(client)
    }

    /// Sets the client whose write follows; nil for none.
    func setClient(_ name: String?) { client = name.map { Array($0.utf8) } ?? [] }

    /// Counts more memory if the transaction takes more than was counted.
    ///
    /// - Parameters:
    ///   - bytes: What it takes in all.
    ///   - limits: The limits.
    /// - Throws: `overloaded` when there is not so much.
    func extend(to bytes: Int, _ limits: WriteLimits) throws(WriteError) {
        guard bytes > byteCount else { return }
        let more = bytes - byteCount + WriteHolding.step
        try memory.take(more, beside: shares, of: client, limits)
        shares[client, default: 0] += more
        byteCount += more
    }

    /// Gives everything back.
    func release() {
        memory.giveBack(shares)
        shares = [:]
        byteCount = WriteHolding.free
    }

    deinit { memory.giveBack(shares) }
}
