// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Answers with the bytes of a data property, whole or in part.
package struct DataAnswer {
    private let target: PropertyTarget
    /// The version that is read, and the request.
    private let context: ReadContext

    /// Creates the response of a property; nil for one that is not a single data property.
    package init?(_ target: PropertyTarget, _ context: ReadContext) {
        guard target.element == nil, target.column.type == .binary, target.column.collection == nil else { return nil }
        self.target = target
        self.context = context
    }

    /// Lets browsers show data, and nothing else. It runs no scripts and has no origin.
    private static let policy: StaticString =
        "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'"

    /// Returns the bytes to a program that names their media type, as a file to save; 204 when the property is null.
    ///
    /// - Throws: The problem of a value longer than a response may be, or of a part beyond its end.
    package func octets() throws(Problem) -> Response {
        let etag = context.versionTag("b1")
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        guard let data = try data() else { return null(etag) }
        var response = try part(of: data, etag)
        response.add("Content-Type", DataType.unknown)
        response.add("Content-Disposition", constant: "attachment")
        return response
    }

    /// Responds to a followed link with the bytes and their detected media type.
    ///
    /// The entity tag is that of the bytes, so a browser keeps a picture for as long as it stays the same, despite other commits.
    ///
    /// - Parameter link: The parameters of the link.
    /// - Throws: The problem of a value longer than a response may be, or of a part beyond its end.
    package func linked(_ link: DataLink) throws(Problem) -> Response {
        guard let data = try data() else { return null(context.versionTag("b2")) }
        let digest = try Problem.stored(FileDigest.sha256(data.array))
        let etag = "\"b.\(FileDigest.hex(Array(digest.prefix(16))))\""
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        let (type, suffix) = DataType.of(data)
        var response = try part(of: data, etag)
        response.add("Content-Type", type)
        response.add("Content-Security-Policy", constant: DataAnswer.policy)
        let usual = "\(target.column.name).\(suffix)"
        if let name = link.download {
            response.add("Content-Disposition", ContentDisposition.attachment(name.isEmpty ? usual : name))
        } else {
            response.add(
                "Content-Disposition",
                type == DataType.unknown ? ContentDisposition.attachment(usual) : ContentDisposition.inline(usual))
        }
        return response
    }

    /// Returns the bytes; nil for null.
    private func data() throws(Problem) -> ByteView? {
        let value = try Problem.mapping { () throws(StorageError) in
            let value = try target.row.value(target.column)
            try context.call.request.budget.meet(byteCount: value.byteCount)
            return value
        }
        guard case .binary(let bytes) = value else { return nil }
        return bytes
    }

    /// Returns 204, for null.
    private func null(_ etag: String) -> Response {
        var response = Response(status: 204)
        context.addReadHeaders(to: &response, etag: etag)
        return response
    }

    /// Returns the part that the request asks for, or everything, without the type.
    private func part(of data: ByteView, _ etag: String) throws(Problem) -> Response {
        let condition = context.call.request[.ifRange]
        let applies = context.call.request.method == .get && (condition == nil || condition == etag)
        let range = applies ? ByteRange(context.call.request[.range], of: data.count) : .whole
        var response = Response(status: 200)
        var bytes = data
        switch range {
        case .whole: break
        case .part(let part):
            response.status = 206
            response.add("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(data.count)")
            bytes = data.slice(part.lowerBound, part.upperBound)
        case .beyond:
            throw Problem(.rangeNotSatisfiable, "the range begins beyond the data of \(data.count) bytes").with("header", "Range")
                .with(header: HeaderField("Content-Range", text: "bytes */\(data.count)"))
        }
        try Problem.stored(context.call.request.budget.requireRoom(for: bytes.count))
        let buffer = OutputBuffer(capacity: bytes.count)
        buffer.append(bytes)
        response.body = .bytes(buffer)
        response.add("Accept-Ranges", constant: "bytes")
        context.addReadHeaders(to: &response, etag: etag)
        return response
    }
}
