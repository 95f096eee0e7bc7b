// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmStorage

/// The file that a command reads, and how.
struct FileOptions: ParsableArguments {
    @Argument(help: "A .realm file. It is opened for reading only and never changed.")
    var file: String

    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    @Option(help: ArgumentHelp("log2 of the writer's leaf size; 8 for every released SDK.", visibility: .hidden))
    var clusterShift = 8

    func validate() throws {
        guard (1...8).contains(clusterShift) else { throw ValidationError("--cluster-shift must be 1 to 8") }
    }

    /// Opens the file; errors are printed by the caller.
    func open() throws -> Snapshot {
        let key = try keyFile.map { try EncryptionKey(contentsOfFile: $0) }
        return try Snapshot(file: try RealmFile(path: file, key: key), clusterShift: clusterShift)
    }

    /// Writes a piece of output that was read from the file, unless the file got shorter meanwhile: then it is no answer.
    func output(_ bytes: [UInt8], of snapshot: Snapshot) throws {
        try snapshot.file.requireWhole()
        try StandardStreams.output(bytes)
    }

    /// Runs what reads the file. An error that a file brings about by getting shorter meanwhile is told as that.
    func reading(_ body: (Snapshot) throws -> Void) throws {
        try reporting {
            let snapshot = try open()
            do {
                try body(snapshot)
            } catch let error as StorageError {
                try snapshot.file.requireWhole()
                throw error
            }
            try snapshot.file.requireWhole()
        }
    }
}

/// Runs a command's body with what goes wrong turned into one line on standard error and an exit status:
/// 1 for a damaged file, 2 for one that cannot be opened.
func reporting(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as StorageError {
        switch error {
        case .corrupt:
            StandardStreams.error("corrupt: \(error)")
            throw ExitCode(1)
        case .refused:
            StandardStreams.error("refused: \(error)")
            throw ExitCode(2)
        case .io, .limit, .stopped:
            StandardStreams.error("error: \(error)")
            throw ExitCode(2)
        }
    }
}
