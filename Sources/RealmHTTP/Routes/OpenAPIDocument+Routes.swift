// SPDX-License-Identifier: Apache-2.0

extension OpenAPIDocument {
    /// The document that `/v1/openapi.json` serves; with the usual limits it is that of `openapi/openapi.yaml`.
    package static func api(
        version: String, ints: Integers = .number, limits: Limits = Limits()
    ) -> DocumentValue {
        document(version: version, ints: ints, pageLimit: limits.page, paths: RouteTable.documentedPaths)
    }
}
