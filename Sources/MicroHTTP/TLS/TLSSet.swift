// SPDX-License-Identifier: Apache-2.0

internal import CTLS
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The certificates that a server uses at one time, as they were read from their files together.
package struct TLSSet: Sendable {
    /// The certificates; the first is for clients that name no host, or one that none of them has.
    let identities: [TLSIdentity]
    /// The authorities for the certificates of clients; nil when clients are asked for none.
    let authorities: TLSAuthorities?
    /// Warnings for the operator, although the certificates can be used.
    let warnings: [String]
    /// The position of the first certificate with each name; a wildcard is a name that begins with `*.`.
    private let positions: [ByteText: Int]

    /// The number of bytes that the file of a certificate, a key or authorities may have.
    private static let byteLimit = 1 << 20
    /// The number of days before the end of a certificate at which the operator is warned.
    private static let daysOfWarning: Int64 = 14

    /// Reads the files that options name.
    ///
    /// - Parameters:
    ///   - made: The certificate that was made for trials; nil for none.
    /// - Throws: `TLSFailure` for the first file that cannot be used.
    package init(_ options: TLSOptions, made: TLSIdentity?) throws(TLSFailure) {
        var identities: [TLSIdentity] = []
        var warnings: [String] = []
        for pair in options.pairs {
            let identity = try TLSIdentity(
                chain: TLSSet.contents(pair.certificate), key: TLSSet.contents(pair.key), from: pair.certificate)
            warnings += TLSSet.warnings(about: pair, identity)
            identities.append(identity)
        }
        if let made { identities.append(made) }
        guard !identities.isEmpty else { throw TLSFailure(description: "there is no certificate for TLS") }
        var positions: [ByteText: Int] = [:]
        for (position, identity) in identities.enumerated() {
            for name in identity.names where positions[name] == nil { positions[name] = position }
        }
        authorities = try options.clientAuthorities.map { path throws(TLSFailure) in
            try TLSAuthorities(TLSSet.contents(path), from: path)
        }
        self.identities = identities
        self.warnings = warnings
        self.positions = positions
    }

    /// Returns the certificate for the host that a client names: the one with this name, else one with a
    /// wildcard in the place of its first label, else the first.
    ///
    /// - Parameter name: The name; nil when the client names none.
    func identity(for name: String?) -> TLSIdentity {
        guard let name = name?.lowercasedASCII else { return identities[0] }
        if let position = positions[name] { return identities[position] }
        guard let dot = name.firstIndex(of: "."), dot != name.startIndex, let position = positions["*" + name[dot...]] else {
            return identities[0]
        }
        return identities[position]
    }

    /// Reads a file.
    private static func contents(_ path: String) throws(TLSFailure) -> [UInt8] {
        do throws(StorageError) {
            return try FileMapping.contents(ofFile: path, limit: byteLimit)
        } catch {
            throw TLSFailure(description: "\(path) cannot be read: \(error)")
        }
    }

    /// Returns warnings about a pair of files that can be used.
    private static func warnings(about pair: TLSOptions.Pair, _ identity: TLSIdentity) -> [String] {
        var warnings: [String] = []
        if unsafe realm_rest_is_open_to_others(pair.key) != 0 {
            warnings.append("\(pair.key): this private key can be read by other users; chmod o= protects it")
        }
        let now = WallClock.now().nanoseconds / 1_000_000_000
        if identity.expiry <= now {
            warnings.append("\(pair.certificate): this certificate has expired")
        } else if identity.expiry - now < daysOfWarning * 86_400 {
            warnings.append("\(pair.certificate): this certificate expires in \((identity.expiry - now) / 86_400) days")
        }
        if identity.beginning > now { warnings.append("\(pair.certificate): this certificate is not valid yet") }
        return warnings
    }
}
