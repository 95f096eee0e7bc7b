// SPDX-License-Identifier: Apache-2.0

extension OpenAPIDocument {
    /// Returns the document that `/v1/openapi.json` serves. With the default limits it is that of
    /// `openapi/openapi.yaml`.
    ///
    /// - Parameters:
    ///   - version: The version of this program, shown as the version of the interface.
    ///   - ints: The form of integers in the responses that are described.
    ///   - limits: The limits of the server, of which the document states the largest page.
    package static func api(
        version: String, ints: Integers = .number, limits: Limits = Limits()
    ) -> DocumentValue {
        document(version: version, ints: ints, pageLimit: limits.page, paths: RouteTable.documentedPaths)
    }
}
