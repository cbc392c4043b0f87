import CoreDataSyncEngine
import Foundation

/// Sums of counters.
package enum SyncNumber {
    /// The sum that a counter shows; `nil` for one without contributions.
    package static func total(_ parts: [DeviceID: PropertyState.Contribution], _ kind: AttributeKind) -> SyncValue? {
        guard !parts.isEmpty else { return nil }
        // Doubles are added in one order on all devices.
        return parts.sorted { $0.key < $1.key }.reduce(zero(kind)) { add($0, $1.value.amount, kind) }
    }

    package static func zero(_ kind: AttributeKind) -> SyncValue {
        if kind == .decimal { return .decimal("0") }
        return kind.isReal ? .double(0) : .integer(0)
    }

    /// The sum of two values as a number of the kind; a value that is none counts as 0.
    package static func add(_ a: SyncValue, _ b: SyncValue, _ kind: AttributeKind) -> SyncValue {
        combine(a, b, kind) {
            $0.addingReportingOverflow($1)
        } _: {
            $0 + $1
        } _: {
            $0 + $1
        }
    }

    package static func subtract(_ a: SyncValue, _ b: SyncValue, _ kind: AttributeKind) -> SyncValue {
        combine(a, b, kind) {
            $0.subtractingReportingOverflow($1)
        } _: {
            $0 - $1
        } _: {
            $0 - $1
        }
    }

    package static func isZero(_ value: SyncValue) -> Bool {
        switch value {
        case .integer(let number): number == 0
        case .double(let bits): Double(bitPattern: bits) == 0
        case .decimal(let text): Decimal(string: text) == 0
        default: true
        }
    }

    private static func combine(
        _ a: SyncValue, _ b: SyncValue, _ kind: AttributeKind,
        _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool), _ doubles: (Double, Double) -> Double,
        _ decimals: (Decimal, Decimal) -> Decimal
    ) -> SyncValue {
        if kind == .decimal { return .decimal(StoredValues.text(decimals(decimal(a), decimal(b)))) }
        if kind.isReal { return .double(doubles(double(a), double(b)).bitPattern) }
        let sum = integers(integer(a), integer(b))
        guard sum.overflow else { return .integer(sum.partialValue) }
        return .integer(sum.partialValue < 0 ? .max : .min)
    }

    private static func integer(_ value: SyncValue) -> Int64 {
        switch value {
        case .integer(let number): number
        case .double(let bits): Int64(exactly: Double(bitPattern: bits).rounded()) ?? 0
        case .decimal(let text): Int64(exactly: (Double(text) ?? 0).rounded()) ?? 0
        default: 0
        }
    }

    private static func double(_ value: SyncValue) -> Double {
        switch value {
        case .integer(let number): Double(number)
        case .double(let bits): Double(bitPattern: bits)
        case .decimal(let text): Double(text) ?? 0
        default: 0
        }
    }

    private static func decimal(_ value: SyncValue) -> Decimal {
        switch value {
        case .integer(let number): Decimal(number)
        case .double(let bits): Decimal(Double(bitPattern: bits))
        case .decimal(let text): Decimal(string: text) ?? 0
        default: 0
        }
    }
}
