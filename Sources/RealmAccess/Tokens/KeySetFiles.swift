// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The files with keys of issuers, which are read once while a configuration is checked and put in force.
///
/// Issuers with the same file share its keys. Keys that are in force already are not made again.
package final class KeySetFiles: Sendable {
    /// The state under the lock.
    private struct State {
        /// The results of reading, by the bytes of the path.
        var loaded: [[UInt8]: KeyLoader.Loaded] = [:]
        /// The keys that need not be made again, by their fingerprints.
        var known: [[UInt8]: VerificationKey] = [:]
    }

    private let state = RankedMutex(.leaf, State())

    package init() {}

    /// Takes keys that need not be made again.
    package func keep(_ keys: [[UInt8]: VerificationKey]) { state.withLock { $0.known.merge(keys) { first, _ in first } } }

    /// Returns the keys of an issuer whose source is a file. The calling thread waits for the disk.
    ///
    /// - Throws: `KeyLoader.Defect` when they cannot be read or used.
    package func load(_ loader: KeyLoader) throws(KeyLoader.Defect) -> KeyLoader.Loaded {
        // A secret is read each time, so that none is kept here.
        guard case .file(let path) = loader.settings.source else { return try loader.load() }
        let name = Array(path.utf8)
        let (before, known) = state.withLock { ($0.loaded[name], $0.known) }
        if let before, let mark = before.mark, mark == KeyLoader.FileMark(path) { return before }
        let loaded = try loader.load(knowing: known)
        state.withLock { $0.loaded[name] = loaded }
        return loaded
    }

    func forget() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(old) {}
    }
}
