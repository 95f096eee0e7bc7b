// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The certificates of a running server, which are replaced while connections stay.
///
/// A connection keeps the certificates that it was made with; the next one gets the newest. Unusable ones replace nothing. There
/// is one for a server. Any thread may call it; a lock guards the state, and is not held while files are read.
package final class TLSStore: Sendable {
    /// The certificates in force, and their options.
    private struct State {
        /// The options in force.
        var options: TLSOptions
        /// The certificates in force.
        var set: TLSSet
        /// The state of the files when they were last read, usable or not.
        var stamps: [ByteText: System.FileFacts]
        /// The number of times that certificates were replaced.
        var replacements = 0
        /// The number of times that new ones could not be used.
        var failures = 0
        /// Whether the certificates in force are older than their files, which cannot be used.
        var isStale = false
    }

    private let state: RankedMutex<State>
    /// The certificate for trials, which lasts as long as the server; nil for none.
    private let made: TLSIdentity?
    /// The max-age of HSTS in seconds; 0 to send none.
    private let strictSeconds: Atomic<Int>
    /// Called with a sentence about an event of certificates while the server runs, and whether it is bad news.
    private let report: @Sendable (String, Bool) -> Void

    /// Reads the certificates of a server.
    ///
    /// - Parameters:
    ///   - names: The host names and addresses for a certificate that is made for trials.
    ///   - report: Called with a sentence about a later event, and whether it is bad news.
    /// - Throws: `TLSFailure` when a file cannot be used.
    package init(
        _ options: TLSOptions, names: [String], report: @escaping @Sendable (String, Bool) -> Void
    ) throws(TLSFailure) {
        made = options.isSelfSigned ? try TLSIdentity.selfSigned(for: names) : nil
        let stamps = TLSStore.stamps(of: options)
        state = RankedMutex(.leaf, State(options: options, set: try TLSSet(options, made: made), stamps: stamps))
        strictSeconds = Atomic(options.strictSeconds ?? 0)
        self.report = report
    }

    /// The certificates in force.
    var current: TLSSet { state.withLock { $0.set } }

    /// Warnings about the certificates in force.
    package var warnings: [String] { current.warnings }

    /// The SHA-256 digest of the certificate for trials, by which a person may recognise it; nil without one.
    package var fingerprintOfTrial: String? { made?.fingerprint }

    /// The value of `Strict-Transport-Security`; nil to send none.
    package var strictTransport: String? {
        let seconds = strictSeconds.load(ordering: .relaxed)
        return seconds > 0 ? "max-age=\(seconds)" : nil
    }

    // MARK: - Replacing

    /// Reads the files again if one of them has changed. It waits for files.
    ///
    /// A pair that is replaced file by file does not fit for a moment; the next look after the second file finds that it does.
    func reloadIfChanged() {
        let (options, known) = state.withLock { ($0.options, $0.stamps) }
        guard TLSStore.stamps(of: options) != known else { return }
        try? replace(with: options)
    }

    /// Puts other options in force, and reads all files. It waits for files.
    ///
    /// - Throws: `TLSFailure` when a file cannot be used; everything stays as it was then.
    package func replace(with options: TLSOptions) throws(TLSFailure) {
        // A file that changes while it is read is read again at the next look.
        let stamps = TLSStore.stamps(of: options)
        do throws(TLSFailure) {
            let set = try TLSSet(options, made: made)
            state.withLock { state in
                state.options = options
                state.set = set
                state.stamps = stamps
                state.replacements += 1
                state.isStale = false
            }
            strictSeconds.store(options.strictSeconds ?? 0, ordering: .relaxed)
            report("new connections get the certificates as they are in their files now", false)
            for warning in set.warnings { report(warning, true) }
        } catch {
            state.withLock { state in
                if state.options == options { state.stamps = stamps }
                state.failures += 1
                state.isStale = true
            }
            report("the certificates stay as they were: \(error)", true)
            throw error
        }
    }

    private static func stamps(of options: TLSOptions) -> [ByteText: System.FileFacts] {
        var stamps: [ByteText: System.FileFacts] = [:]
        let paths = options.pairs.flatMap { [$0.certificate, $0.key] } + [options.clientAuthorities].compactMap { $0 }
        for path in paths { stamps[path] = try? System.facts(path: path) }
        return stamps
    }

    // MARK: - Metrics

    /// Writes the expiry of the certificates, and the numbers of replacements and failures.
    ///
    /// - Parameter text: The metrics document.
    package func write(to text: inout MetricsText) {
        let (set, replacements, failures, isStale) = state.withLock { ($0.set, $0.replacements, $0.failures, $0.isStale) }
        text.header("tls_certificate_expiry_seconds", .gauge, "Expiry of a certificate, in seconds since 1970.")
        for (position, identity) in set.identities.enumerated() {
            let labels = [("certificate", String(position)), ("name", identity.names.first ?? "")]
            text.sample("tls_certificate_expiry_seconds", labels, Double(identity.expiry))
        }
        text.counter("tls_reloads_total", "Replacements of certificates while the server ran.", replacements)
        text.counter("tls_reload_failures_total", "Changed certificates that could not be used.", failures)
        text.gauge(
            "tls_certificates_stale", "1 while the files of certificates cannot be used, so that old ones are.", isStale ? 1 : 0)
    }
}
