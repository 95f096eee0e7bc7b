// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import RealmPlatform
internal import RealmStorage

/// The options of the command line. They select the measurements, their number, and the compared engines.
struct BenchmarkOptions: ParsableArguments {
    /// The files whose queries and requests are measured; writes go to copies.
    @Argument(help: "Realm files with the class Item.")
    var files: [String] = []

    /// Whether the kernels are measured in addition to the files.
    @Flag(help: "Measure the kernels too; without files they are measured anyway.")
    var kernels = false

    /// Whether scans of the storage layer are measured without queries.
    @Flag(help: "Measure single leaves.")
    var leaves = false

    @Flag(help: "Measure many more queries.")
    var survey = false

    /// The path of a file with queries that are measured; nil for none.
    @Option(help: "Measure the queries of this file, in lines of a class, a tab and a query, and nothing else.")
    var queries: String?

    /// Whether requests over HTTP are left out.
    @Flag(name: .customLong("no-http"), help: "Leave requests out.")
    var noHTTP = false

    /// Whether reads are left out.
    @Flag(help: "Leave reads out.")
    var noReads = false

    /// Whether writes are left out.
    @Flag(help: "Leave writes out.")
    var noWrites = false

    /// Whether notifications are left out.
    @Flag(help: "Leave notifications out.")
    var noNotifications = false

    /// The number of objects that the import benchmark sends.
    @Option(help: "The number of objects of an import.")
    var imported = 1_000_000

    /// The number of runs of which the fastest is reported; nil reports a median.
    @Option(help: "Show the least of so many runs instead of a median.")
    var best: Int?

    /// The text that the names of measurements in this process must contain; nil measures all.
    @Option(help: "Measure in process only what has this text in its name.")
    var only: String?

    /// The path of a file with the results of another engine; nil for no comparison.
    @Option(help: "Compare with the results of another engine in this file.")
    var baseline: String?

    /// The port of the server, set for the process that acts as many clients of one server; see `StreamCrowd`.
    @Option(help: .hidden)
    var crowd: Int?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    ///
    /// - Throws: `ValidationError` for numbers that are not positive.
    func validate() throws {
        guard imported > 0, best ?? 1 > 0 else { throw ValidationError("'--imported' and '--best' are above 0") }
    }

    /// Makes the harness for measurements.
    ///
    /// - Parameter runs: The number of runs; the option `--best` overrides it.
    func harness(runs: Int) -> Harness { Harness(runs: best ?? runs, takesLeast: best != nil) }
}
