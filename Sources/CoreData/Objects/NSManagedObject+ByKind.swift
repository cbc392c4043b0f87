import CoreDataModel
import CoreDataPrimitives
import Foundation

extension AccessKind {
    /// Kinds whose values are Swift's own types or numbers; integers of all widths are set in the same way.
    @inline(__always)
    var plainKind: ValueKind? {
        switch self {
        case .shortInteger, .mediumInteger, .longInteger: .integer
        case .boolean: .boolean
        case .single: .single
        case .real: .real
        case .date: .date
        case .string: .text
        case .described, .toOne: nil
        }
    }

    /// Whether an attribute of the kind can hold the number: validation refuses others.
    func holds(_ number: Int64) -> Bool {
        switch self {
        case .shortInteger: Int16(exactly: number) != nil
        case .mediumInteger: Int32(exactly: number) != nil
        default: true
        }
    }
}

// Most properties are read by the kind of their slot: one load instead of a walk through reference-counted
// descriptions.
extension NSManagedObject {
    /// The slot of the property of that name.
    @inline(__always)
    final func slot(forKey key: String) -> Int? { home.slotTable.slot(key) ?? runtime.slot(forKey: key) }

    /// Whether the property is a number or a boolean, which Swift may have as a scalar.
    final func isNumber(_ slot: Int) -> Bool {
        switch home.kinds[slot] {
        case .shortInteger, .mediumInteger, .longInteger, .boolean, .single, .real: true
        case .described, .date, .string, .toOne: false
        }
    }

    /// Returns the value as key-value coding does.
    final func anyValue(_ slot: Int) -> Any? {
        switch home.kinds[slot] {
        case .string: return readString(slot)
        case .shortInteger, .mediumInteger, .longInteger: return readInteger(slot).map(SharedNumbers.integer)
        case .boolean: return readInteger(slot).map { SharedNumbers.boolean($0 != 0) }
        case .single: return readDouble(slot).map { SharedNumbers.float(Float($0)) }
        case .real: return readDouble(slot).map { NSNumber(value: $0) }
        case .date: return readDouble(slot).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .toOne:
            noteRead(slot)
            fireIfNeeded(slot: slot)
            return toOne(slot)
        case .described: return describedValue(slot)
        }
    }
}
