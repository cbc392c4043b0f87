import SwiftSyntax

/// Ports casts that only Objective-C classes allow: of fetch requests to another result type.
extension PortVisitor {
    /// Ports `T.fetchRequest() as! NSFetchRequest<T>`: here each result type has a class of its own.
    func portCasts(_ node: SequenceExprSyntax) {
        let elements = Array(node.elements)
        for (position, element) in elements.enumerated() where position > 0 && position + 1 < elements.count {
            guard let cast = element.as(UnresolvedAsExprSyntax.self),
                let type = elements[position + 1].as(TypeExprSyntax.self)?.type
            else { continue }
            let value = elements[position - 1]
            if cast.questionOrExclamationMark != nil, isFetchRequest(type) {
                portRequestCast(value, cast, type, isAlone: isAlone(elements, before: position - 1))
            }
        }
    }

    private func portRequestCast(
        _ value: ExprSyntax, _ cast: UnresolvedAsExprSyntax, _ type: TypeSyntax, isAlone: Bool
    ) {
        guard isAlone else {
            remark(
                "a fetch request cannot be cast to \(type.trimmedDescription) here", at: cast.span.lowerBound,
                hint: "write \(type.trimmedDescription).cast(…) in #if !canImport(ObjectiveC)")
            return
        }
        // `await` and `try` apply to the whole expression.
        var value = value
        while let inner = value.as(TryExprSyntax.self)?.expression ?? value.as(AwaitExprSyntax.self)?.expression {
            value = inner
        }
        let isForced = cast.questionOrExclamationMark?.text == "!"
        let start = value.span.lowerBound
        rewrite(start..<start, to: "\(type.trimmedDescription).cast(", as: .requestCast)
        rewrite(value.span.upperBound..<type.span.upperBound, to: isForced ? ")!" : ")", as: .requestCast)
    }

    private func isFetchRequest(_ type: TypeSyntax) -> Bool {
        guard let type = type.as(IdentifierTypeSyntax.self) else { return false }
        return type.name.plainText == "NSFetchRequest" && type.genericArgumentClause != nil
    }

    /// Returns whether no operator with a higher precedence than the cast applies to the value.
    private func isAlone(_ elements: [ExprSyntax], before position: Int) -> Bool {
        guard position > 0 else { return true }
        let operation = elements[position - 1]
        if operation.is(AssignmentExprSyntax.self) { return true }
        guard let binary = operation.as(BinaryOperatorExprSyntax.self) else { return true }
        return ["??", "==", "!=", "===", "!==", "&&", "||"].contains(binary.operator.text)
    }
}
