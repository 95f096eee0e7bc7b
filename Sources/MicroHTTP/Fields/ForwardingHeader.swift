// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The header fields by which proxies state that they passed a request on.
///
/// A request that has one loses the privileges of a local client. A client that sends such a field
/// by itself gains nothing from it.
package enum ForwardingHeader {
    /// The names in lower case, apart from the family that `prefix` covers.
    package static let names: [StaticString] = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-forwarded-for",
        "x-envoy-external-address", "true-client-ip", "cf-connecting-ip", "fastly-client-ip", "fly-client-ip", "cdn-loop",
    ]
    /// The beginning of the names of one family of such fields: `x-forwarded-for`,
    /// `x-forwarded-proto` and similar ones.
    package static let prefix: StaticString = "x-forwarded"
}
