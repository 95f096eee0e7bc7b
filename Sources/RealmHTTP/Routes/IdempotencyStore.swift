// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The first responses to writes with an `Idempotency-Key`, for clients that repeat a request
/// because they received no response.
///
/// A repetition is recognised by the key; method, target, realm, media type, transaction, conditions, handling and a digest of the
/// body must be the same. A sender whose rights have changed since is not shown the response; if the request was refused, and has changed nothing,
/// it is carried out anew. The digest is seeded per process, so a client cannot construct two bodies of the same digest. The store is
/// bounded in time, number and bytes; beyond that the oldest of the client that has most is dropped. When bytes are short only the document of a response is dropped: the write is not repeated. It is in
/// memory only: a restart of the server forgets all keys. So does the end of the realm as it is open: its deletion, another file
/// in its place, or a new opening. Any thread may use it.
final class IdempotencyStore: Sendable {
    /// The entry of one value of `Idempotency-Key`.
    private struct Entry {
        /// The digest of the request that first had the key.
        let fingerprint: Int
        /// The client that the response is kept for.
        let client: String
        /// The rights by which the first request was admitted.
        let rights: String
        /// The realm of the request, by its name even where the path says `@default`; nil outside of realms.
        let realm: ByteText?
        /// The opening of the realm that the response is about, which ends as the outcomes of asynchronous writes do.
        var life: ByteText
        /// The first attempt, which alone may set the response.
        let attempt: UInt64
        /// The response; nil while the first attempt is running.
        var answer: Response?
        /// Whether the request was refused and has changed nothing, by its response or after it.
        var isRefusal = false
        /// The expiry of the response; in the distant future while there is none.
        var until = Instant.distantFuture
    }

    /// All keys and responses of the store, guarded by one lock.
    private struct Entries {
        /// The entries by the principal and the value of `Idempotency-Key`.
        var byKey: [ByteText: Entry] = [:]
        var attempts: UInt64 = 0
        /// Which responses have to go.
        var kept = KeptShares()
    }

    /// All keys and responses, guarded by a lock that is never held while waiting.
    private let entries = RankedMutex(.leaf, Entries())
    /// The realms, which know the opening after a request that has begun one; nil where no request does.
    private let catalog: Catalog?
    /// The retention of a response, in seconds.
    private let seconds: Double
    /// The limit of kept responses.
    private let countLimit: Int
    /// The memory in bytes that the documents and header fields of the responses may take together; one of them may take an
    /// eighth of it.
    private let byteLimit: Int

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - catalog: The realms; nil where no request begins another opening of one.
    ///   - seconds: The retention of a response.
    ///   - countLimit: The limit of kept responses.
    ///   - byteLimit: The memory in bytes that the responses may take together.
    init(_ catalog: Catalog? = nil, seconds: Double = 600, countLimit: Int = 10_000, byteLimit: Int = 64 << 20) {
        self.catalog = catalog
        self.seconds = seconds
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    /// The problem of a key that another request has.
    static var reused: Problem { Problem(.idempotencyKeyReused, "this idempotency key was used for another request") }

    /// The result of looking up a request that writes.
    enum Attempt {
        /// The request has no key, or a method that is idempotent anyway.
        case none
        /// The key is new and belongs to this request until its ticket has a response.
        case first(Ticket)
        /// The request is a repetition, and this is the response to the first one, marked with `Idempotency-Replayed`.
        case known(Response)
    }

    /// The claim of a first attempt on its key.
    ///
    /// Its holder must call `keep(_:)` or `forget()` in the end; until then every repetition is rejected as still in progress.
    struct Ticket: Sendable {
        /// The store that issued the ticket.
        fileprivate let store: IdempotencyStore
        /// The principal and the value of `Idempotency-Key` that the first attempt has claimed.
        fileprivate let key: String
        /// The attempt, among others with the same key.
        fileprivate let attempt: UInt64
        /// The name of a realm that the request may reopen, as a restore does; nil for other requests.
        fileprivate let reopened: String?

        /// Keeps a response for repetitions, unless the same request may succeed later.
        ///
        /// Refusals for reasons that may pass are not kept, nor are streams: then the key becomes free, and a repetition is
        /// carried out. A refusal is kept in any case when a part of the request was carried out.
        ///
        /// - Parameter response: The response to the first attempt.
        /// - Returns: The same response, for the client.
        func keep(_ response: Response) -> Response {
            var isKept = !response.isStreamed
            if case .refusedForNow = response.effect { isKept = false }
            if isKept { store.keep(response, self) } else { forget() }
            return response
        }

        /// Frees the key, so that the next request with it counts as the first.
        func forget() { store.forget(self) }

        /// Records that a write has failed after its response, which was kept or is about to be.
        func settle(_ problem: Problem) { store.settle(problem, self) }
    }

    /// Looks up the key of a request, and claims it for this request when it is new. Expired responses are dropped on the way.
    ///
    /// - Parameter call: A write whose body is complete; a long body is read for its digest.
    /// - Returns: The result of the look-up.
    /// - Throws: `invalid_parameter` for a malformed key, `idempotency_key_reused` when another
    ///   request had the key, `idempotency_in_progress` while the first one is running.
    func begin(_ call: Call) throws(Problem) -> Attempt {
        guard let key = call.request[.idempotencyKey], call.request.method == .post || call.request.method == .patch
        else {
            return .none
        }
        guard (1...128).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .invalidHeader("Idempotency-Key", "an idempotency key is 1 to 128 visible ASCII characters")
        }
        let fingerprint = IdempotencyStore.fingerprint(call)
        // The same key of another principal is another key.
        let name = call.sender + "\n" + key
        let rights = call.rightsIdentity
        let realm = call.match.decoded(.realm)
        let life = IdempotencyStore.life(of: call.realm)
        let reopens = realm != nil && RouteTable.route(of: call).concernsFile
        let (outcome, forgotten) = entries.withLock { entries -> (Result<Attempt, Problem>, [Entry]) in
            entries.attempts += 1
            let first = Entry(
                fingerprint: fingerprint, client: call.sender, rights: rights, realm: realm.map { ByteText($0) }, life: life,
                attempt: entries.attempts)
            let ticket = Ticket(store: self, key: name, attempt: entries.attempts, reopened: reopens ? realm : nil)
            var forgotten = forgetOld(&entries)
            if let entry = entries.byKey[name], entry.until <= .now() { forgotten += remove(name, &entries) }
            // Writes before the realm was reopened may be gone.
            if let entry = entries.byKey[name], entry.answer != nil, entry.realm == first.realm, entry.life != life {
                forgotten += remove(name, &entries)
            }
            // A refused request has changed nothing, and its problem may show data that other rights do not.
            if let entry = entries.byKey[name], entry.answer != nil, entry.isRefusal,
                !entry.rights.utf8.elementsEqual(rights.utf8), entry.fingerprint == fingerprint
            {
                forgotten += remove(name, &entries)
            }
            return (attempt(first, ticket, &entries), forgotten)
        }
        withExtendedLifetime(forgotten) {}
        return try outcome.get()
    }

