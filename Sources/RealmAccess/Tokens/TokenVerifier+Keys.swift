// SPDX-License-Identifier: Apache-2.0

internal import Logging
package import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The issuers and the reading of their keys.
///
/// While a source is down, or has a document that cannot be used, the keys that were read before stay.
extension TokenVerifier {
    /// Takes the issuers of a configuration in the place of those before.
    ///
    /// Files are read again, also those with unchanged names. Keys of an address that stays the same are kept. All known tokens
    /// are forgotten, because their roles may be others now. The calling thread waits for the disk.
    ///
    /// - Parameters:
    ///   - keySets: Has the keys that were read when the configuration was checked. It forgets them.
    /// - Throws: `Failure` for a file that cannot be read or used. Nothing has changed then.
    package func replace(with issuers: [IssuerSettings], _ keySets: KeySetFiles = KeySetFiles()) throws(Failure) {
        defer { keySets.forget() }
        keySets.keep(keysInForce)
        var loaded: [(settings: IssuerSettings, keys: KeyLoader.Loaded?)] = []
        for settings in issuers {
            do throws(KeyLoader.Defect) {
                try KeyLoader.checkAuthority(settings)
                loaded.append((settings, settings.isRemote ? nil : try keySets.load(loader(settings))))
            } catch {
                throw Failure(description: "issuer '\(settings.issuer)', \(error.member): \(error.text)")
            }
        }
        if issuers.contains(where: \.isPublished) { try keepLooking() }
        let now = Instant.now()
        let (waiters, warrants, old) = state.withLock { state -> ([TokenIssuer.Waiter], [Principal], State) in
            let old = state
            state.issuers = [:]
            for (settings, keys) in loaded {
                let name = Array(settings.issuer.utf8)
                state.epochs += 1
                var issuer = TokenIssuer(settings, epoch: state.epochs)
                if let keys {
                    _ = issuer.end(.success(keys), at: now, timing)
                } else if let before = old.issuers[name], before.settings.hasSource(of: settings) {
                    issuer = before
                    issuer.settings = settings
                }
                state.issuers[name] = issuer
            }
            let warrants = old.issuers.flatMap { name, issuer in
                state.issuers[name]?.takeWarrants(of: issuer) ?? Array(issuer.warrants.values)
            }
            state.cache = TokenCache()
            generation.add(1, ordering: .acquiringAndReleasing)
            let gone = old.issuers.filter { state.issuers[$0.key]?.epoch != $0.value.epoch }
            return (gone.values.flatMap(\.waiters), warrants, old)
        }
        // The tokens that were known are released without the lock.
        withExtendedLifetime(old) {}
        for warrant in warrants { warrant.end() }
        resume(waiters)
        readDueKeys()
    }

    /// The published keys of all issuers by their fingerprints.
    package var keysInForce: [[UInt8]: VerificationKey] {
        let sets = state.withLock { state in state.issuers.values.filter(\.settings.isPublished).compactMap(\.keys) }
        return sets.reduce(into: [:]) { keys, set in keys.merge(set.byFingerprint) { first, _ in first } }
    }

    private func loader(_ settings: IssuerSettings) -> KeyLoader {
        KeyLoader(settings: settings, seconds: timing.answerSeconds, control: control)
    }

    /// Starts the thread that checks whether keys are due.
    private func keepLooking() throws(Failure) {
        do throws(Threads.Failure) {
            try keeper.start(every: timing.lookSeconds) { [weak self] in
                guard let self else { return false }
                self.lookAtFiles()
                self.readDueKeys()
                return true
            }
        } catch {
            throw Failure(description: error.description)
        }
    }

    // MARK: - Reading keys

    /// Reads the keys of the issuers whose files have changed.
    private func lookAtFiles() {
        let watched = state.withLock { state in state.issuers.compactMapValues(\.watched) }
        for (name, file) in watched {
            let mark = KeyLoader.FileMark(file.path)
            guard mark != file.mark else { continue }
            state.withLock { $0.issuers[name]?.note(mark) }
            begin([name]) { _ in true }
        }
    }

    /// Reads the keys of the issuers that are due.
    private func readDueKeys() {
        let now = Instant.now()
        begin(state.withLock { Array($0.issuers.keys) }) { $0.isDue(at: now) }
    }

    /// Reads the keys of some issuers, unless they are being read.
    private func begin(_ names: [[UInt8]], where isWanted: (TokenIssuer) -> Bool) {
        let now = Instant.now()
        for name in names {
            let epoch = state.withLock { state -> Int? in
                guard let issuer = state.issuers[name], !issuer.isReading, isWanted(issuer) else { return nil }
                state.issuers[name]?.begin(at: now)
                return issuer.epoch
            }
            if let epoch { readKeys(of: name, epoch) }
        }
    }

