import CoreDataPrimitives

extension PredicateNode {
    /// Returns the tree with every constant expression replaced by its value. So values that do not depend on the
    /// object are computed once, and a store receives only constants.
    ///
    ///     name == $FETCH_SOURCE.name               // with the source substituted: name == "Anna"
    ///     CAST(now(), "NSNumber") - 60 < made      // 796564740.0 < made
    ///
    /// An expression that cannot be computed remains, and reports its error on evaluation. Random numbers remain too:
    /// each evaluation draws its own.
    package func foldingConstants(in frame: EvaluationFrame? = nil) -> PredicateNode {
        mapExpressions { $0.folded(in: frame) }
    }
}

extension ExpressionNode {
    package func foldingConstants(in frame: EvaluationFrame? = nil) -> ExpressionNode {
        mapExpressions { $0.folded(in: frame) }
    }

    /// Returns the expression's value as a constant if all its parts are constants.
    fileprivate func folded(in frame: EvaluationFrame?) -> ExpressionNode {
        guard isComputable, let value = try? ExpressionEvaluator(self).value(for: .null, in: frame) else {
            return self
        }
        return .constant(Constant(value))
    }

    private var isComputable: Bool {
        switch self {
        case .keyPath(let operand, _): operand.isConstant
        case .function(let name, let arguments):
            switch PredicateFunction(spelled: name) {
            // The hint applies only to the store.
            case .random, .randomBelow, .noIndex, nil: false
            case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct, .add, .subtract,
                .multiply, .divide, .modulus, .power, .absolute, .squareRoot, .logarithm, .naturalLogarithm,
                .exponential, .ceiling, .floor, .truncate, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
                .rightShift, .onesComplement, .uppercase, .lowercase, .canonical, .length, .characters, .now, .element,
                .cast,
                .distance:
                arguments.allSatisfy(\.isConstant)
            }
        case .message(let target, _, let arguments): target.isConstant && arguments.allSatisfy(\.isConstant)
        case .union(let a, let b), .intersection(let a, let b), .difference(let a, let b):
            a.isConstant && b.isConstant
        default: false
        }
    }

    private var isConstant: Bool {
        switch self {
        case .constant: true
        case .aggregate(let elements): elements.allSatisfy(\.isConstant)
        default: false
        }
    }
}
