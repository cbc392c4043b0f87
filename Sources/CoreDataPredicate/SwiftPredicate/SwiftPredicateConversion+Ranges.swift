import Foundation

// Converts ranges of Swift's predicates.
//
// The calls by name into this file make the linker include the conformances below: see `convertible(_:)`.
extension SwiftPredicateConversion {
    /// Returns whether the element is in a range; `nil` if the range is neither `lower..<upper` nor captured.
    func isIn(
        _ expression: any PredicateExpression, captured: Any?, _ element: ExpressionNode
    ) throws(Failure) -> PredicateNode? {
        if let captured = captured as? any BoundedRange {
            let bounds = captured.bounds
            return range(
                element, from: try bounds.lower.map { bound throws(Failure) in try constant(bound) },
                to: try bounds.upper.map { bound throws(Failure) in try constant(bound) }, isClosed: bounds.isClosed)
        }
        guard let open = expression as? any OpenRange else { return nil }
        let (lower, upper) = try open.bounds(in: self)
        return range(element, from: lower, to: upper, isClosed: false)
    }
}

/// `lower..<upper`, whose bounds are expressions.
private protocol OpenRange {
    typealias Conversion = SwiftPredicateConversion

    func bounds(in conversion: Conversion) throws(Conversion.Failure) -> (ExpressionNode, ExpressionNode)
}

extension PredicateExpressions.Range: OpenRange {
    fileprivate func bounds(in conversion: Conversion) throws(Conversion.Failure) -> (ExpressionNode, ExpressionNode) {
        (try conversion.expression(lower), try conversion.expression(upper))
    }
}

/// A captured range.
private protocol BoundedRange {
    var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}

extension ClosedRange: BoundedRange {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension Range: BoundedRange {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension PartialRangeFrom: BoundedRange {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, true) }
}

extension PartialRangeThrough: BoundedRange {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: BoundedRange {
    fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}
