// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The options of the command line.
struct BenchmarkOptions: ParsableArguments {
    @Argument(help: "Realm files with the class Item.")
    var files: [String] = []

    @Flag(help: "Measure the kernels too; without files they are measured anyway.")
    var kernels = false

    @Flag(help: "Measure single leaves.")
    var leaves = false

    @Flag(help: "Measure many more queries.")
    var survey = false

    @Flag(name: .customLong("no-http"), help: "Leave requests out.")
    var noHTTP = false

    @Flag(help: "Leave reads out.")
    var noReads = false

    @Flag(help: "Leave writes out.")
    var noWrites = false

    @Flag(help: "Leave notifications out.")
    var noNotifications = false

    @Option(help: "The number of objects of an import.")
    var imported = 1_000_000

    @Option(help: "Show the least of so many runs instead of a median.")
    var best: Int?

    @Option(help: "Measure in process only what has this text in its name.")
    var only: String?

    @Option(help: "Compare with the figures of another engine in this file.")
    var baseline: String?

    /// Set for the process that listens to a server as many clients: the port of the server.
    @Option(help: .hidden)
    var crowd: Int?

    func validate() throws {
        guard imported > 0, best ?? 1 > 0 else { throw ValidationError("'--imported' and '--best' are above 0") }
    }

    /// What measures `runs` times, or as often as `--best` says.
    func harness(runs: Int) -> Harness { Harness(runs: best ?? runs, takesLeast: best != nil) }
}
