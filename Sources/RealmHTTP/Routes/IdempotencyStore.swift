// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The first answers to requests with an `Idempotency-Key`, for those who ask again because they got none.
///
/// Bounded in time, number and bytes; the oldest go first. A request is recognised by method, target, media type and a
/// digest of its body that is keyed per process.
final class IdempotencyStore: Sendable {
    private struct Entry {
        let fingerprint: Int
        /// Nil while the first attempt is running.
        var answer: Response?
        var until = Instant.distantFuture
        var byteCount = 0
    }

    private struct Entries {
        var byKey: [String: Entry] = [:]
        /// Keys of answers that are kept, oldest first.
        var order: [String] = []
        var bytes = 0
    }

    private let entries = RankedMutex(.leaf, Entries())
    private let seconds: Double
    private let countLimit: Int
    private let byteLimit: Int

    /// A store that keeps answers for `seconds`, at most `countLimit` of them, and `byteLimit` bytes of bodies together.
    init(seconds: Double = 600, countLimit: Int = 10_000, byteLimit: Int = 64 << 20) {
        self.seconds = seconds
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    /// What is known of a request that changes something.
    enum Attempt {
        /// The request has no key, or its method has no use for one.
        case none
        case first(Ticket)
        case known(Response)
    }

    /// The hold of a first attempt.
    struct Ticket: Sendable {
        fileprivate let store: IdempotencyStore
        fileprivate let key: String

        /// Keeps an answer, unless it tells that the request may be tried again.
        func keep(_ response: Response) -> Response {
            guard response.status < 500, response.status != 423, response.status != 429, !response.isStreamed else {
                forget()
                return response
            }
            store.keep(response, key)
            return response
        }

        /// Lets the next attempt be the first.
        func forget() { store.forget(key) }
    }

    /// Looks the key of a request up, and takes it for this request when it is new. Throws when the same key came with
    /// another request, or when the first one is still running.
    func begin(_ request: Request) throws(Problem) -> Attempt {
        guard let key = request.headers[.idempotencyKey], request.method == .post || request.method == .patch else {
            return .none
        }
        guard (1...128).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .invalidHeader("Idempotency-Key", "an idempotency key is 1 to 128 visible ASCII characters")
        }
        let fingerprint = IdempotencyStore.fingerprint(request)
        let (outcome, forgotten) = entries.withLock { entries -> (Result<Attempt, Problem>, [Entry]) in
            let forgotten = forgetOld(&entries)
            return (attempt(key, fingerprint, &entries), forgotten)
        }
        withExtendedLifetime(forgotten) {}
        return try outcome.get()
    }

    private func attempt(_ key: String, _ fingerprint: Int, _ entries: inout Entries) -> Result<Attempt, Problem> {
        guard let entry = entries.byKey[key] else {
            entries.byKey[key] = Entry(fingerprint: fingerprint)
            return .success(.first(Ticket(store: self, key: key)))
        }
        guard entry.fingerprint == fingerprint else {
            return .failure(Problem(.idempotencyKeyReused, "this idempotency key was used for another request"))
        }
        guard var answer = entry.answer else {
            return .failure(Problem(.idempotencyInProgress, "the first request with this idempotency key is still running"))
        }
        answer.add("Idempotency-Replayed", constant: "true")
        return .success(.known(answer))
    }

    private static func fingerprint(_ request: Request) -> Int {
        var hasher = Hasher()
        hasher.combine(request.methodName)
        hasher.combine(request.target.bytes)
        hasher.combine(request.headers[.contentType])
        hasher.combine(request.headers[.realmTransaction])
        unsafe request.body.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        if let file = request.bodyFile {
            var offset = 0
            while let piece = try? file.read(at: offset, byteCount: 1 << 20), !piece.isEmpty {
                unsafe piece.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
                offset += piece.count
            }
        }
        return hasher.finalize()
    }

    private func keep(_ response: Response, _ key: String) {
        var byteCount = 1024
        if case .bytes(let buffer) = response.body { byteCount += buffer.capacity }
        let forgotten = entries.withLock { entries -> [Entry] in
            guard byteCount <= byteLimit / 8, entries.byKey[key] != nil else {
                return entries.byKey.removeValue(forKey: key).map { [$0] } ?? []
            }
            entries.byKey[key]?.answer = response
            entries.byKey[key]?.until = Instant.now().adding(seconds: seconds)
            entries.byKey[key]?.byteCount = byteCount
            entries.order.append(key)
            entries.bytes += byteCount
            return forgetOld(&entries)
        }
        withExtendedLifetime(forgotten) {}
    }

    private func forget(_ key: String) {
        entries.withLock { entries in
            guard entries.byKey[key]?.answer == nil else { return }
            entries.byKey[key] = nil
        }
    }

    /// Returns what is forgotten, to be let go of after the lock is open again.
    private func forgetOld(_ entries: inout Entries) -> [Entry] {
        let now = Instant.now()
        var forgotten: [Entry] = []
        var gone = 0
        for key in entries.order {
            let isOld = (entries.byKey[key]?.until ?? now) <= now
            guard isOld || entries.order.count - gone > countLimit || entries.bytes > byteLimit else { break }
            if let entry = entries.byKey.removeValue(forKey: key) {
                entries.bytes -= entry.byteCount
                forgotten.append(entry)
            }
            gone += 1
        }
        if gone > 0 { entries.order.removeFirst(gone) }
        return forgotten
    }
}
