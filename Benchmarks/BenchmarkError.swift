// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The error of a benchmark that cannot be run; it ends the program with its reason.
enum BenchmarkError: Error, CustomStringConvertible {
    /// The file, the arguments or the system lack what the benchmark needs; the text is the reason.
    case unsuitable(String)

    /// The reason, as it is printed on standard error.
    var description: String {
        switch self {
        case .unsuitable(let reason): return reason
        }
    }
}