    /// Compares a request with the entry of its key, under the lock.
    ///
    /// - Parameters:
    ///   - first: The entry of the request, which is added if its key is new.
    ///   - ticket: The claim of the request on its key.
    /// - Returns: The result of `begin(_:)`.
    private func attempt(_ first: Entry, _ ticket: Ticket, _ entries: inout Entries) -> Result<Attempt, Problem> {
        guard let entry = entries.byKey[ticket.key] else {
            entries.byKey[ticket.key] = first
            return .success(.first(ticket))
        }
        guard entry.fingerprint == first.fingerprint else {
            return .failure(IdempotencyStore.reused)
        }
        guard var answer = entry.answer else {
            return .failure(Problem(.idempotencyInProgress, "the first request with this idempotency key is still running"))
        }
        // The document was made for other rights.
        if !entry.rights.utf8.elementsEqual(first.rights.utf8) { answer = IdempotencyStore.bare(answer) }
        answer.add("Idempotency-Replayed", constant: "true")
        return .success(.known(answer))
    }

    /// Returns the response to a repetition with other rights, or to one whose response has lost its document: 204, with the
    /// version. That of a request which was carried out in part is a problem without anything about data.
    private static func bare(_ answer: Response) -> Response {
        if case .partial(let document) = answer.effect {
            var bare = Response(
                status: answer.status, type: "application/problem+json", document,
                headers: [HeaderField("Cache-Control", "no-store")])
            (bare.problem, bare.effect) = (answer.problem, answer.effect)
            return bare
        }
        var bare = Response(status: 204)
        bare.headers = answer.headers.filter { $0.name.description == "Realm-Version" }
        bare.add("Cache-Control", constant: "no-store")
        return bare
    }

    /// Removes a kept response.
    ///
    /// - Returns: The dropped entries, for the caller to free after it has released the lock.
    private func remove(_ key: String, _ entries: inout Entries) -> [Entry] {
        guard let entry = entries.byKey.removeValue(forKey: key) else { return [] }
        entries.kept.remove(ByteText(key))
        return [entry]
    }

