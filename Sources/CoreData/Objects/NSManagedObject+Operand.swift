import CoreDataPredicate
import CoreDataPrimitives

// What predicates in memory read, by the kind of the slot as key-value coding does.
extension NSManagedObject {
    /// As a predicate compares it.
    final func operand(_ slot: Int) -> Operand {
        switch home.kinds[slot] {
        case .string: return .value(readString(slot).map { .string($0) } ?? .null)
        case .shortInteger, .mediumInteger, .longInteger:
            return .value(readInteger(slot).map { .integer($0) } ?? .null)
        case .boolean: return .value(readInteger(slot).map { .integer($0 == 0 ? 0 : 1) } ?? .null)
        case .single, .real: return .value(readDouble(slot).map { .double($0) } ?? .null)
        case .date: return .value(readDouble(slot).map { .date($0) } ?? .null)
        case .toOne:
            noteRead(slot)
            fireIfNeeded(slot: slot)
            return toOne(slot).map { .object($0) } ?? .null
        case .described: return describedOperand(slot)
        }
    }
}
