// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmFormats
internal import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// The results of another engine for the same work, read from a file.
///
/// The file is a JSON object with numbers, or an object that has such an object as its member `figures`.
struct Baseline {
    /// The results of the other engine by the names of the measurements.
    private var figures: [String: Double] = [:]

    /// Reads the results.
    ///
    /// - Parameter path: The JSON file.
    /// - Throws: `BenchmarkError` when the file cannot be read or is no JSON object.
    init(_ path: String) throws {
        guard case .object(let document) = try JSONParser.parse(try Baseline.read(path), depthLimit: 8) else {
            throw BenchmarkError.unsuitable("\(path) is no JSON object")
        }
        for (name, value) in (document["figures"]?.object ?? document).members {
            switch value {
            case .integer(let number): figures[name] = Double(number)
            case .real(let number): figures[name] = number
            default: break
            }
        }
    }

    /// All results, for any number of objects.
    var allFigures: [String: Double] { figures }

    /// Returns the results if they were measured with the same number of objects.
    ///
    /// - Parameter count: The number of objects of the measured class.
    /// - Returns: All results, or none when the numbers differ.
    func figures(forObjects count: Int) -> [String: Double] { figures["objects"] == Double(count) ? figures : [:] }

    /// Returns the contents of a file; throws `BenchmarkError` when it cannot be opened.
    static func read(_ path: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path, "rb") else { throw BenchmarkError.unsuitable("cannot read \(path)") }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}
