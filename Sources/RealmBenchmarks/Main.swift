// SPDX-License-Identifier: Apache-2.0

@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.isEmpty { try KernelBenchmarks(harness: Harness(runs: 11)).run() }
        for path in arguments {
            try LeafBenchmarks(path, Harness(runs: 11)).run()
            try QueryBenchmarks(path, Harness(runs: 11)).run()
        }
    }
}
