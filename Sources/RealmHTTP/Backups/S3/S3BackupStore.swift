// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmStorage

/// Backups in a bucket of S3, or of a server that speaks like it: `prefix/app/20260131T120000Z-17.realm`.
///
/// A backup is made in a temporary file first, whose digest is stored with it. It is sent in parts, of which
/// only pieces of some kilobytes are in memory; nobody sees it before the last part is stored.
package struct S3BackupStore: BackupStore {
    /// Which store it is, and how it is used.
    package struct Options: Sendable {
        /// The bucket, and the beginning of the keys.
        package var location: S3Location
        /// The server.
        package var endpoint: S3Endpoint
        /// The region, which is part of signatures.
        package var region: String
        /// Who signs.
        package var credentials: S3Credentials.Source
        /// The number of keys in a page of a list, at most 1000.
        package var pageCount = 1000

        /// Makes the options of a store.
        ///
        /// - Parameters:
        ///   - location: The bucket, and the beginning of the keys.
        ///   - endpoint: The server; nil for that of Amazon in the region.
        ///   - region: The region.
        ///   - credentials: Who signs.
        package init(_ location: S3Location, _ endpoint: S3Endpoint?, region: String, _ credentials: S3Credentials.Source) {
            self.location = location
            self.endpoint = endpoint ?? S3Endpoint(region: region, bucket: location.bucket)
            self.region = region
            self.credentials = credentials
        }
    }

    /// The name of the metadata that has the SHA-256 of the whole backup, in hexadecimal digits.
    static let digestField = "x-amz-meta-sha256"
    /// The greatest number of pages that are read of a list.
    private static let maximumPageCount = 1000

    /// Which store it is.
    let options: Options

    /// Makes a store; nothing is sent yet.
    package init(_ options: Options) { self.options = options }

    /// The URL of a backup, as `s3://bucket/prefix/app/20260131T120000Z-17.realm`.
    package func place(of name: BackupName) -> String { options.location.text(of: key(of: name)) }

    /// Returns the key of a backup.
    func key(of name: BackupName) -> String { folder(of: name.realm) + name.file }

    /// Returns the beginning of the keys of a realm.
    private func folder(of realm: RealmName) -> String { options.location.key(realm.text + "/") }

    /// Stores a backup, as the protocol says.
    package func put(
        _ name: BackupName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void
    ) throws(StorageError) {
        let file = try NewFile(beside: System.temporaryFolder + "/realm-rest")
        try write(file.backend())
        let client = try S3Client(options, control)
        try upload(file.descriptor, as: key(of: name), client)
    }

    /// Returns the backups of a realm, as the protocol says.
    package func list(of realm: RealmName) throws(StorageError) -> [StoredBackup] {
        let client = try S3Client(options)
        let folder = folder(of: realm)
        var backups: [StoredBackup] = []
        var next: String?
        for _ in 0..<S3BackupStore.maximumPageCount {
            let query = next.map { [("continuation-token", $0)] } ?? []
            let rest = [("list-type", "2"), ("max-keys", String(options.pageCount)), ("prefix", folder)]
            let answer = try client.send(S3Call(method: "GET", key: "", query: query + rest))
            guard let page = XMLElement.read(answer.body), page.name == "ListBucketResult" else {
                throw client.refusal("answered no list of keys")
            }
            for entry in page.children where entry.name == "Contents" {
                guard let key = entry["Key"], key.hasPrefix(folder), let byteCount = entry["Size"].flatMap(Int.init),
                    let name = BackupName(file: String(key.dropFirst(folder.count)), realm: realm)
                else { continue }
                backups.append(StoredBackup(name, byteCount: byteCount))
            }
            next = page["NextContinuationToken"]
            guard page["IsTruncated"] == "true", next != nil else {
                return backups.sorted { ($0.name.seconds, $0.name.version) > ($1.name.seconds, $1.name.version) }
            }
        }
        throw client.refusal("has more than \(S3BackupStore.maximumPageCount * options.pageCount) keys below \(folder)")
    }

    /// Copies the bytes of a backup, as the protocol says, and compares them with the digest that was stored
    /// with them.
    package func get(_ name: BackupName, into file: NewFile) throws(StorageError) {
        let client = try S3Client(options)
        let call = S3Call(method: "GET", key: key(of: name), target: file.descriptor)
        let answer = try client.send(call, accepting: [404])
        guard answer.status == 200 else {
            try requireBucket(answer, client)
            throw .refused(.fileNotFound)
        }
        let byteCount = try System.regularFileSize(file.descriptor)
        let digest = FileDigest.hex(try FileDigest.sha256(file.descriptor, 0..<byteCount))
        // Copies that other programs made of a backup may lack its metadata.
        let wanted = answer.fields[S3BackupStore.digestField] ?? digest
        guard byteCount == answer.storedByteCount, digest == wanted else {
            throw .corrupt(ref: .none, reason: "\(place(of: name)) has not the SHA-256 that was stored with it")
        }
    }

    /// Deletes a backup, as the protocol says.
    package func delete(_ name: BackupName) throws(StorageError) {
        let client = try S3Client(options)
        let answer = try client.send(S3Call(method: "DELETE", key: key(of: name)), accepting: [404])
        try requireBucket(answer, client)
    }

    /// Throws a sentence when the answer says that there is no such bucket.
    private func requireBucket(_ answer: S3Answer, _ client: S3Client) throws(StorageError) {
        guard answer.status == 404, XMLElement.read(answer.body)?["Code"] == "NoSuchBucket" else { return }
        throw client.refusal("answered that there is no such bucket")
    }
}