    /// Returns the name of the opening of a realm; an empty one for a realm that is not open, and for none.
    private static func life(of realm: Catalog.State?) -> ByteText {
        guard case .ready(let database)? = realm else { return ByteText("") }
        return ByteText(database.epoch.text)
    }

    /// Returns the digest of everything that must be equal in a repetition.
    ///
    /// - Complexity: O(n) in the length of the body. A body in a file is read a MiB at a time; one
    ///   that cannot be read counts as far as it could be.
    private static func fingerprint(_ call: Call) -> Int {
        var hasher = Hasher()
        hasher.combine(head(of: call))
        // The default realm may be another one by now.
        hasher.combine(call.match.decoded(.realm).map { ByteText($0) })
        unsafe call.request.body.bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        if let file = call.request.body.file {
            var offset = 0
            while let piece = try? file.read(at: offset, byteCount: 1 << 20), !piece.isEmpty {
                unsafe piece.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
                offset += piece.count
            }
        }
        return hasher.finalize()
    }

    /// Stores the response of a key and drops responses that have expired or exceed a bound.
    ///
    /// - Parameters:
    ///   - ticket: The claim on the key.
    private func keep(_ response: Response, _ ticket: Ticket) {
        let key = ticket.key
        let life = ticket.reopened.map { IdempotencyStore.life(of: catalog?[$0]) }
        let byteCount = IdempotencyStore.byteCount(of: response)
        let isLong = byteCount > byteLimit / 8
        let forgotten = entries.withLock { entries -> [Entry] in
            guard var entry = entries.byKey[key], entry.answer == nil, entry.attempt == ticket.attempt else { return [] }
            entry.isRefusal = entry.isRefusal || response.effect.isRefusal
            // Nothing was written that a repetition would write again.
            if isLong, entry.isRefusal { return entries.byKey.removeValue(forKey: key).map { [$0] } ?? [] }
            entry.answer = isLong ? IdempotencyStore.bare(response) : response
            if let life { entry.life = life }
            entry.until = Instant.now().adding(seconds: seconds)
            entries.byKey[key] = entry
            // Refusals have a separate share, so that they take no place of responses to writes.
            let client = ByteText(entry.isRefusal ? entry.client + "\n" : entry.client)
            entries.kept.add(ByteText(key), of: client, byteCount: isLong ? 0 : byteCount, until: entry.until)
            return forgetOld(&entries)
        }
        withExtendedLifetime(forgotten) {}
    }

    /// Returns the memory in bytes that the document and the header fields of a response take.
    private static func byteCount(of response: Response) -> Int {
        var count = response.headers.reduce(0) { $0 + $1.text.utf8.count }
        if case .bytes(let buffer) = response.body { count += buffer.capacity }
        return count
    }

    /// Removes a key whose first attempt has no response to keep, so that the next request with it is carried out.
    private func forget(_ ticket: Ticket) {
        entries.withLock { entries in
            guard let entry = entries.byKey[ticket.key], entry.attempt == ticket.attempt, entry.answer == nil else { return }
            entries.byKey[ticket.key] = nil
        }
    }

    /// Frees the key of a write that has failed after its response for a reason that may pass; any other has changed nothing.
    private func settle(_ problem: Problem, _ ticket: Ticket) {
        let forgotten = entries.withLock { entries -> [Entry] in
            guard entries.byKey[ticket.key]?.attempt == ticket.attempt else { return [] }
            guard !problem.isPassing else { return remove(ticket.key, &entries) }
            entries.byKey[ticket.key]?.isRefusal = true
            return []
        }
        withExtendedLifetime(forgotten) {}
    }

    /// Drops responses that have expired or are too many, and the documents of those that take too much memory. A refusal
    /// consists of its document.
    ///
    /// - Returns: The dropped entries, for the caller to free after it has released the lock.
    private func forgetOld(_ entries: inout Entries) -> [Entry] {
        var forgotten = entries.kept.removeOld().compactMap { entries.byKey.removeValue(forKey: $0) }
        while let key = entries.kept.removeOne(beyond: countLimit) {
            if let entry = entries.byKey.removeValue(forKey: key) { forgotten.append(entry) }
        }
        while let key = entries.kept.removeDocument(beyond: byteLimit) {
            guard let entry = entries.byKey[key], let answer = entry.answer else { continue }
            if !entry.isRefusal {
                entries.byKey[key]?.answer = IdempotencyStore.bare(answer)
                forgotten.append(entry)
            } else {
                forgotten += remove(key.text, &entries)
            }
        }
        return forgotten
    }
}
