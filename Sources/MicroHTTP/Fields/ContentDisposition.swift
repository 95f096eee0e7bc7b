// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The value of `Content-Disposition`: whether a browser shows a body or saves it, and as which file.
///
/// Source: RFC 6266, and RFC 8187 for names beyond ASCII.
package enum ContentDisposition {
    /// Returns the value for a body that is saved as a file.
    ///
    /// Slashes, backslashes and control characters become underscores, since a name must not lead to another folder.
    ///
    /// - Parameter name: The name of the file, as people write it.
    package static func attachment(_ name: String) -> String { "attachment; " + file(name) }

    /// Returns the value for a body that is shown, and has a name if it is saved later.
    package static func inline(_ name: String) -> String { "inline; " + file(name) }

    /// The longest name, in bytes: that of file systems.
    private static let longestName = 255

    /// Returns the parameters that state a name.
    private static func file(_ name: String) -> String {
        let safe = shortened(
            String(name.unicodeScalars.map { isHarmless($0) ? Character($0) : "_" }).trimmedDots)
        let ascii = String(safe.unicodeScalars.map { $0.isASCII && $0 != "\"" && $0 != "%" ? Character($0) : "_" })
        if ascii == safe { return "filename=\"\(ascii)\"" }
        return "filename=\"\(ascii)\"; filename*=UTF-8''\(percentEncoded(safe))"
    }

    /// Whether a character may be part of the name of a file: those that steer terminals, change the
    /// direction of writing or separate folders may not.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
        default: return scalar != "/" && scalar != "\\"
        }
    }

    /// Returns the beginning of a name that file systems can take.
    private static func shortened(_ name: String) -> String {
        var name = name
        while name.utf8.count > longestName { name.removeLast() }
        return name
    }

    /// Returns a name in the form of RFC 8187.
    private static func percentEncoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            if MediaType.isToken(byte), !"*'%".utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}

extension String {
    /// The text without dots at its beginning, which would hide a file or lead upwards.
    fileprivate var trimmedDots: String { String(drop { $0 == "." }) }
}
