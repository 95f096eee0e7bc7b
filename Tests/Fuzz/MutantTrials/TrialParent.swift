// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Starts children until all trials are done, and gathers what they say.
final class TrialParent {
    private let options: TrialOptions
    private var opened = 0, reads = 0, writes = 0, successful = 0
    private var faults = 0

    init(_ options: TrialOptions) { self.options = options }

    /// Returns whether nothing went wrong.
    func run() throws -> Bool {
        let end = options.range.upperBound
        var next = options.from
        let start = Date()
        while next < end {
            let (last, isFinished) = try runChild(from: next)
            if isFinished { break }
            faults += 1
            next = last + 1
        }
        let seconds = String(format: "%.0f", Date().timeIntervalSince(start))
        print(
            "\(options.count) trials, \(opened) opened, \(reads) reads, \(writes) writes, \(successful) successful, \(faults) faults, \(seconds) s"
        )
        return faults == 0
    }

    private func runChild(from: Int) throws -> (last: Int, isFinished: Bool) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = CommandLine.arguments.dropFirst() + ["--child-from", "\(from)"]
        let output = Pipe()
        let errors = FileManager.default.temporaryDirectory.appendingPathComponent(
            "mutants-\(ProcessInfo.processInfo.processIdentifier).err")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        var last = from - 1
        var tail: [String] = []
        for line in Lines(output.fileHandleForReading) {
            let words = line.split(separator: " ")
            switch words.first {
            case "trial": last = Int(words[1]) ?? last
            case "done": count(words)
            case "fault":
                faults += 1
                print(line)
            default:
                if options.isVerbose { print(line) }
            }
            tail = (tail + [line]).suffix(3)
        }
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            report(tail, process, errors)
            return (last, false)
        }
        return (last, true)
    }

    private func count(_ words: [Substring]) {
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard numbers.count == 4 else { return }
        opened += numbers[0]
        reads += numbers[1]
        writes += numbers[2]
        successful += numbers[3]
        fflush(nil)
    }

    private func report(_ tail: [String], _ process: Process, _ errors: URL) {
        let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        let what = text.split(separator: "\n").filter {
            $0.contains(" in ") || $0.contains("Fatal") || $0.contains("ERROR: AddressSanitizer")
        }
        print(
            "ENDED with \(process.terminationReason == .exit ? "status" : "signal") \(process.terminationStatus): \(tail.joined(separator: " | "))"
        )
        for line in what.prefix(12) { print("    \(line.prefix(220))") }
        fflush(nil)
    }
}

/// The lines of a stream as they come.
struct Lines: Sequence, IteratorProtocol {
    private let handle: FileHandle
    private var rest = Data()
    private var isAtEnd = false

    init(_ handle: FileHandle) { self.handle = handle }

    mutating func next() -> String? {
        while true {
            if let end = rest.firstIndex(of: 10) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            guard !isAtEnd else { return nil }
            let more = handle.availableData
            if more.isEmpty { isAtEnd = true } else { rest += more }
        }
    }
}
