// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import RealmMutants
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization

/// Tries damaged files by the thousand.
///
/// A trial that crashes, hangs or takes too much memory ends a child process; the parent says which it was, and goes on
/// behind it.
@main
struct MutantTrials: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "MutantTrials", abstract: "Damages files in many ways, and reads and writes each of them.",
        discussion: "A trial is repeated with --only FIXTURE --from NUMBER --count 1.")

    @OptionGroup var options: TrialOptions

    func run() throws {
        if options.childFrom != nil { return try TrialChild(options).run() }
        guard try TrialParent(options).run() else { throw ExitCode.failure }
    }
}

struct TrialOptions: ParsableArguments {
    @Option(help: "The number of the first trial.") var from = 0
    @Option(help: "How many trials there are.") var count = 1000
    @Option(help: "Only these parts of files are damaged, a list with commas.", transform: TrialOptions.parts)
    var parts: Set<StructuralDamage.Part>?
    @Option(help: "Only this of the fixtures is tried.") var only: String?
    @Flag(name: .customLong("formats"), help: "Files say that they are of older formats, too.") var hasOlderFormats = false
    @Flag(name: .customLong("sealed"), help: "Files are encrypted.") var isSealed = false
    @Flag(name: .customLong("legacy"), help: "Files are of formats 2 to 9, and are converted.") var isLegacy = false
    @Flag(
        name: .customLong("sanitized"),
        help: "The address sanitizer is there, and with it everything takes longer and more memory.")
    var isSanitized = false
    @Flag(name: .customLong("verbose"), help: "Every damage and every answer is told.") var isVerbose = false
    /// Where a child begins, which ends where the whole ends.
    @Option(name: .customLong("child-from"), help: .hidden) var childFrom: Int?
    @Argument(help: "Files to damage.") var files: [String]

    var range: Range<Int> { max(from, childFrom ?? from)..<from + count }

    mutating func validate() throws {
        guard from >= 0, count > 0 else {
            throw ValidationError("the first trial and their number are whole numbers, and there is at least one")
        }
        guard files.contains(where: { only == nil || TrialFile.name($0) == only }) else {
            throw ValidationError("no file is called \(only ?? "")")
        }
    }

    private static func parts(_ text: String) throws -> Set<StructuralDamage.Part> {
        Set(
            try text.split(separator: ",").map { name in
                guard let part = StructuralDamage.Part(rawValue: String(name)) else {
                    throw ValidationError("there is no part '\(name)'")
                }
                return part
            })
    }
}

/// Runs trials and prints one line before each, so that the parent knows which was the last.
struct TrialChild {
    /// More than this is taken by no trial, or it is a fault.
    private static let maximumBytes = 500 << 20
    private static let hangSeconds = 15.0

    private let options: TrialOptions

    init(_ options: TrialOptions) { self.options = options }

    func run() throws {
        let folder = try makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let trial = try MutantTrial(folder: folder)
        let watch = Watch()
        trial.didBegin = { watch.begin($0) }
        let room = options.isSanitized ? 8 : 1
        watch.start(seconds: TrialChild.hangSeconds * Double(room), bytes: TrialChild.maximumBytes * room)
        let files = try options.files.filter { options.only == nil || TrialFile.name($0) == options.only }.map(TrialFile.init)
        var damages: [Int: StructuralDamage] = [:]
        var last: Int?
        for number in options.range {
            let index = options.only == nil ? number % files.count : 0
            let damage = damages[index] ?? StructuralDamage(files[index].bytes, parts: options.parts)
            damages[index] = damage
            if index != last, !options.isLegacy { try trial.setOriginal(files[index].bytes) }
            last = index
            let mutant = damage.apply(seed: UInt64(number) &* 1_000_003 &+ files[index].salt)
            print("trial \(number) \(files[index].name)")
            fflush(nil)
            if options.isVerbose { print(mutant.log.joined(separator: "\n")) }
            watch.begin("start")
            let outcome =
                options.isLegacy
                ? try LegacyTrial.run(mutant.bytes, folder: folder) : try trial.run(mutant.bytes, form(number))
            for fault in outcome.faults.prefix(5) { print("fault \(number) \(files[index].name) \(fault)") }
            print("done \(outcome.isOpened ? 1 : 0) \(outcome.reads) \(outcome.writes) \(outcome.successfulWrites)")
            if options.isVerbose { print(outcome.statuses) }
        }
    }

    private func form(_ number: Int) -> MutantTrial.Form {
        let format: UInt8? = options.hasOlderFormats ? UInt8(20 + number / 7 % 4) : nil
        return MutantTrial.Form(format: format, isEncrypted: options.isSealed)
    }

    private func makeFolder() throws -> String {
        let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let folder = base + "/realm-mutants-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// An original file.
struct TrialFile {
    let name: String
    let bytes: [UInt8]
    /// Different trials for different files.
    var salt: UInt64 { name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) } }

    init(_ path: String) throws {
        name = TrialFile.name(path)
        bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    static func name(_ path: String) -> String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
}

/// Ends the process when one request takes too long or all of it too much memory, and says what was going on.
final class Watch: Sendable {
    private let begun = Mutex((at: Date(), what: ""))

    func begin(_ what: String) { begun.withLock { $0 = (Date(), what) } }

    func start(seconds: Double, bytes: Int) {
        Thread.detachNewThread { [self] in
            while true {
                Thread.sleep(forTimeInterval: 0.05)
                let (at, what) = begun.withLock { $0 }
                if Date().timeIntervalSince(at) > seconds { end("hang", what) }
                if Watch.residentBytes > bytes { end("memory \(Watch.residentBytes >> 20) MB", what) }
            }
        }
    }

    private func end(_ reason: String, _ what: String) {
        print("\(reason): \(what)")
        fflush(nil)
        _exit(99)
    }

    private static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4096 : 0
    }
}
