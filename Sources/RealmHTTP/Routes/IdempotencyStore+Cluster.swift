// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Recognizing requests that another node has carried out.
extension IdempotencyStore {
    /// Returns a request as all nodes of a cluster name it: its key with its principal, and a digest of everything that must be equal
    /// in a repetition.
    ///
    /// - Complexity: O(n) in the length of the body. A body in a file is read a MiB at a time.
    /// - Throws: `internal_error` when the body cannot be read.
    static func source(of call: Call) throws(Problem) -> CommittedRequest? {
        guard let key = call.request[.idempotencyKey] else { return nil }
        do throws(StorageError) {
            let name = try DigestContext.digest(of: Array((call.sender + "\n" + key).utf8))
            return CommittedRequest(name: FileDigest.hex(name), digest: FileDigest.hex(try digest(of: call)))
        } catch {
            throw Problem(.internalError, "the request could not be read")
        }
    }

    /// Returns the digest of the parts that must be equal in a repetition.
    private static func digest(of call: Call) throws(StorageError) -> [UInt8] {
        var context = try DigestContext()
        try add(head(of: call), to: &context)
        try add(call.request.body.bytes, to: &context)
        guard let file = call.request.body.file else { return try context.finish() }
        var offset = 0
        while true {
            let piece = try file.read(at: offset, byteCount: 1 << 20)
            guard !piece.isEmpty else { return try context.finish() }
            try add(piece, to: &context)
            offset += piece.count
        }
    }

    /// Returns what must be equal in a repetition, without the realm and the body.
    static func head(of call: Call) -> [UInt8] {
        var parts = [Array(call.request.methodName.utf8), Array(call.request.target.bytes)]
        for field in [RequestHeader.contentType, .realmTransaction, .ifMatch, .ifNoneMatch] {
            parts.append(Array((call.request[field] ?? "").utf8))
        }
        parts.append([Preferences(call.request).isLenient ? 1 : 0])
        return parts.flatMap { Array("\($0.count) ".utf8) + $0 }
    }

    private static func add(_ bytes: [UInt8], to context: inout DigestContext) throws(StorageError) {
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try context.add(view) }
    }
}
