// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import RealmPlatform
internal import RealmStorage

/// The program: measures kernels, queries, requests, notifications and durable writes, and prints the results.
@main
struct Main: ParsableCommand {
    /// The name of the program and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "RealmBenchmarks",
        abstract: "Measures kernels, queries, requests, notifications and durable writes.",
        discussion: """
            Every file has the class Item {id int pk, name string, age int, score double, active bool, city string indexed, \
            createdAt date, balance decimal128?} with the distribution of values that the queries expect. Writes go to copies, \
            which are removed. Without files the kernels alone are measured.
            """)

    /// The options of the command line.
    @OptionGroup var options: BenchmarkOptions

    /// Runs the selected measurements, and prints one report for each file.
    func run() throws {
        if let port = options.crowd { return try ListeningCrowd.run(port) }
        if options.kernels || options.files.isEmpty { try KernelBenchmarks(harness: Harness(runs: 11)).run() }
        let baseline = try options.baseline.map { try Baseline($0) }
        for path in options.files {
            var report = Report(title: path)
            if let queries = options.queries {
                try QueryList(queries).measure(path, options.harness(runs: 5), comparedWith: baseline, &report)
                report.print()
                continue
            }
            if !options.noReads { try runReads(path, baseline, &report) }
            if !options.noWrites { try runWrites(path, baseline, &report) }
            if !options.noNotifications { try runNotifications(path, baseline, &report) }
            report.print()
        }
    }

    /// Measures queries and requests that read.
    ///
    /// - Parameters:
    ///   - path: The measured file, which is not changed.
    ///   - baseline: The results to compare with.
    ///   - report: Receives the results.
    private func runReads(_ path: String, _ baseline: Baseline?, _ report: inout Report) throws {
        if options.leaves { try LeafBenchmarks(path, options.harness(runs: 11)).run(&report) }
        try QueryBenchmarks(path, options.harness(runs: 5), only: options.only).run(&report, baseline)
        if options.survey { try QuerySurvey(path, options.harness(runs: 11)).run(&report) }
        if !options.noHTTP { try HTTPBenchmarks(path).run(&report) }
    }

    /// Measures notifications, with copies of the file in a folder that is removed afterwards.
    ///
    /// - Parameters:
    ///   - path: The measured file.
    ///   - baseline: The results to compare with.
    ///   - report: Receives the results.
    private func runNotifications(_ path: String, _ baseline: Baseline?, _ report: inout Report) throws {
        let folder = try ScratchFolder(beside: path)
        defer { folder.remove() }
        try NotificationBenchmarks(path, folder, only: options.only).run(&report, baseline)
    }

    /// Measures writes, with copies of the file in a folder that is removed afterwards.
    ///
    /// - Parameters:
    ///   - path: The measured file.
    ///   - baseline: The results to compare with.
    ///   - report: Receives the results.
    private func runWrites(_ path: String, _ baseline: Baseline?, _ report: inout Report) throws {
        let folder = try ScratchFolder(beside: path)
        defer { folder.remove() }
        try WriteBenchmarks(path, folder, only: options.only).run(&report, baseline)
        guard !options.noHTTP else { return }
        try WriteHTTPBenchmarks(path, folder, only: options.only, importCount: options.imported).run(&report, baseline)
    }
}
