// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A writer of metrics in the Prometheus text format. Every name gets the prefix `realm_rest_`, but those that all programs share.
package struct MetricsText {
    /// The types of metrics: a counter only grows, a gauge goes up and down, and a histogram counts
    /// values by size.
    package enum Kind: String { case counter, gauge, histogram }

    /// The metrics that were written so far, in the Prometheus text format.
    package private(set) var text = ""

    /// Makes a text without metrics.
    package init() {}

    /// Begins a metric with its `HELP` and `TYPE` lines; its samples follow.
    ///
    /// - Parameters:
    ///   - name: The name without the prefix.
    ///   - kind: The type of the metric.
    ///   - help: A phrase about its meaning, without line breaks.
    package mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP realm_rest_\(name) \(help)\n# TYPE realm_rest_\(name) \(kind.rawValue)\n"
    }

    /// Writes one sample of the metric that was begun last.
    ///
    /// - Parameters:
    ///   - name: The name without the prefix, possibly with a suffix such as `_sum`.
    ///   - labels: Names and values of labels. Values may be any text, which is escaped.
    ///   - value: The value. Whole numbers are written without a fraction.
    package mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += "realm_rest_" + name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(MetricsText.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " " + MetricsText.number(value) + "\n"
    }

    /// Returns the text of a value; whole numbers have no fraction.
    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : value.description
    }

    /// Writes a metric that has one sample and no labels.
    ///
    /// - Parameters:
    ///   - name: The name without the prefix.
    ///   - kind: The type of the metric.
    ///   - help: A phrase about its meaning.
    package mutating func single(_ name: String, _ kind: Kind, help: String, value: Double) {
        header(name, kind, help)
        sample(name, [], value)
    }

    /// Writes a metric that has one sample, no labels, and a name that is the same for all programs.
    ///
    /// - Parameters:
    ///   - name: The whole name.
    ///   - kind: The type of the metric.
    ///   - help: A phrase about its meaning.
    package mutating func common(_ name: String, _ kind: Kind, help: String, value: Double) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n\(name) \(MetricsText.number(value))\n"
    }

    /// Writes the samples of one histogram: the cumulated buckets, the sum and the count.
    ///
    /// - Parameters:
    ///   - name: The name without the prefix and suffixes.
    ///   - bounds: The upper bounds of the buckets, ascending.
    ///   - counts: The number of values in each bucket, not cumulated. There is one more than
    ///     bounds, for the values above all of them.
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

    /// The value of a label with backslashes, quotation marks and line breaks escaped.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
