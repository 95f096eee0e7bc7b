// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A writer of metrics in the Prometheus text format. All of its names begin with one prefix.
package struct MetricsText {
    /// The types of metrics: a counter only grows, a gauge goes up and down, and a histogram counts values by size.
    package enum Kind: String { case counter, gauge, histogram }

    /// The metrics that were written so far, in the Prometheus text format.
    package private(set) var text = ""

    private let prefix: String

    /// Makes a text without metrics.
    ///
    /// - Parameter prefix: Another one for names that all programs share.
    package init(prefix: String = "realm_rest_") { self.prefix = prefix }

    /// Begins a metric with its `HELP` and `TYPE` lines; its samples follow.
    ///
    /// - Parameters:
    ///   - name: The name without the prefix.
    ///   - kind: The type of the metric.
    ///   - help: A phrase about its meaning, without line breaks.
    package mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        let full = prefix + name
        text += "# HELP \(full) \(help)\n# TYPE \(full) \(kind.rawValue)\n"
    }

    /// Writes one sample of the metric that was begun last.
    ///
    /// - Parameters:
    ///   - name: The name without the prefix, possibly with a suffix such as `_sum`.
    ///   - labels: Names and values of labels. Values may be any text, which is escaped.
    ///   - value: The value. Whole numbers are written without a fraction.
    package mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += prefix + name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(MetricsText.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        text += " " + MetricsText.number(value) + "\n"
    }

    /// Returns the text of a value; whole numbers have no fraction.
    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : value.description
    }

    /// Writes a counter that has one sample and no labels.
    package mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
        counter(name, help, Double(value))
    }

    package mutating func counter(_ name: String, _ help: String, _ value: Double) {
        header(name, .counter, help)
        sample(name, [], value)
    }

    /// Writes a counter that has a sample for each value of one label.
    package mutating func counter(_ name: String, _ help: String, by label: String, _ counts: [(String, some BinaryInteger)]) {
        header(name, .counter, help)
        for (value, count) in counts { sample(name, [(label, value)], Double(count)) }
    }

    /// Writes a gauge that has one sample and no labels.
    package mutating func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) { gauge(name, help, Double(value)) }

    package mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        header(name, .gauge, help)
        sample(name, [], value)
    }

    package mutating func append(_ other: MetricsText) { text += other.text }

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
