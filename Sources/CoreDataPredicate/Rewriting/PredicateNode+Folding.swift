import CoreDataPrimitives

extension PredicateNode {
    /// The tree with every expression of constants replaced by its value: what does not depend on the object is
    /// computed once, and a store sees constants only.
    ///
    ///     name == $FETCH_SOURCE.name               // with the source substituted: name == "Anna"
    ///     CAST(now(), "NSNumber") - 60 < made      // 796564740.0 < made
    ///
    /// An expression that cannot be computed stays, and tells why when it is evaluated. Random numbers stay too:
    /// each evaluation has its own.
    package func foldingConstants(in frame: EvaluationFrame? = nil) -> PredicateNode {
        mapExpressions { $0.folded(in: frame) }
    }
}

extension ExpressionNode {
    package func foldingConstants(in frame: EvaluationFrame? = nil) -> ExpressionNode {
        mapExpressions { $0.folded(in: frame) }
    }

    /// The constant that the expression is when its parts are constants.
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
            // The hint is for the store.
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
