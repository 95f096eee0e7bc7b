// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension Substring {
    /// This text without the spaces and tabs at its ends, which the parts of header fields may be
    /// surrounded by.
    ///
    /// Source: RFC 9110, section 5.6.3.
    package var withoutBlanks: Substring {
        var bytes = utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Substring(bytes)
    }
}
