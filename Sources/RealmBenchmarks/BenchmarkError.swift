// SPDX-License-Identifier: Apache-2.0

internal import Glibc

enum BenchmarkError: Error, CustomStringConvertible {
    /// The file or the arguments lack what the benchmark needs.
    case unsuitable(String)

    var description: String {
        switch self {
        case .unsuitable(let reason): return reason
        }
    }
}
