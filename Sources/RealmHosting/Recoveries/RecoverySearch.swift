// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
package import RealmCalls
package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmRecovery
internal import RealmStorage

/// The search of the file of a realm for its past: a copy of the bytes is made while no commit runs, and searched by a worker.
///
/// The copy counts as a long body of the client, and exists only until the search ends.
package struct RecoverySearch: Sendable {
    private let call: Call
    private let database: Database
    /// Folders for the copy, in the order in which they are tried.
    private let spoolFolders: [String]
    private let workers: WorkerPool
    /// The name and version of the program.
    private let tool: String

    /// The most bytes of the values that are kept.
    private static let resultBytes = 64 << 20
    /// The largest encrypted file, which is decrypted into memory.
    private static let maximumEncryptedBytes = 1 << 30

    /// Prepares a search.
    ///
    /// - Parameters:
    ///   - call: The request, whose sender the copy is charged to.
    ///   - tool: The name and version of the program.
    package init(_ call: Call, _ database: Database, spoolFolders: [String], workers: WorkerPool, tool: String) {
        (self.call, self.database, self.spoolFolders) = (call, database, spoolFolders)
        (self.workers, self.tool) = (workers, tool)
    }

    /// A copy of the bytes of a realm, and the version that they had.
    private struct Copy: Sendable {
        let file: BodyFile
        let version: Version
    }

    /// Searches, and calls `completion` once, on a worker or at once.
    package func run(_ completion: @escaping KeptRecoveries.Completion) {
        let isQueued = workers.submit(for: call.account) {
            do throws(Problem) {
                let file = try makeFile()
                guard database.isWritable else { return finish(try copy(to: file, isWriter: false), completion) }
                copyOnWriter(file, completion)
            } catch {
                completion(.failure(error))
            }
        }
        if !isQueued { completion(.failure(.noWorker)) }
    }

    // MARK: - Copying

    private func makeFile() throws(Problem) -> BodyFile {
        guard database.hasFile else { throw Problem(.notFound, "a realm in memory has no file that could hold a past") }
        let byteCount = database.current.snapshot.file.fileByteCount
        guard database.key == nil || byteCount <= RecoverySearch.maximumEncryptedBytes else {
            throw .overLimit(
                .answerTooLarge, "an encrypted file of \(byteCount) bytes is not searched while it is served",
                limit: RecoverySearch.maximumEncryptedBytes)
        }
        do throws(StorageError) {
            return try BodyFile.make(inOneOf: spoolFolders, try call.request.body.spool?.open(for: call.account))
        } catch {
            throw Problem(keepingCopy: error)
        }
    }

    /// Copies the bytes in a turn of the writer, so that no commit runs.
    private func copyOnWriter(_ file: BodyFile, _ completion: @escaping KeptRecoveries.Completion) {
        let deadline = Instant.now().adding(seconds: Double(call.limits.writeSeconds))
        database.write(
            WriteRequest(deadline: deadline, isAlone: true),
            { _ in try copy(to: file, isWriter: true) },
            completion: { result in
                switch result {
                case .failure(let error): completion(.failure(Problem(error)))
                case .success(let receipt):
                    let isQueued = workers.submitContinuation(for: call.account) { finish(receipt.value, completion) }
                    if !isQueued { completion(.failure(.noWorker)) }
                }
            })
    }

    private func copy(to file: BodyFile, isWriter: Bool) throws(Problem) -> Copy {
        let version = database.current
        let control = WorkControl(deadline: .now().adding(seconds: Double(call.limits.writeSeconds)))
        do throws(StorageError) {
            try file.fill(
                expecting: version.snapshot.file.fileByteCount,
                throughDescriptor: { target throws(StorageError) in
                    try database.copyBytes(to: target, isWriter: isWriter, control)
                })
        } catch {
            if case .io = error { throw Problem(keepingCopy: error) }
            throw Problem(opening: error)
        }
        return Copy(file: file, version: version)
    }

    // MARK: - Searching

    private func finish(_ copy: Copy, _ completion: KeptRecoveries.Completion) {
        do throws(Problem) { completion(.success(try search(copy))) } catch { completion(.failure(error)) }
    }

    private func search(_ copy: Copy) throws(Problem) -> KeptRecovery {
        var options = Recovery.Options()
        options.seconds = Double(call.limits.readSeconds)
        options.resultBytes = RecoverySearch.resultBytes
        let recovery: Recovery
        do throws(StorageError) {
            let file = try EvidenceFile(path: copy.file.openPath, key: database.key)
            recovery = try Recovery(file, options)
        } catch {
            throw Problem(opening: error)
        }
        return try KeptRecovery(recovery, of: copy.version, tool: tool, path: database.path)
    }
}
