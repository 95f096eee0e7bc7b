// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

enum AggregateOperator: String, Sendable {
    case min = "@min"
    case max = "@max"
    case sum = "@sum"
    case average = "@avg"
}