    // MARK: - Reading

    /// Reads keys on a separate thread: a slow source delays no other. The issuer is marked as being read.
    func readKeys(of name: [UInt8], _ epoch: Int) {
        guard let (settings, keys) = state.withLock({ state in state.issuers[name].map { ($0.settings, $0.keys) } }) else {
            return
        }
        let loader = loader(settings)
        do throws(Threads.Failure) {
            let begins = try keeper.read { [weak self] in
                let result: Result<KeyLoader.Loaded, KeyLoader.Defect>
                do throws(KeyLoader.Defect) {
                    result = .success(try loader.load(knowing: keys?.byFingerprint ?? [:]))
                } catch {
                    result = .failure(error)
                }
                self?.end(result, of: name, epoch)
            }
            if !begins { end(.failure(KeyLoader.Defect(member: "jwks", text: "the server stops")), of: name, epoch) }
        } catch {
            end(.failure(KeyLoader.Defect(member: "jwks", text: error.description)), of: name, epoch)
        }
    }

    /// Takes the result of a reading.
    private func end(_ result: Result<KeyLoader.Loaded, KeyLoader.Defect>, of name: [UInt8], _ epoch: Int) {
        let now = Instant.now()
        let (waiters, warrants, hasTurned) = state.withLock { state -> ([TokenIssuer.Waiter], [Principal], Bool) in
            guard var issuer = state.issuers[name], issuer.epoch == epoch else { return ([], [], false) }
            let old = issuer.keys
            let hasTurned = issuer.end(result, at: now, timing)
            let waiters = issuer.takeWaiters()
            let warrants = issuer.dropWarrants()
            state.issuers[name] = issuer
            if let keys = issuer.keys, let old, !old.fingerprints.isSubset(of: keys.fingerprints) {
                state.cache.keep(keys.fingerprints, of: name)
                generation.add(1, ordering: .acquiringAndReleasing)
            }
            return (waiters, warrants, hasTurned)
        }
        for warrant in warrants { warrant.end() }
        if hasTurned, !control.isCancelled { log(result, String(decoding: name, as: UTF8.self)) }
        resume(waiters)
    }

    /// Resumes tokens that have waited for keys.
    private func resume(_ waiters: [TokenIssuer.Waiter]) {
        for waiter in waiters {
            do throws(Threads.Failure) {
                try SharedThreads.signatures.submit(waiter)
            } catch {
                waiter()
            }
        }
    }

    /// Logs that a source fails, or that it works again.
    private func log(_ result: Result<KeyLoader.Loaded, KeyLoader.Defect>, _ issuer: String) {
        switch result {
        case .success: logger.notice("the keys of an issuer are read again", metadata: ["issuer": "\(issuer)"])
        case .failure(let defect):
            logger.warning(
                "the keys of an issuer cannot be read", metadata: ["issuer": "\(issuer)", "reason": "\(defect.text)"])
        }
    }

    // MARK: - Metrics

    /// Appends the metrics of tokens, issuers and their keys.
    package func write(to text: inout MetricsText) {
        let (issuers, counts) = state.withLock { ($0.issuers, $0.counts) }
        let (running, waiting) = state.withLock { ($0.running, $0.waiting) }
        let (count, cost) = state.withLock { ($0.cache.count, $0.cache.cost) }
        counts.write(to: &text, repeated: repeated.load(ordering: .relaxed))
        text.gauge("tokens_verifying", "JSON Web Tokens that are being verified.", running)
        text.gauge("tokens_waiting", "JSON Web Tokens that wait for keys.", waiting)
        text.gauge("token_cache_entries", "JSON Web Tokens in the cache.", count)
        text.gauge("token_cache_bytes", "Memory of the JSON Web Tokens in the cache.", cost)
        let sorted = issuers.values.sorted { $0.epoch < $1.epoch }
        text.header("token_key_readings_total", .counter, "Fetches of the keys of an issuer, by result.")
        for issuer in sorted {
            for (result, count) in [("read", issuer.successCount), ("failed", issuer.failureCount)] {
                text.sample(
                    "token_key_readings_total", [("issuer", issuer.settings.issuer), ("result", result)], Double(count))
            }
        }
        text.header("token_keys", .gauge, "Keys that an issuer has.")
        for issuer in sorted {
            text.sample("token_keys", [("issuer", issuer.settings.issuer)], Double(issuer.keys?.keys.count ?? 0))
        }
    }
}
