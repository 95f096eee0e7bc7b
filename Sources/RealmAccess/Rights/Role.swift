// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// A role: the rights of those who have it.
package final class Role: Sendable {
    /// The name, of characters of ASCII.
    let name: String
    /// Whether the role may do everything.
    let administers: Bool
    /// Its rights in realms.
    let realms: [RealmGrant]
    /// The limits that it states for those who have it.
    let limits: PrincipalLimits
    /// The claims on which the rights depend, each once.
    let claims: [ClaimPath]

    /// Makes a role.
    ///
    /// - Parameters:
    ///   - administers: Whether the role may do everything.
    ///   - realms: Its rights in realms.
    ///   - limits: The limits that it states.
    package init(
        _ name: String, administers: Bool = false, _ realms: [RealmGrant] = [], limits: PrincipalLimits = PrincipalLimits()
    ) {
        self.limits = limits
        self.name = name
        self.administers = administers
        self.realms = realms
        claims = Set(realms.flatMap(\.claims)).sorted { $0.names.lexicographicallyPrecedes($1.names) }
    }

    /// The rule for names, as a text for messages.
    package static let rule = "a name of a role has 1 to 64 letters, digits, '.', '_', ':' and '-'"

    /// Whether a text may be the name of a role.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: "._:-".utf8.contains(byte)
                }
            }
    }

    /// Returns the grants of the role in a realm for the holder of claims: those of its narrowest pattern that fits.
    ///
    /// Several that name a claim are equally narrow, and add up.
    func grants(in realm: String, _ claims: JSONObject) -> [RealmGrant] {
        Role.narrowest(realms.filter { $0.pattern.fits(realm: realm, claims) }, \.pattern.narrowness)
    }

    /// Returns the grants of the role in a realm for the holders of any claims.
    func possibleGrants(in realm: String) -> [RealmGrant] {
        let possible = realms.filter { $0.pattern.mayFit(realm: realm) }
        let plain = possible.filter { $0.pattern.claim == nil }
        let narrowest = Role.narrowest(plain, \.pattern.narrowness)
        // With a pattern for this very name, no claim matters.
        if narrowest.contains(where: { $0.pattern.name != nil }) { return narrowest }
        return narrowest + possible.filter { $0.pattern.claim != nil }
    }

    static func narrowest<Element>(_ elements: [Element], _ narrowness: (Element) -> Int) -> [Element] {
        guard let most = elements.map(narrowness).max() else { return [] }
        return elements.filter { narrowness($0) == most }
    }
}
