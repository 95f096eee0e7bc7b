// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// `RealmBenchmarks [--kernels] [--leaves] [--survey] [--no-http] [--no-reads] [--no-writes] [--no-notifications] [--imported N]
/// [--best N] [--only TEXT] [--baseline FILE.json] [FILE.realm …]`
///
/// `--best` shows the least of N runs instead of a median, `--only` the figures in process and of writes whose name has
/// the text; `--imported` says how many objects an import has. Writes go to copies, which are removed.
/// Every file has the class `Item {id int pk, name string, age int, score double, active bool, city string indexed,
/// createdAt date, balance decimal128?}` with the distribution of values that the queries below expect.
@main
struct Main {
    static func main() {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            if arguments.first == "--crowd" { return try ListeningCrowd.run(Array(arguments.dropFirst())) }
            let options = try BenchmarkOptions(arguments)
            try run(options)
        } catch {
            let text = Array("\(error)\n".utf8)
            _ = unsafe write(STDERR_FILENO, text, text.count)
            exit(1)
        }
    }

    private static func run(_ options: BenchmarkOptions) throws {
        if options.showsKernels { try KernelBenchmarks(harness: Harness(runs: 11)).run() }
        for path in options.files {
            var report = Report(title: path)
            if options.showsReads { try runReads(path, options, &report) }
            if options.showsWrites { try runWrites(path, options, &report) }
            if options.showsNotifications { try runNotifications(path, options, &report) }
            report.print()
        }
    }

    private static func runReads(_ path: String, _ options: BenchmarkOptions, _ report: inout Report) throws {
        if options.showsLeaves { try LeafBenchmarks(path, options.harness(runs: 11)).run(&report) }
        try QueryBenchmarks(path, options.harness(runs: 5), only: options.only).run(&report, options.baseline)
        if options.showsSurvey { try QuerySurvey(path, options.harness(runs: 11)).run(&report) }
        if options.showsHTTP { try HTTPBenchmarks(path).run(&report) }
    }

    private static func runNotifications(_ path: String, _ options: BenchmarkOptions, _ report: inout Report) throws {
        let folder = try ScratchFolder(beside: path)
        defer { folder.remove() }
        try NotificationBenchmarks(path, folder, only: options.only).run(&report, options.baseline)
    }

    private static func runWrites(_ path: String, _ options: BenchmarkOptions, _ report: inout Report) throws {
        let folder = try ScratchFolder(beside: path)
        defer { folder.remove() }
        try WriteBenchmarks(path, folder, only: options.only).run(&report, options.baseline)
        guard options.showsHTTP else { return }
        try WriteHTTPBenchmarks(path, folder, only: options.only, importCount: options.importCount).run(&report, options.baseline)
    }
}

struct BenchmarkOptions {
    var files: [String] = []
    var baseline: Baseline?
    var showsKernels = false
    var showsLeaves = false
    var showsSurvey = false
    var showsHTTP = true
    var showsReads = true
    var showsWrites = true
    var showsNotifications = true
    var importCount = 1_000_000
    /// How many runs to take the least of; nil for medians.
    var best: Int?
    var only: String?

    func harness(runs: Int) -> Harness { Harness(runs: best ?? runs, takesLeast: best != nil) }

    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--kernels": showsKernels = true
            case "--leaves": showsLeaves = true
            case "--survey": showsSurvey = true
            case "--no-http": showsHTTP = false
            case "--no-reads": showsReads = false
            case "--no-writes": showsWrites = false
            case "--no-notifications": showsNotifications = false
            case "--best": best = try BenchmarkOptions.count(rest.next(), argument)
            case "--imported": importCount = try BenchmarkOptions.count(rest.next(), argument)
            case "--only":
                guard let text = rest.next() else { throw BenchmarkError.unsuitable("--only needs a text") }
                only = text
            case "--baseline":
                guard let path = rest.next() else { throw BenchmarkError.unsuitable("--baseline needs a file") }
                baseline = try Baseline(path)
            default:
                guard !argument.hasPrefix("-") else { throw BenchmarkError.unsuitable("unknown option \(argument)") }
                files.append(argument)
            }
        }
        if files.isEmpty { showsKernels = true }
    }

    private static func count(_ text: String?, _ option: String) throws -> Int {
        guard let count = text.flatMap({ Int($0) }), count > 0 else {
            throw BenchmarkError.unsuitable("\(option) needs a number above 0")
        }
        return count
    }
}

enum BenchmarkError: Error, CustomStringConvertible {
    /// The file or the arguments lack what the benchmark needs.
    case unsuitable(String)

    var description: String {
        switch self {
        case .unsuitable(let reason): return reason
        }
    }
}
