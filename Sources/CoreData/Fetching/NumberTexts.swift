import CoreDataPredicate
import CoreDataPrimitives

// A text attribute that is compared with a number is compared with the number's text. Apple's SQLite stores do the
// same, because of the column's type:
//
//     zip IN {9, 10}      // zip IN {"9", "10"}
//     zip == 9            // zip == "9"
extension PredicateNode {
    /// The predicate with texts in place of the numbers that attributes of kind text are compared with.
    func readingNumbersAsTexts(of entity: EntityRuntime, in model: ModelRuntime) -> PredicateNode {
        switch self {
        case .comparison(let comparison):
            guard let read = comparison.readingNumbersAsTexts(of: entity, in: model) else { return self }
            return .comparison(read)
        case .and(let nodes): return .and(nodes.map { $0.readingNumbersAsTexts(of: entity, in: model) })
        case .or(let nodes): return .or(nodes.map { $0.readingNumbersAsTexts(of: entity, in: model) })
        case .not(let node): return .not(node.readingNumbersAsTexts(of: entity, in: model))
        case .constant, .block: return self
        }
    }
}

extension PredicateNode.Comparison {
    /// `nil` if nothing must be replaced.
    fileprivate func readingNumbersAsTexts(of entity: EntityRuntime, in model: ModelRuntime) -> Self? {
        switch comparator {
        case .equalTo, .notEqualTo:
            if let text = right.numberText, left.isText(of: entity, in: model) {
                return replacing(right: .constant(text))
            }
            if let text = left.numberText, right.isText(of: entity, in: model) {
                return replacing(left: .constant(text))
            }
        case .in:
            if let texts = right.numberTexts, left.isText(of: entity, in: model) { return replacing(right: texts) }
        default: break
        }
        return nil
    }

    private func replacing(left: ExpressionNode? = nil, right: ExpressionNode? = nil) -> Self {
        Self(left ?? self.left, comparator, right ?? self.right, modifier: modifier, options: options)
    }
}

extension ExpressionNode {
    /// Returns whether it is a text attribute of the entity, or of a destination of its to-ones.
    fileprivate func isText(of entity: EntityRuntime, in model: ModelRuntime) -> Bool {
        guard case .keyPath(.evaluatedObject, let keys) = self else { return false }
        var (entity, rest) = (entity, keys[...])
        while let (slot, remainder) = entity.slot(at: rest) {
            let info = entity.slots[slot]
            if remainder.isEmpty { return info.attribute != nil && info.kind == .text }
            guard let relationship = info.relationship else { return false }
            (entity, rest) = (model.entities[relationship.destination], remainder)
        }
        return false
    }

    fileprivate var numberText: Constant? {
        guard case .constant(let constant) = self else { return nil }
        return constant.numberText
    }

    /// The collection with texts in place of its numbers; `nil` if it has none.
    fileprivate var numberTexts: ExpressionNode? {
        switch self {
        case .constant(.collection(let members, let isOrdered)):
            guard members.contains(where: { $0.numberText != nil }) else { return nil }
            return .constant(.collection(members.map { $0.numberText ?? $0 }, isOrdered: isOrdered))
        case .aggregate(let elements):
            guard elements.contains(where: { $0.numberText != nil }) else { return nil }
            return .aggregate(elements.map { element in element.numberText.map { .constant($0) } ?? element })
        default: return nil
        }
    }
}

extension Constant {
    /// The number as a text column has it.
    fileprivate var numberText: Constant? {
        switch self {
        case .value(.integer(let number)): .value(.string(String(number)))
        case .value(.double(let number)): .value(.string(String(number)))
        case .value(.decimal(let number)): .value(.string("\(number)"))
        default: nil
        }
    }
}
