// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One entry of `certificates`: which certificates of clients mean which principal.
package struct CertificateRule: Sendable, Equatable {
    /// The part of a certificate that is compared with the pattern.
    package enum Part: Sendable, Equatable {
        /// The name of the owner, as RFC 4514 writes it.
        case subject
        /// One of the alternative names, with its kind in front, or without it.
        case name
    }

    /// The compared part.
    package var part: Part
    /// The text to match; a star matches any number of characters but separators: commas of a subject, and dots, slashes, colons
    /// and `@` of an alternative name.
    package var pattern: String
    /// The name of the principal.
    package var name: String
    /// The roles of the principal.
    package var roles: [String]

    /// Makes an entry.
    package init(part: Part, pattern: String, name: String, roles: [String]) {
        self.part = part
        self.pattern = pattern
        self.name = name
        self.roles = roles
    }

    /// Whether a certificate is meant. One that is not verified, or has ceased to hold, never is.
    ///
    /// - Parameters:
    ///   - now: The present time, in seconds since 1970.
    package func matches(_ certificate: ClientCertificate, now: Int64) -> Bool {
        guard certificate.isVerified, now < certificate.expiry else { return false }
        switch part {
        case .subject:
            return !certificate.subject.isEmpty && CertificateRule.matches(certificate.subject, pattern, separators: ",+")
        case .name:
            return certificate.names.contains { name in
                let bare = name.drop { $0 != ":" }.dropFirst()
                return [name, String(bare)].contains { CertificateRule.matches($0, pattern, separators: "./:@") }
            }
        }
    }

    /// Returns the first entry that means a certificate; nil when none does.
    ///
    /// - Parameters:
    ///   - rules: The entries in their order.
    ///   - certificate: The certificate of a client; nil when it has sent none.
    ///   - now: The present time, in seconds since 1970.
    package static func first(
        of rules: [CertificateRule], for certificate: ClientCertificate?, now: Int64
    ) -> CertificateRule? {
        guard let certificate else { return nil }
        return rules.first { $0.matches(certificate, now: now) }
    }

    /// Compares a text with a pattern, in time that grows with the product of their lengths at most.
    ///
    /// - Parameters:
    ///   - pattern: The pattern, in which a star matches any number of characters but separators.
    ///   - separators: The characters that a star does not match.
    private static func matches(_ text: String, _ pattern: String, separators: String) -> Bool {
        let (text, pattern, separators) = (Array(text.utf8), Array(pattern.utf8), Array(separators.utf8))
        var (position, place) = (0, 0)
        var star: (place: Int, position: Int)?
        while position < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == text[position] {
                place += 1
                position += 1
            } else if let last = star, !separators.contains(text[last.position]) {
                star = (last.place, last.position + 1)
                place = last.place + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
