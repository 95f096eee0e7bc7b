// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A file format, with the programs that write it and when they were released.
///
/// A file has the format of the program that has last written to it. Source: docs/files-that-open.md, "Formats".
package struct FileFormat: Sendable, Equatable {
    /// The number in the header.
    package let number: Int
    /// The releases of the storage engine that write it.
    package let engine: String
    /// When these were released.
    package let years: String
    /// The releases of the SDKs that contain them, as far as they are known.
    package let sdks: String

    /// The treatment of files of a format by this program.
    package enum Treatment: String, Sendable {
        case written
        /// Reads them as they are, and writes them after an upgrade.
        case read
        /// Reads a copy in the written format, which it makes.
        case converted
        case refused
    }

    package var treatment: Treatment { FileFormat.treatment(of: number) }

    /// The programs that write the format, in one line, such as `realm-core 4.0 to 5.23 (2017 to 2020): Swift 3.0 to 4.4`.
    package var writers: String { "\(engine) (\(years)): \(sdks)" }

    /// Returns what this program does with files of a format.
    package static func treatment(of number: Int) -> Treatment {
        if number == FileHeader.writtenFormat { return .written }
        if FileHeader.supportedFormats.contains(number) { return .read }
        return FileHeader.convertedFormats.contains(number) ? .converted : .refused
    }

    /// Returns the programs that write a format, in one line; nil for a number that no known program writes.
    package static func writers(of number: Int) -> String? { known.first { $0.number == number }?.writers }

    /// All formats that any program has written, by number. Swift includes Objective-C.
    package static let known: [FileFormat] = table.map { FileFormat(number: $0, engine: $1, years: $2, sdks: $3) }

    /// The values of `known`.
    private static let table: [(Int, String, String, String)] = [
        (1, "TightDB to 0.1.1", "2013", "no released SDK"),
        (2, "realm-core 0.1.2 to 0.92", "2013 to 2015", "Swift 0.80 to 0.95, Java 0.71 to 0.82"),
        (3, "realm-core 0.93 to 0.99", "2015, 2016", "Swift 0.96 to 0.100, Java 0.83 to 0.89"),
        (4, "realm-core 0.97 to 0.99", "2016", "no released SDK"),
        (5, "realm-core 0.100 to 1.5", "2016", "Swift 0.101 to 1.1, Java 0.90 to 1.2"),
        (6, "realm-core 2.0 to 2.4", "2016, 2017", "Swift 2.0 to 2.4, Java 2.0 to 3.0"),
        (7, "realm-core 2.5 to 2.9", "2017", "Swift 2.5 to 2.10, Java 3.1 to 3.7"),
        (8, "realm-core 3.0 to 3.2", "2017", "betas of Swift 3.0"),
        (9, "realm-core 4.0 to 5.23", "2017 to 2020", "Swift 3.0 to 4.4, Java 4.0 to 6.1, JavaScript to 5, .NET to 4"),
        (10, "realm-core 6.0.0 to 6.0.23", "2020", "Swift 5.0 to 5.3, Java 7.0.0 to 7.0.3, JavaScript 6.0.0 to 6.1.0"),
        (
            11, "realm-core 6.0.24 to 6.2", "2020, 2021",
            "Swift 5.4 and 5.5, Java 7.0.4 to 7.0.8, JavaScript 6.1.1 to 6.1.8, .NET 5"
        ),
        (12, "betas of realm-core 10", "2020", "betas of the SDKs 10"),
        (20, "realm-core 10", "2020, 2021", "Swift 10.0 to 10.7, Java 10.0 to 10.5, JavaScript 10.0 to 10.4, .NET 10.0 and 10.1"),
        (21, "betas of realm-core 11", "2021", "betas of Swift 10.8, Java 10.6, JavaScript 10.5 and .NET 10.2"),
        (
            22, "realm-core 11 and 12", "2021 to 2023",
            "Swift 10.8 to 10.34, Java from 10.6, JavaScript from 10.5, .NET from 10.2, Kotlin 1.0 to 1.5"
        ),
        (23, "realm-core 13", "2022 to 2024", "Swift 10.35 to 10.48, JavaScript to 12.6, Kotlin from 1.6, Dart to 1"),
        (24, "realm-core 14 and 20", "since 2024", "Swift from 10.49, JavaScript from 12.7, Kotlin from 1.15, Dart from 2.0"),
    ]
}
