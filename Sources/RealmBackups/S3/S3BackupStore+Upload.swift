// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
internal import WebClient

/// Files on their way into a bucket: small ones with one request, others in parts.
extension S3BackupStore {
    /// The smallest number of bytes of a part, but for the last one; smaller files are sent as a whole.
    private static let partByteCount = 8 << 20
    /// The greatest number of parts that S3 takes.
    private static let maximumPartCount = 10_000

    /// Stores a complete file under a key.
    ///
    /// - Parameters:
    ///   - descriptor: The file, which must not change.
    ///   - digest: The SHA-256 of the file in hexadecimal digits, which is stored with it.
    ///   - client: Sends the requests.
    /// - Throws: The failure, after the stored parts were aborted.
    package func upload(_ descriptor: Int32, as key: String, digest: String, _ client: S3Client) throws(StorageError) {
        let byteCount = try System.regularFileSize(descriptor)
        var call = S3Call(method: "PUT", key: key, fields: [(S3BackupStore.digestField, digest)])
        guard byteCount > S3BackupStore.partByteCount else {
            call.body = .file(descriptor, 0..<byteCount)
            _ = try client.send(call)
            return
        }
        call = S3Call(method: "POST", key: key, query: [("uploads", "")], fields: call.fields)
        let answer = try client.send(call)
        guard let id = XMLElement.read(answer.body)?["UploadId"], !id.isEmpty else {
            throw client.refusal("returned no id of an upload")
        }
        do throws(StorageError) {
            let tags = try sendParts(of: descriptor, byteCount, Upload(key: key, id: id), client)
            try complete(Upload(key: key, id: id), tags, digest: digest, client)
        } catch {
            abort(Upload(key: key, id: id))
            throw error
        }
    }

    /// An upload in parts that was begun.
    private struct Upload {
        /// The key that the file gets at the end.
        let key: String
        /// The id by which the store knows the upload.
        let id: String
    }

    /// Sends all parts, one after another.
    ///
    /// - Returns: The tags of the parts, in their order.
    private func sendParts(
        of descriptor: Int32, _ byteCount: Int, _ upload: Upload, _ client: S3Client
    ) throws(StorageError) -> [String] {
        let least = (byteCount + S3BackupStore.maximumPartCount - 1) / S3BackupStore.maximumPartCount
        let partByteCount = max(S3BackupStore.partByteCount, least)
        var tags: [String] = []
        for start in stride(from: 0, to: byteCount, by: partByteCount) {
            let call = S3Call(
                method: "PUT", key: upload.key, query: [("partNumber", String(tags.count + 1)), ("uploadId", upload.id)],
                body: .file(descriptor, start..<min(start + partByteCount, byteCount)))
            guard let tag = try client.send(call).fields["etag"] else { throw client.refusal("returned no tag of a part") }
            tags.append(tag)
        }
        return tags
    }

    /// Makes the parts one object. When the store no longer knows the upload, an earlier attempt may have succeeded without a
    /// response: then the object has the digest.
    private func complete(
        _ upload: Upload, _ tags: [String], digest: String, _ client: S3Client
    ) throws(StorageError) {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Markup.escaped(tag))</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        let call = S3Call(
            method: "POST", key: upload.key, query: [("uploadId", upload.id)], body: .bytes(Array(body.utf8)))
        do throws(StorageError) {
            _ = try client.send(call)
        } catch {
            let head = try? client.send(S3Call(method: "HEAD", key: upload.key, isRepeated: false))
            guard head?.fields[S3BackupStore.digestField] == digest else { throw error }
        }
    }

    /// Aborts the upload of stored parts, also when the operation was cancelled.
    ///
    /// If the store cannot be reached either, they stay until a rule of the bucket removes them.
    private func abort(_ upload: Upload) {
        let call = S3Call(method: "DELETE", key: upload.key, query: [("uploadId", upload.id)], isRepeated: false)
        _ = try? S3Client(options).send(call)
    }
}
