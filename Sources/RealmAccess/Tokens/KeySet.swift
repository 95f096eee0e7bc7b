// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The keys that an issuer has at a time.
struct KeySet: Sendable {
    /// The reason why a document is refused, as a clause.
    struct Defect: Error, CustomStringConvertible {
        /// The clause, without a full stop.
        let description: String
    }

    /// The keys, in the order of their document.
    let keys: [VerificationKey]
    /// The digests of the keys.
    let fingerprints: Set<[UInt8]>

    /// The beginning of a clause about the crypto library, before the names of algorithms.
    static let libraryLacks = "the crypto library of this machine (see OPENSSL_CONF) lacks"
    /// The number of keys that a document may have.
    private static let keyLimit = 100
    /// The number of keys that are tried for a token that does not name one.
    private static let attemptLimit = 4
    /// The limits for the JSON of a document.
    static let bounds = JSONBounds(depth: 8, values: 8192)

    init(_ keys: [VerificationKey]) {
        self.keys = keys
        fingerprints = Set(keys.map(\.fingerprint))
    }

    /// Reads a document of RFC 7517.
    ///
    /// A document without keys is taken at its word: the issuer has withdrawn them all.
    ///
    /// - Parameters:
    ///   - document: The bytes of the document.
    ///   - known: Keys that are taken instead of making the same ones again, by their fingerprints.
    ///   - control: Ends the reading between two keys when it is cancelled.
    /// - Throws: `Defect` for one that is no such document, or has keys of which none can be used.
    init(document: [UInt8], knowing known: [[UInt8]: VerificationKey], _ control: WorkControl) throws(Defect) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONParser.parse(document, KeySet.bounds)
        } catch {
            throw Defect(description: "it is no JSON: \(error)")
        }
        guard let list = json.object?.member(exactly: "keys")?.array else {
            throw Defect(description: "it is not a set of keys: expected an object with a list 'keys'")
        }
        guard list.count <= KeySet.keyLimit else {
            throw Defect(description: "it has \(list.count) keys, more than \(KeySet.keyLimit)")
        }
        var keys: [VerificationKey] = []
        var missing: Set<ByteText> = []
        for member in list {
            do throws(StorageError) { try control.check() } catch { throw Defect(description: "\(error)") }
            do throws(VerificationKey.MissingAlgorithm) {
                if let key = try VerificationKey(member, knowing: known) { keys.append(key) }
            } catch {
                missing.insert(ByteText(error.name))
            }
        }
        guard missing.isEmpty || !keys.isEmpty else {
            let names = missing.sorted().texts.joined(separator: ", ")
            throw Defect(description: "\(KeySet.libraryLacks) \(names)")
        }
        guard list.isEmpty || !keys.isEmpty else {
            throw Defect(
                description: "none of its keys can be used: expected public keys for signatures by RS256 (2048 to 8192 bits), "
                    + "ES256 or EdDSA (Ed25519)")
        }
        self.init(keys)
    }

    var byFingerprint: [[UInt8]: VerificationKey] { Dictionary(keys.map { ($0.fingerprint, $0) }) { first, _ in first } }

    /// Returns the keys with which a token may be signed: those of its algorithm and of the name that it states. They are few.
    func candidates(for token: CompactToken) -> [VerificationKey] {
        let fitting = keys.lazy.filter { key in
            guard key.algorithm == token.algorithm else { return false }
            guard let name = token.keyName else { return true }
            // A secret has no name: its tokens may state any.
            guard key.algorithm != .hs256 else { return true }
            return key.name?.utf8.elementsEqual(name.utf8) ?? false
        }
        return Array(fitting.prefix(KeySet.attemptLimit))
    }
}
