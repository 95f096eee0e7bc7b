// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import WebClient

/// Reads the keys of an issuer from their source. The calling thread waits for the disk or the network.
package struct KeyLoader: Sendable {
    package struct Loaded: Sendable {
        let keys: KeySet
        /// The seconds for which they may be used, as the source states; nil when it does not.
        var age: Double?
        var mark: FileMark?
    }

    /// The reason for missing keys.
    package struct Defect: Error {
        /// The member of the configuration that is to blame.
        let member: String
        /// The error, as a sentence without a full stop.
        package let text: String
    }

    /// The facts that identify the file that was read.
    struct FileMark: Sendable, Equatable {
        let identity: System.FileIdentity
        /// The length of the file.
        let byteCount: Int
        /// The second of its last change.
        let seconds: Int
        /// The nanoseconds in that second.
        let nanoseconds: Int

        /// Reads the facts of a file; nil when there is none.
        init?(_ path: String) {
            guard let entry = System.entry(atPath: path) else { return nil }
            identity = entry.identity
            byteCount = entry.byteCount
            (seconds, nanoseconds) = entry.modified
        }
    }

    /// The greatest length of a document with keys.
    private static let documentByteLimit = 1 << 20

    let settings: IssuerSettings
    /// The number of seconds that a response may take.
    let seconds: Int
    /// Ends the reading when it is cancelled.
    let control: WorkControl

    package init(settings: IssuerSettings, seconds: Int, control: WorkControl) {
        self.settings = settings
        self.seconds = seconds
        self.control = control
    }

    /// Reads the keys.
    ///
    /// - Parameter known: Keys that are taken instead of making the same ones again, by their fingerprints.
    /// - Throws: `Defect` when they cannot be read or used.
    func load(knowing known: [[UInt8]: VerificationKey] = [:]) throws(Defect) -> Loaded {
        switch settings.source {
        case .secretFile(let path): return Loaded(keys: try KeyLoader.secret(path))
        case .file(let path):
            // The facts are read before the content, so that a change in between is noticed.
            let mark = FileMark(path)
            return Loaded(keys: try set(try KeyLoader.contents(path, KeyLoader.documentByteLimit), known), mark: mark)
        case .url(let address): return try fetch(address, known)
        }
    }

    /// Checks the file of authorities of an issuer, if it has one.
    ///
    /// - Throws: `Defect` for a file that cannot be read or used.
    package static func checkAuthority(_ settings: IssuerSettings) throws(Defect) {
        guard let path = settings.certificateAuthority else { return }
        let bytes = try contents(path, documentByteLimit, member: "jwksCA")
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw Defect(member: "jwksCA", text: "'\(path)' has no certificate in PEM")
        }
    }

    // MARK: - Files

    /// Reads a secret. A line break at its end is not part of it.
    private static func secret(_ path: String) throws(Defect) -> KeySet {
        var bytes = try contents(path, VerificationKey.maximumSecretByteCount + 2, member: "secretFile")
        if let form = formOfKeys(bytes) {
            let rule = "expected a secret; a file of public keys belongs to 'jwks'"
            throw Defect(member: "secretFile", text: "'\(path)' has \(form); \(rule)")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard bytes.count >= VerificationKey.minimumSecretByteCount else {
            let rule = "at least \(VerificationKey.minimumSecretByteCount) are needed"
            throw Defect(member: "secretFile", text: "the secret in '\(path)' has \(bytes.count) bytes; \(rule)")
        }
        do throws(VerificationKey.MissingAlgorithm) {
            return KeySet([try VerificationKey(secret: bytes)])
        } catch {
            throw Defect(member: "secretFile", text: "the secret cannot be used: \(KeySet.libraryLacks) \(error.name)")
        }
    }

    /// Returns in which form bytes have keys or certificates, which others may know; nil for all other bytes.
    private static func formOfKeys(_ bytes: [UInt8]) -> String? {
        // Every second byte of ASCII text in UTF-16 is 0.
        let narrow = bytes.filter { $0 != 0 }
        if narrow.contains("-----BEGIN ".utf8) { return "a block in PEM" }
        if ["ssh-", "ecdsa-sha2-", "sk-"].contains(where: { bytes.starts(with: $0.utf8) }) { return "a key of OpenSSH" }
        // A sequence that is as long as the file.
        if bytes.count > 8, bytes[0] == 0x30 {
            let (count, isLong) = (Int(bytes[1] & 0x7f), bytes[1] > 0x80)
            let length = isLong ? bytes.dropFirst(2).prefix(min(count, 3)).reduce(0) { $0 << 8 | Int($1) } : count
            if length + (isLong ? 2 + count : 2) == bytes.count { return "a structure in DER" }
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        guard let value = try? JSONParser.parse(text, KeySet.bounds) else { return nil }
        if value.object?.member(exactly: "keys")?.array != nil { return "a JSON Web Key Set" }
        let keys = value.array ?? [value]
        return keys.contains { $0.object?.member(exactly: "kty") != nil } ? "a JSON Web Key" : nil
    }

    /// Reads a small file.
    private static func contents(_ path: String, _ limit: Int, member: String = "jwks") throws(Defect) -> [UInt8] {
        do throws(StorageError) {
            let descriptor = try System.openForReading(path)
            defer { System.close(descriptor) }
            let byteCount = try System.regularFileSize(descriptor)
            guard byteCount <= limit else { throw .limit("the file has \(byteCount) bytes, more than \(limit)") }
            // It is read rather than mapped: it may be shortened at any time.
            return try System.read(descriptor, at: 0, byteCount: byteCount)
        } catch {
            throw Defect(member: member, text: "'\(SecretText.shown(path))' cannot be read: \(error)")
        }
    }

    private func set(_ document: [UInt8], _ known: [[UInt8]: VerificationKey]) throws(Defect) -> KeySet {
        do throws(KeySet.Defect) {
            return try KeySet(document: document, knowing: known, control)
        } catch {
            throw Defect(member: "jwks", text: "the keys cannot be used: \(error)")
        }
    }

    // MARK: - Addresses

    /// Fetches a document. Redirects are not followed.
    private func fetch(_ address: KeyAddress, _ known: [[UInt8]: VerificationKey]) throws(Defect) -> Loaded {
        var request = WebRequest(method: "GET", url: address.text)
        request.fields = [("Accept", "application/json")]
        request.certificateAuthority = settings.certificateAuthority
        request.seconds = seconds
        request.maximumAnswerByteCount = KeyLoader.documentByteLimit
        request.isDirect = address.isPlain
        let answer: WebAnswer
        do {
            answer = try CurlTransfer().send(request, control)
        } catch CurlTransfer.Failure.network(let text, _) {
            throw Defect(member: "jwks", text: "the keys cannot be fetched: \(text)")
        } catch CurlTransfer.Failure.stopped(let error) {
            throw Defect(member: "jwks", text: "the keys cannot be fetched: \(error)")
        } catch {
            throw Defect(member: "jwks", text: "the keys cannot be fetched: \(error)")
        }
        guard answer.status == 200 else {
            throw Defect(member: "jwks", text: "the keys cannot be fetched: the answer has the status \(answer.status)")
        }
        return Loaded(keys: try set(answer.body, known), age: KeyLoader.age(answer.fields["cache-control"]))
    }

    /// Returns the seconds for which a response may be used, by its `Cache-Control`; nil when it states none.
    static func age(_ field: String?) -> Double? {
        var age: Double?
        for directive in (field ?? "").lowercasedASCII.split(separator: ",") {
            let text = directive.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            if text == "no-cache" || text == "no-store" { return 0 }
            guard text.hasPrefix("max-age="), let number = Double(text.dropFirst("max-age=".count)), number >= 0 else { continue }
            age = min(age ?? number, number)
        }
        return age
    }
}
