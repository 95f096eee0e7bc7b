// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

extension ClaimPath {
    /// Returns the value of the claim; nil when it is lacking.
    ///
    /// Names are compared byte by byte: texts that only look equal must not decide about rights.
    func value(in claims: JSONObject) -> JSONValue? {
        var value = JSONValue.object(claims)
        for name in names {
            guard let inner = value.object?.members.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
            value = inner.value
        }
        return value
    }

    /// Returns whether the claim is a text, or a list with one.
    ///
    /// - Parameters:
    ///   - text: The bytes of the text.
    func names(in claims: JSONObject, _ text: [UInt8]) -> Bool {
        switch value(in: claims) {
        case .string(let own)?: own.utf8.elementsEqual(text)
        case .array(let list)?:
            list.prefix(ClaimValue.maximumElementCount).contains { $0.string?.utf8.elementsEqual(text) ?? false }
        default: false
        }
    }
}
