// SPDX-License-Identifier: Apache-2.0

/// The numbers of `/metrics`, without the `realm_rest_` that all names begin with.
package struct ServerMetrics {
    /// Each sample: its name with its labels, and its number.
    private let samples: [(name: String, number: Double)]

    /// Asks the server at a port of this machine.
    package init(port: Int) throws {
        self.init(try HTTPClient.request(port: port, "GET", "/metrics").text)
    }

    /// Reads the text of an answer.
    package init(_ text: String) {
        samples = text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("realm_rest_"), let space = line.lastIndex(of: " "),
                let number = Double(line[line.index(after: space)...])
            else { return nil }
            return (String(line[..<space].dropFirst("realm_rest_".count)), number)
        }
    }

    /// The number of a sample. A name without labels is also the first sample that has this name and labels.
    package subscript(name: String) -> Double? {
        (samples.first { $0.name == name } ?? samples.first { $0.name.hasPrefix(name + "{") })?.number
    }
}
