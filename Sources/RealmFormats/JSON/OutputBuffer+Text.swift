// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

extension OutputBuffer {
    /// Appends a text as a JSON string: with its quotes, and escaped as needed.
    package func append(jsonString text: String) {
        var text = text
        text.withUTF8 { _ = unsafe appendQuoted($0, isKnownUTF8: true) }
    }

    /// Appends bytes of a file as a JSON string: with the quotes, and escaped as needed.
    ///
    /// - Returns: False when the bytes are not valid UTF-8; nothing was written then.
    package func append(jsonString view: ByteView) -> Bool {
        unsafe view.withBuffer { unsafe appendQuoted($0, isKnownUTF8: false) }
    }

    /// Appends a part of a JSON string: without quotes, and escaped as needed.
    ///
    /// - Parameter view: Bytes of a text that is valid UTF-8 as a whole.
    package func append(escaped view: ByteView) {
        guard view.count > 0 else { return }
        _ = unsafe view.withBuffer { unsafe appendEscaped($0, isKnownUTF8: true, isQuoted: false) }
    }

    /// Appends a JSON string.
    ///
    /// Bytes are checked to be UTF-8 only if one of them is not ASCII and the caller does not know.
    /// False, and nothing written, when they are not.
    @inline(__always)
    private func appendQuoted(_ bytes: UnsafeBufferPointer<UInt8>, isKnownUTF8: Bool) -> Bool {
        unsafe appendPlain(bytes) || appendEscaped(bytes, isKnownUTF8: isKnownUTF8)
    }

    /// Appends a JSON string of ASCII characters that need no escape, as most texts are; false, and nothing written, for any other.
    ///
    /// Eight bytes are tested and copied at a time. The last eight may have been copied in part already.
    @inline(__always)
    private func appendPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = bytes.count
        guard let start = bytes.baseAddress, count > 0 else { return false }
        let source = unsafe UnsafeRawPointer(start)
        // In bounds: room for the quotes and eight bytes more than the text has.
        let target = unsafe UnsafeMutableRawPointer(reserve(count &+ 10))
        unsafe target.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        if count >= 8 {
            var index = 0
            repeat {
                let word = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                guard OutputBuffer.isPlain(word) else { return false }
                unsafe target.storeBytes(of: word, toByteOffset: index &+ 1, as: UInt64.self)
                index &+= 8
            } while index &+ 8 <= count
            if index < count {
                let word = unsafe source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
                guard OutputBuffer.isPlain(word) else { return false }
                unsafe target.storeBytes(of: word, toByteOffset: count &- 7, as: UInt64.self)
            }
        } else {
            var word: UInt64 = 0
            for index in 0..<count { unsafe word |= UInt64(start[index]) &<< UInt64(truncatingIfNeeded: index &* 8) }
            // Spaces, which need no escape, are behind the text.
            let spaces = 0x2020_2020_2020_2020 &<< UInt64(truncatingIfNeeded: count &* 8)
            guard OutputBuffer.isPlain(word | spaces) else { return false }
            unsafe target.storeBytes(of: word, toByteOffset: 1, as: UInt64.self)
        }
        unsafe target.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count &+ 1, as: UInt8.self)
        advance(count &+ 2)
        return true
    }

    /// Whether the eight bytes in `word` are ASCII characters that need no escape.
    @inline(__always) private static func isPlain(_ word: UInt64) -> Bool {
        word & 0x8080_8080_8080_8080 == 0 && needsNoEscape(word)
    }

    /// Appends a JSON string, or a part of one without quotes, and copies eight bytes at a time where none of them needs an escape.
    @inline(never)
    private func appendEscaped(_ bytes: UnsafeBufferPointer<UInt8>, isKnownUTF8: Bool, isQuoted: Bool = true) -> Bool {
        let before = count
        // Room for the quotes and a store of eight bytes past the end.
        var target = unsafe reserve(bytes.count + 10)
        let quoteCount = isQuoted ? 1 : 0
        unsafe target.pointee = UInt8(ascii: "\"")
        advance(quoteCount)
        guard let source = bytes.baseAddress else {
            unsafe target[1] = UInt8(ascii: "\"")
            advance(1)
            return true
        }
        var index = 0
        var sawNonASCII = false
        unsafe target += quoteCount
        while index < bytes.count {
            if bytes.count - index >= 8 {
                let word = unsafe UnsafeRawPointer(source + index).loadUnaligned(as: UInt64.self)
                if OutputBuffer.needsNoEscape(word) {
                    unsafe UnsafeMutableRawPointer(target).storeBytes(of: word, as: UInt64.self)
                    sawNonASCII = sawNonASCII || word & 0x8080_8080_8080_8080 != 0
                    unsafe target += 8
                    index += 8
                    advance(8)
                    continue
                }
            }
            let stop = min(index + 8, bytes.count)
            while index < stop {
                let byte = unsafe source[index]
                index += 1
                if byte >= 0x20, byte != 0x22, byte != 0x5c {
                    sawNonASCII = sawNonASCII || byte >= 0x80
                    unsafe target.pointee = byte
                    unsafe target += 1
                    advance(1)
                } else {
                    appendEscape(byte)
                    unsafe target = unsafe reserve(bytes.count - index + 10)
                }
            }
        }
        if sawNonASCII, !isKnownUTF8, unsafe !UTF8Check.isValid(bytes) {
            truncate(to: before)
            return false
        }
        if isQuoted { append(UInt8(ascii: "\"")) }
        return true
    }

    /// Whether none of the eight bytes in `word` is a control character, a quote or a backslash.
    @inline(__always) private static func needsNoEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        // A byte below 0x20 borrows into its high bit; bytes of 0x80 and above are masked out by ~word.
        let control = (word &- ones &* 0x20) & ~word
        let quote = word ^ ones &* 0x22
        let isQuote = (quote &- ones) & ~quote
        let backslash = word ^ ones &* 0x5c
        let isBackslash = (backslash &- ones) & ~backslash
        return (control | isQuote | isBackslash) & highs == 0
    }

    /// Appends the escape of a control character, a quote or a backslash: a letter after the
    /// backslash where JSON has one, else `\u00` and two digits.
    @inline(never) private func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5c: append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0a: append(UInt8(ascii: "n"))
        case 0x0c: append(UInt8(ascii: "f"))
        case 0x0d: append(UInt8(ascii: "r"))
        default:
            append("u00" as StaticString)
            append(hex: UInt64(byte), byteCount: 1)
        }
    }

    /// Appends bytes of a file as Base64 with padding, without quotes (RFC 4648, section 4).
    package func append(base64 view: ByteView) {
        advance(Base64.write(view, .standard, to: room(Base64.maximumTextByteCount(of: view.count) + 1)))
    }

    /// Appends the lowest bits of a word as digits of base64url, six bits each, the lowest first.
    ///
    /// - Parameters:
    ///   - word: The bits to write.
    ///   - digitCount: The number of digits to write; more than 11 would exceed the 64 bits.
    package func append(base64URLDigitsOf word: UInt64, digitCount: Int) {
        Base64.write(digitsOf: word, digitCount: digitCount, to: room(digitCount))
        advance(digitCount)
    }
}

extension OutputBuffer {
    /// Returns a new buffer that contains a text in UTF-8.
    package static func text(_ text: String) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: text.utf8.count)
        buffer.append(text)
        return buffer
    }

    /// Returns a new buffer that contains a constant text of the program.
    package static func constant(_ text: StaticString) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: text.utf8CodeUnitCount)
        buffer.append(text)
        return buffer
    }
}
