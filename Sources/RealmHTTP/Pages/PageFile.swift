// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmConsole
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A text of the program as it is sent: with its media type, its entity tag, and its compressed form once that was needed.
struct PageFile: Sendable {
    /// The media type.
    let type: StaticString
    /// The contents.
    private let text: OutputBuffer
    /// The entity tag, which follows from the contents, so that it is the same in every process of a version.
    let etag: String
    /// The compressed form, shared by all copies.
    private let packed = PackedBody()

    /// Prepares a file that is part of the program.
    init(_ file: EmbeddedFile) {
        type = file.mediaType
        text = .constant(file.text)
        etag = PageFile.etag(of: file.text.description)
    }

    /// Prepares a page.
    init(html: String) {
        type = "text/html; charset=utf-8"
        text = .text(html)
        etag = PageFile.etag(of: html)
    }

    /// Returns an entity tag of a text: half of its digest.
    private static func etag(of text: String) -> String {
        "\"p." + FileDigest.hex(Array(SecretDigest.sha256(Array(text.utf8)).prefix(16))) + "\""
    }

    /// Returns the response with the file, or 304 for a client that has it.
    func response(to call: Call) -> Response {
        var response = call.isCurrent(etag) ? Response(status: 304) : Response(type: type, text)
        response.packed = packed
        response.add("ETag", etag)
        response.headers += PageFile.rules
        response.isPage = true
        return response
    }

    /// The policy for browsers: they load no other origins, run no inline scripts and show the pages in no frame. They revalidate
    /// files each time, so that a new version is seen at once.
    ///
    /// Requests to this server state where they come from: where neither https nor loopback is used, browsers state it in no other
    /// way, see `OriginPolicy`.
    static let rules: [HeaderField] = [
        HeaderField("Cache-Control", "no-cache"),
        HeaderField(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        HeaderField("Cross-Origin-Opener-Policy", "same-origin"),
        HeaderField("Referrer-Policy", "same-origin"),
    ]
}
