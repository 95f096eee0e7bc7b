// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// `RealmBenchmarks [--kernels] [--leaves] [--survey] [--no-http] [--best N] [--only TEXT] [--baseline FILE.json]
/// [FILE.realm …]`
///
/// `--best` shows the least of N runs instead of a median, `--only` the in-process figures whose name has the text.
/// Every file has the class `Item {id int pk, name string, age int, score double, active bool, city string indexed,
/// createdAt date, balance decimal128?}` with the distribution of values that the queries below expect.
@main
struct Main {
    static func main() {
        do {
            let options = try BenchmarkOptions(CommandLine.arguments.dropFirst())
            try run(options)
        } catch {
            let text = Array("\(error)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            exit(1)
        }
    }

    private static func run(_ options: BenchmarkOptions) throws {
        if options.showsKernels { try KernelBenchmarks(harness: Harness(runs: 11)).run() }
        for path in options.files {
            var report = Report(title: path)
            if options.showsLeaves { try LeafBenchmarks(path, options.harness(runs: 11)).run(&report) }
            try QueryBenchmarks(path, options.harness(runs: 5), only: options.only).run(&report, options.baseline)
            if options.showsSurvey { try QuerySurvey(path, options.harness(runs: 11)).run(&report) }
            if options.showsHTTP { try HTTPBenchmarks(path).run(&report) }
            report.print()
        }
    }
}

struct BenchmarkOptions {
    var files: [String] = []
    var baseline: Baseline?
    var showsKernels = false
    var showsLeaves = false
    var showsSurvey = false
    var showsHTTP = true
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
            case "--best":
                guard let count = rest.next().flatMap({ Int($0) }), count > 0 else {
                    throw BenchmarkError.unsuitable("--best needs a number of runs")
                }
                best = count
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
