// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Checks that the header section of a request was written as HTTP demands.
///
/// The library (versions 0.9) accepts forms that other software interprets differently: lines that end with LF alone, lines that
/// continue in the next one, NUL, and blanks before a colon. Such differences would allow to smuggle requests past a proxy. The
/// library parses in place and only writes NULs after the parts, so the distances between the parts reveal the bytes between
/// them. Addresses of parts are compared, and only bytes between two of them are read. Later versions of the library refuse such
/// header sections themselves and store the parts elsewhere.
package struct HeadLayout {
    /// The method as it was sent.
    let method: String
    /// Whether the request is one of HTTP/1.0, or states no version.
    let isHTTP10: Bool
    /// The address of the beginning of the header section.
    private let start: UInt
    /// The address at which the next field has to begin; nil when distances are not checked.
    private var next: UInt?
    /// The first error that was found.
    private var violation: StaticString?

    /// Whether the library is one of the versions that accept such forms and parse in place.
    private static let looksAtDistances = unsafe MHD_get_version().map { unsafe String(cString: $0).hasPrefix("0.9.") } ?? false

    /// Checks the request line.
    ///
    /// - Parameters:
    ///   - method: The method, where it is in the memory of the library.
    ///   - target: The address of the target there.
    ///   - targetByteCount: The length of the target.
    ///   - version: The version of HTTP there; nil when the line has none.
    init(method: UnsafePointer<CChar>, target: UInt, targetByteCount: Int, version: UnsafePointer<CChar>?) {
        self.method = unsafe String(cString: method)
        start = UInt(bitPattern: method)
        isHTTP10 = unsafe version.map { unsafe strcmp($0, "HTTP/1.0") == 0 } ?? true
        guard HeadLayout.looksAtDistances, let version = unsafe version else { return }
        let versionStart = UInt(bitPattern: version)
        if unsafe start &+ UInt(strlen(method)) &+ 1 != target || target &+ UInt(targetByteCount) &+ 1 != versionStart {
            violation = "the request line must consist of a method, a target and a version, with one space between them"
        }
        next = unsafe versionStart &+ UInt(strlen(version)) &+ 2
    }

    /// Checks the next field.
    ///
    /// - Parameters:
    ///   - name: The name of the field, in the memory of the library.
    ///   - nameLength: Its length in bytes.
    ///   - isKnown: Whether it is the name of a known field, which then needs no check.
    ///   - value: The value, in the memory of the library; nil when there is none.
    ///   - valueLength: Its length in bytes.
    mutating func check(
        _ name: UnsafePointer<CChar>, _ nameLength: Int, isKnown: Bool, _ value: UnsafePointer<CChar>?, _ valueLength: Int
    ) {
        if !isKnown, unsafe !HeadLayout.isToken(name, nameLength) {
            violation = violation ?? "the name of a header field has a character that names cannot have, such as a blank"
        }
        guard let value = unsafe value else { return }
        if unsafe HeadLayout.hasControl(value, valueLength) {
            violation = violation ?? "a header field has a control character"
        }
        guard let expected = next else { return }
        let nameEnd = UInt(bitPattern: name) &+ UInt(nameLength) &+ 1
        let valueStart = UInt(bitPattern: value)
        if unsafe UInt(bitPattern: name) != expected || valueStart < nameEnd
            || !HeadLayout.isBlank(name + nameLength + 1, upTo: value)
        {
            violation = violation ?? "each line of the head must end with CRLF, without a continuation line or NUL"
        }
        next = valueStart &+ UInt(valueLength) &+ 2
    }

    /// Checks where the header section ended. The library treats a field without a name as the
    /// empty line at the end, and would read the rest as the next request.
    ///
    /// - Parameter byteCount: The length of the header section as the library counts it; 0 when
    ///   that is unknown.
    mutating func checkEnd(_ byteCount: Int) {
        guard let expected = next, byteCount > 0, start &+ UInt(byteCount) != expected &+ 2 else { return }
        violation = violation ?? "the head must end with an empty line, and each of its lines with CRLF"
    }

    /// Returns the problem of the header section, including the form of the target and the framing of the body.
    ///
    /// - Parameter request: The request that was made of it.
    /// - Returns: The problem to respond with; nil for a valid header section.
    func problem(of request: Request) -> Problem? {
        if let violation { return Problem(.malformedRequest, violation.description) }
        if let blank = HeadLayout.blank(in: request.target.bytes) {
            let detail = blank == 0x20 ? "the target contains a space; write %20" : "the target contains a control character"
            return Problem(.malformedRequest, detail)
        }
        guard request.target.hasKnownForm else {
            return Problem(.malformedRequest, "the target of a request must be a path that begins with a slash")
        }
        if request.headers.repeated == .contentLength {
            return Problem(.malformedRequest, "the head states different lengths of the body").with("header", "Content-Length")
        }
        guard let coding = request[.transferEncoding] else { return nil }
        if request[.contentLength] != nil || isHTTP10 {
            return Problem(.malformedRequest, "the end of a body must be given by Content-Length or by chunks, not by both").with(
                "header", "Transfer-Encoding")
        }
        guard coding.lowercasedASCII != "chunked" else { return nil }
        return Problem(.notImplemented, "the transfer coding of a request must be chunked").with("header", "Transfer-Encoding")
    }

    /// Returns the first space or control character in a target; nil when there is none.
    private static func blank(in target: [UInt8]) -> UInt8? {
        unsafe target.withUnsafeBufferPointer { bytes in
            for index in 0..<bytes.count where unsafe bytes[index] <= 0x20 || bytes[index] == 0x7f { return unsafe bytes[index] }
            return nil
        }
    }

    /// Whether a name consists of characters that names of fields may have.
    private static func isToken(_ name: UnsafePointer<CChar>, _ length: Int) -> Bool {
        unsafe length > 0
            && UnsafeBufferPointer(start: name, count: length).allSatisfy { MediaType.isToken(UInt8(bitPattern: $0)) }
    }

    /// Whether a value contains a control character other than a tab.
    private static func hasControl(_ value: UnsafePointer<CChar>, _ length: Int) -> Bool {
        unsafe UnsafeBufferPointer(start: value, count: length).contains { byte in
            let byte = UInt8(bitPattern: byte)
            return (byte < 0x20 && byte != 0x09) || byte == 0x7f
        }
    }

    /// Whether there are only spaces and tabs between two parts of one line.
    private static func isBlank(_ start: UnsafePointer<CChar>, upTo end: UnsafePointer<CChar>) -> Bool {
        guard unsafe end - start < 1 << 20 else { return false }
        return unsafe UnsafeBufferPointer(start: start, count: max(0, end - start)).allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }
}
