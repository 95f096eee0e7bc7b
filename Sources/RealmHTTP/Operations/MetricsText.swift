// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes metrics in the Prometheus text format; every name gets the prefix `realm_rest_`.
package struct MetricsText {
    /// The types of metrics.
    package enum Kind: String { case counter, gauge, histogram }

    package private(set) var text = ""

    /// No metrics yet.
    package init() {}

    /// Begins a metric; its samples follow.
    package mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP realm_rest_\(name) \(help)\n# TYPE realm_rest_\(name) \(kind.rawValue)\n"
    }

    /// Writes one sample of the metric that was begun last. Values of labels may be any text.
    package mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += "realm_rest_" + name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(MetricsText.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        let isWhole = value == value.rounded() && abs(value) < 1e15
        text += " " + (isWhole ? String(Int64(value)) : value.description) + "\n"
    }

    /// One metric without labels.
    package mutating func single(_ name: String, _ kind: Kind, help: String, value: Double) {
        header(name, kind, help)
        sample(name, [], value)
    }

    /// The samples of one histogram; `counts` has one more than `bounds`, for what is above all of them.
    package mutating func histogram(
        _ name: String, _ labels: [(String, String)], bounds: [Double], counts: some Sequence<UInt64>, sum: Double
    ) {
        var total: UInt64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? bounds[index].description : "+Inf"
            sample(name + "_bucket", labels + [("le", bound)], Double(total))
        }
        sample(name + "_sum", labels, sum)
        sample(name + "_count", labels, Double(total))
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result
    }
}
