// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import Synchronization

/// The independent reader of Realm files, where it lies beside the checkout. One process checks many files, one after another.
package final class FileInspector: Sendable {
    /// The one of this process; nil when the reader or its interpreter is not there.
    package static let shared: FileInspector? = FileInspector()

    private struct State {
        var output: [UInt8] = []
    }

    private let process: Process
    private let input: Pipe
    private let output: Pipe
    private let state = Mutex(State())

    /// Reads a line `SHIFT PATH` and answers with one line: the errors, or nothing.
    private static let program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        sys.setrecursionlimit(20000)
        sys.dont_write_bytecode = True
        import realm_inspect
        print('ready', flush=True)
        for line in sys.stdin:
            shift, path = line.rstrip('\\n').split(' ', 1)
            try:
                verifier = realm_inspect.Verifier({'path': path, 'key': None, 'cluster_shift': int(shift)})
                verifier.run()
                errors = [str(error) for error in verifier.errors]
            except Exception as error:
                errors = [repr(error)]
            print(' | '.join(errors).replace('\\n', ' ')[:4000], flush=True)
        """

    private init?() {
        guard let folder = Fixtures.shared?.appendingPathComponent("tools"),
            FileManager.default.fileExists(atPath: folder.appendingPathComponent("realm_inspect.py").path)
        else { return nil }
        process = Process()
        input = Pipe()
        output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-B", "-c", FileInspector.program, folder.path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        guard state.withLock({ FileInspector.readLine(output, &$0) }) == "ready" else { return nil }
    }

    /// What is wrong with a file, or nil.
    package func errors(_ path: String, clusterShift: Int = 8) -> String? {
        let answer = state.withLock { state -> String? in
            do { try input.fileHandleForWriting.write(contentsOf: Data("\(clusterShift) \(path)\n".utf8)) } catch { return nil }
            return FileInspector.readLine(output, &state)
        }
        guard let answer else { return "the inspector ended" }
        return answer.isEmpty ? nil : answer
    }

    private static func readLine(_ pipe: Pipe, _ state: inout State) -> String? {
        while true {
            if let end = state.output.firstIndex(of: 10) {
                defer { state.output.removeFirst(end + 1) }
                return String(decoding: state.output[..<end], as: UTF8.self)
            }
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            state.output += data
        }
    }
}
