// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage
internal import WebClient

/// Files of realms in a bucket of S3, or of a server that speaks like it: `prefix/app/20260131T120000Z-17.realm`.
///
/// A file is made in a temporary file first, whose digest is stored with it. It is sent in parts, of which only pieces of some
/// kilobytes are in memory; no client sees it before the last part is stored.
package struct S3BackupStore: BackupStore {
    /// Which store it is, and how it is used.
    package struct Options: Sendable {
        /// The bucket, and the beginning of the keys.
        package var location: S3Location
        /// The server.
        package var endpoint: S3Endpoint
        /// The region, which is part of signatures.
        package var region: String
        /// The source of the signing credentials.
        package var credentials: S3Credentials.Source
        /// The number of keys in a page of a list, at most 1000.
        package var pageCount = 1000
        /// The folders in which backups are made before they are sent, in the order in which they are tried.
        package var temporaryFolders = [System.temporaryFolder]

        /// Makes the options of a store.
        ///
        /// - Parameters:
        ///   - location: The bucket, and the beginning of the keys.
        ///   - endpoint: The server; nil for that of Amazon in the region.
        ///   - credentials: The source of the signing credentials.
        package init(_ location: S3Location, _ endpoint: S3Endpoint?, region: String, _ credentials: S3Credentials.Source) {
            self.location = location
            self.endpoint = endpoint ?? S3Endpoint(region: region, bucket: location.bucket)
            self.region = region
            self.credentials = credentials
        }
    }

    /// The name of the metadata that has the SHA-256 of the whole backup, in hexadecimal digits.
    package static let digestField = "x-amz-meta-sha256"
    /// The greatest number of pages that are read of a list.
    private static let maximumPageCount = 1000

    package let options: Options

    /// Makes a store; nothing is sent yet.
    package init(_ options: Options) { self.options = options }

    /// Returns this store with other folders for the files that are made before they are sent.
    package func makingFiles(inOneOf folders: [String]) -> any BackupStore {
        var options = options
        options.temporaryFolders = folders
        return S3BackupStore(options)
    }

    /// The URL of a file, as `s3://bucket/prefix/app/20260131T120000Z-17.realm`.
    package func place(of name: any StoredName) -> String { options.location.text(of: key(of: name)) }

    package func key(of name: any StoredName) -> String { folder(of: name.realm) + name.file }

    /// Returns the beginning of the keys of a realm.
    package func folder(of realm: RealmName) -> String { options.location.key(realm.text + "/") }

    /// Stores a file, as the protocol says.
    package func put(
        of realm: RealmName, _ control: WorkControl?, _ write: (FileBackend) throws(StorageError) -> Void,
        naming: (_ digest: () throws(StorageError) -> [UInt8]) throws(StorageError) -> (any StoredName)?
    ) throws(StorageError) {
        let file = try temporaryFile()
        try write(file.backend())
        let digest = try FileDigest.sha256(file.descriptor)
        guard let name = try naming({ () throws(StorageError) in digest }) else { return }
        try upload(file.descriptor, as: key(of: name), digest: FileDigest.hex(digest), try S3Client(options, control))
    }

    /// Makes an empty file in the first folder that takes one.
    package func temporaryFile() throws(StorageError) -> NewFile {
        var failure = StorageError.io(operation: "open", errno: ENOENT)
        for folder in options.temporaryFolders {
            do throws(StorageError) { return try NewFile(nextTo: folder + "/realm-rest") } catch { failure = error }
        }
        throw failure
    }

    /// Returns files of a realm, as the protocol says.
    package func files<Name: StoredName>(of realm: RealmName) throws(StorageError) -> [(name: Name, byteCount: Int)] {
        let client = try S3Client(options)
        let folder = folder(of: realm)
        var files: [(name: Name, byteCount: Int)] = []
        var next: String?
        for _ in 0..<S3BackupStore.maximumPageCount {
            let query = next.map { [("continuation-token", $0)] } ?? []
            let rest = [("list-type", "2"), ("max-keys", String(options.pageCount)), ("prefix", folder)]
            let answer = try client.send(S3Call(method: "GET", key: "", query: query + rest))
            guard let page = XMLElement.read(answer.body), page.name == "ListBucketResult" else {
                throw client.refusal("returned no list of keys")
            }
            for entry in page.children where entry.name == "Contents" {
                guard let file = entry["Key"]?.dropping(prefix: folder), let byteCount = entry["Size"].flatMap(Int.init),
                    let name = Name(file: String(file), realm: realm)
                else { continue }
                files.append((name, byteCount))
            }
            next = page["NextContinuationToken"]
            guard page["IsTruncated"] == "true", next != nil else { return files }
        }
        throw client.refusal("has more than \(S3BackupStore.maximumPageCount * options.pageCount) keys below \(folder)")
    }

    /// Copies the bytes of a file, as the protocol says, and compares them with the digest that was stored with them.
    package func get(
        _ name: any StoredName, byteCount: Int, into target: Int32, _ control: WorkControl?
    ) throws(StorageError) {
        try get(key(of: name), byteCount: byteCount, into: target, control)
    }

    /// Copies the bytes of a key, whose length was listed, and compares them with the digest that was stored with them.
    package func get(
        _ key: String, byteCount listed: Int, into target: Int32, _ control: WorkControl? = nil
    ) throws(StorageError) {
        let client = try S3Client(options, control)
        try System.requireRoom(listed, for: target)
        let file = WebRequest.Target(descriptor: target, maximumByteCount: listed)
        let answer = try client.send(S3Call(method: "GET", key: key, target: file), accepting: [404])
        guard answer.status == 200 else {
            try requireBucket(answer, client)
            throw .refused(.fileNotFound)
        }
        let place = options.location.text(of: key)
        let byteCount = try System.regularFileSize(target)
        guard byteCount == answer.storedByteCount, byteCount == listed else {
            throw .corrupt(ref: .none, reason: "\(place) has \(byteCount) bytes, and was listed with \(listed)")
        }
        let digest = FileDigest.hex(try FileDigest.sha256(target))
        // Copies that other programs made of a backup may lack its metadata.
        guard digest == answer.fields[S3BackupStore.digestField] ?? digest else {
            throw .corrupt(ref: .none, reason: "\(place) does not have the SHA-256 that was stored with it")
        }
    }

    /// Returns the SHA-256 that was stored with a file; nil for copies that other programs made without it.
    package func digest(of name: any StoredName) throws(StorageError) -> [UInt8]? {
        let client = try S3Client(options)
        let answer = try client.send(S3Call(method: "HEAD", key: key(of: name)), accepting: [404])
        guard answer.status == 200 else { throw .refused(.fileNotFound) }
        return answer.fields[S3BackupStore.digestField].flatMap { FileDigest.bytes(ofHex: $0) }
    }

    /// Deletes a file, as the protocol says.
    package func delete(_ name: any StoredName) throws(StorageError) { try delete(key(of: name)) }

    /// Deletes a key; a missing one is no error.
    package func delete(_ key: String) throws(StorageError) {
        let client = try S3Client(options)
        let answer = try client.send(S3Call(method: "DELETE", key: key), accepting: [404])
        try requireBucket(answer, client)
    }

    /// Throws a sentence when the response says that there is no such bucket.
    private func requireBucket(_ answer: WebAnswer, _ client: S3Client) throws(StorageError) {
        guard answer.status == 404, XMLElement.read(answer.body)?["Code"] == "NoSuchBucket" else { return }
        throw client.refusal("has no such bucket")
    }
}
