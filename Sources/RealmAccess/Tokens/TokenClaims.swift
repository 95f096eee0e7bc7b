// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Checks the claims of a token, once its signature was verified.
struct TokenClaims {
    /// The requirements for tokens of the issuer.
    private let settings: IssuerSettings
    private let payload: JSONObject
    /// The principal that ends with the key that has verified the token.
    private let warrant: Principal?

    /// Prepares the check of a payload.
    init(_ payload: JSONObject, of settings: IssuerSettings, warrant: Principal? = nil) {
        self.warrant = warrant
        self.payload = payload
        self.settings = settings
    }

    /// Checks the claims.
    ///
    /// - Parameter now: The time of day.
    /// - Returns: The verified token.
    /// - Throws: `TokenRefusal` for the first error.
    func verified(at now: WallClock) throws(TokenRefusal) -> VerifiedToken {
        try checkAudience()
        let expiry = try checkTimes(Double(now.nanoseconds) / 1e9)
        return VerifiedToken(
            issuer: settings.issuer, subject: try subject(), roles: try roles(), claims: payload,
            expiresAt: TokenClaims.clock(expiry), acceptedUntil: TokenClaims.clock(expiry + VerifiedToken.skewSeconds),
            warrant: warrant)
    }

    /// Checks that the token is for this server: `aud` is one of its names, or a list with one.
    private func checkAudience() throws(TokenRefusal) {
        let stated = try TokenClaims.texts(payload.member(exactly: "aud"), .audience)
        let isOurs = stated.contains { audience in settings.audiences.contains { $0.utf8.elementsEqual(audience.utf8) } }
        guard isOurs else { throw .audience }
    }

    /// Checks `exp`, `nbf` and `iat`.
    ///
    /// - Returns: The time at which the token expires, in seconds since 1970.
    private func checkTimes(_ now: Double) throws(TokenRefusal) -> Double {
        guard let expiry = try time("exp") else { throw .expired }
        _ = try time("iat")
        if let start = try time("nbf"), start > now + VerifiedToken.skewSeconds { throw .early }
        guard now < expiry + VerifiedToken.skewSeconds else { throw .expired }
        return expiry
    }

    /// Returns a claim that is a number of seconds since 1970; nil when it is absent.
    private func time(_ name: String) throws(TokenRefusal) -> Double? {
        switch payload.member(exactly: name) {
        case nil: return nil
        case .integer(let number)?: return Double(number)
        case .real(let number)? where number.isFinite: return number
        default: throw .claims
        }
    }

    private func subject() throws(TokenRefusal) -> String {
        guard case .string(let subject)? = payload.value(at: settings.subjectPath), !subject.isEmpty else { throw .claims }
        return subject
    }

    /// Returns the roles of the issuer and those of the token, each once.
    private func roles() throws(TokenRefusal) -> [String] {
        var roles = settings.roles
        if let path = settings.rolesPath, let value = payload.value(at: path) { roles += try TokenClaims.texts(value, .claims) }
        var seen: Set<[UInt8]> = []
        return roles.filter { seen.insert(Array($0.utf8)).inserted }
    }

    private static func texts(_ value: JSONValue?, _ refusal: TokenRefusal) throws(TokenRefusal) -> [String] {
        if let text = value?.string { return [text] }
        guard let list = value?.array else { throw refusal }
        var texts: [String] = []
        for element in list {
            guard let text = element.string else { throw refusal }
            texts.append(text)
        }
        return texts
    }

    /// Returns a time of day, or the last one that can be represented.
    private static func clock(_ seconds: Double) -> WallClock {
        WallClock(nanoseconds: Int64(exactly: (seconds * 1e9).rounded()) ?? (seconds < 0 ? .min : .max))
    }
}
