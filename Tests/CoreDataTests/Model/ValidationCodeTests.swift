import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Testing

@testable import CoreData

/// G4, G5
@Suite struct ValidationCodeTests {
    @Test func theCodeFollowsFromShapeAndType() {
        let value = ExpressionNode.evaluatedObject
        let length = ExpressionNode.keyPath(operand: .evaluatedObject, ["length"])
        let seconds = ExpressionNode.keyPath(operand: .evaluatedObject, ["timeIntervalSinceReferenceDate"])
        let one = ExpressionNode.constant(.value(.integer(1)))
        let cases: [(ExpressionNode, PredicateNode.Comparator, ExpressionNode, CoreDataModel.AttributeType, Int)] = [
            (value, .greaterThanOrEqualTo, one, .integer16, 1620),
            (value, .greaterThan, one, .double, 1620),
            (value, .lessThanOrEqualTo, one, .decimal, 1610),
            (value, .lessThan, one, .float, 1610),
            (one, .lessThanOrEqualTo, value, .integer64, 1620),
            (one, .greaterThan, value, .integer32, 1610),
            (value, .greaterThanOrEqualTo, one, .date, 1640),
            (seconds, .lessThanOrEqualTo, one, .date, 1630),
            (length, .greaterThanOrEqualTo, one, .string, 1670),
            (length, .lessThanOrEqualTo, one, .string, 1660),
            (value, .matches, one, .string, 1680),
            (value, .equalTo, one, .integer16, 1550),
            (value, .lessThan, one, .string, 1550),
            (length, .lessThan, one, .integer16, 1550),
            (value, .in, one, .string, 1550),
            (one, .matches, value, .string, 1550),
        ]
        for (left, comparator, right, type, code) in cases {
            let node = PredicateNode.comparison(.init(left, comparator, right))
            #expect(ValidationCode.derive(from: node, type: type) == code, "\(comparator) on \(type)")
        }
        #expect(ValidationCode.derive(from: .constant(false), type: .string) == 1550)
    }
}
