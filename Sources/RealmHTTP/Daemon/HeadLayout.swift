// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd
internal import Glibc

/// Looks whether the head of a request was written as HTTP wants it.
///
/// The library takes what others understand differently: lines that end with LF alone, lines that go on in the next one,
/// NUL, blanks before a colon. It reads the head where it lies and only puts NULs behind its parts, so the distances
/// between them tell what stood there. Only addresses of parts are compared, and only bytes between two of them are read.
/// Versions from 1.0 on refuse such heads themselves, and keep their parts elsewhere.
struct HeadLayout {
    /// The method as it was sent.
    let method: String
    /// Whether the request is one of HTTP/1.0, or tells no version.
    let isHTTP10: Bool
    /// Where the head begins.
    private let start: UInt
    /// Where the next field has to begin; nil when it is not known, or not looked at.
    private var next: UInt?
    private var mistake: StaticString?

    private static let looksAtDistances = unsafe MHD_get_version().map { unsafe String(cString: $0).hasPrefix("0.9.") } ?? false

    /// Looks at the request line, whose parts are given as they lie in the memory of the library.
    init(method: UnsafePointer<CChar>, target: UInt, targetByteCount: Int, version: UnsafePointer<CChar>?) {
        self.method = unsafe String(cString: method)
        start = UInt(bitPattern: method)
        isHTTP10 = unsafe version.map { unsafe strcmp($0, "HTTP/1.0") == 0 } ?? true
        guard HeadLayout.looksAtDistances, let version = unsafe version else { return }
        let versionStart = UInt(bitPattern: version)
        if unsafe start &+ UInt(strlen(method)) &+ 1 != target || target &+ UInt(targetByteCount) &+ 1 != versionStart {
            mistake = "the request line has to be a method, a target and a version, with one space between them"
        }
        next = unsafe versionStart &+ UInt(strlen(version)) &+ 2
    }

    /// Looks at the next field of the head.
    mutating func check(
        _ name: UnsafePointer<CChar>, _ nameLength: Int, isKnown: Bool, _ value: UnsafePointer<CChar>?, _ valueLength: Int
    ) {
        if !isKnown, unsafe !HeadLayout.isToken(name, nameLength) {
            mistake = mistake ?? "the name of a header field has a character that names cannot have, such as a blank"
        }
        guard let value = unsafe value else { return }
        if unsafe HeadLayout.hasControl(value, valueLength) {
            mistake = mistake ?? "a header field has a control character"
        }
        guard let expected = next else { return }
        let nameEnd = UInt(bitPattern: name) &+ UInt(nameLength) &+ 1
        let valueStart = UInt(bitPattern: value)
        if unsafe UInt(bitPattern: name) != expected || valueStart < nameEnd
            || !HeadLayout.isBlank(name + nameLength + 1, upTo: value)
        {
            mistake = mistake ?? "the lines of the head have to end with CRLF, stand by themselves and be without NUL"
        }
        next = valueStart &+ UInt(valueLength) &+ 2
    }

    /// Looks where the head ended, by the number of bytes that the library took for it. It takes a field without a name for the
    /// empty line, and would read the rest of the head as the next request.
    mutating func checkEnd(_ byteCount: Int) {
        guard let expected = next, byteCount > 0, start &+ UInt(byteCount) != expected &+ 2 else { return }
        mistake = mistake ?? "the head has to end with an empty line, and each of its lines with CRLF"
    }

    /// What is wrong with the head; nil when nothing is.
    func problem(of request: Request) -> Problem? {
        if let mistake { return Problem(.malformedRequest, mistake.description) }
        if let blank = HeadLayout.blank(in: request.target.bytes) {
            let detail = blank == 0x20 ? "the target of a request has no spaces; write %20" : "the target has a control character"
            return Problem(.malformedRequest, detail)
        }
        guard request.target.hasKnownForm else {
            return Problem(.malformedRequest, "the target of a request is a path that begins with a slash")
        }
        if request.headers.repeated == .contentLength {
            return Problem(.malformedRequest, "the lengths that the head tells differ").with("header", "Content-Length")
        }
        guard let coding = request.headers[.transferEncoding] else { return nil }
        if request.headers[.contentLength] != nil || isHTTP10 {
            return Problem(.malformedRequest, "a body is told by Content-Length or by chunks, not by both").with(
                "header", "Transfer-Encoding")
        }
        guard coding.lowercased() != "chunked" else { return nil }
        return Problem(.notImplemented, "the only transfer coding of requests is chunked").with("header", "Transfer-Encoding")
    }

    private static func blank(in target: [UInt8]) -> UInt8? {
        unsafe target.withUnsafeBufferPointer { bytes in
            for index in 0..<bytes.count where unsafe bytes[index] <= 0x20 || bytes[index] == 0x7f { return unsafe bytes[index] }
            return nil
        }
    }

    private static func isToken(_ name: UnsafePointer<CChar>, _ length: Int) -> Bool {
        unsafe length > 0
            && UnsafeBufferPointer(start: name, count: length).allSatisfy { MediaType.isToken(UInt8(bitPattern: $0)) }
    }

    private static func hasControl(_ value: UnsafePointer<CChar>, _ length: Int) -> Bool {
        unsafe UnsafeBufferPointer(start: value, count: length).contains { byte in
            let byte = UInt8(bitPattern: byte)
            return (byte < 0x20 && byte != 0x09) || byte == 0x7f
        }
    }

    /// Whether only blanks lie between two parts of one line.
    private static func isBlank(_ start: UnsafePointer<CChar>, upTo end: UnsafePointer<CChar>) -> Bool {
        guard unsafe end - start < 1 << 20 else { return false }
        return unsafe UnsafeBufferPointer(start: start, count: max(0, end - start)).allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }
}
