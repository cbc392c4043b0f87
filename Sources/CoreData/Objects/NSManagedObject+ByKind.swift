import CoreDataModel
import Foundation

/// How a property is read without looking at its description.
enum AccessKind: UInt8 {
    /// By its description: what the others are not.
    case described
    case integer16
    case integer32
    case integer64
    case boolean
    case float
    case double
    case date
    case string
    case toOne

    init(_ slot: EntityRuntime.Slot) {
        if slot.attribute == nil {
            self = slot.relationship != nil && !slot.isToMany ? .toOne : .described
            return
        }
        self =
            switch slot.type {
            case .integer16: .integer16
            case .integer32: .integer32
            case .integer64: .integer64
            case .boolean: .boolean
            case .float: .float
            case .double: .double
            case .date: .date
            case .string: .string
            default: .described
            }
    }
}

extension AccessKind {
    /// The attribute type of a kind whose values are Swift's own or numbers; integers of each width are set alike.
    @inline(__always)
    var plainType: AttributeType? {
        switch self {
        case .integer16, .integer32, .integer64: .integer64
        case .boolean: .boolean
        case .float: .float
        case .double: .double
        case .date: .date
        case .string: .string
        case .described, .toOne: nil
        }
    }

    /// Whether an attribute of the kind can hold the number: validation refuses others.
    func holds(_ number: Int64) -> Bool {
        switch self {
        case .integer16: Int16(exactly: number) != nil
        case .integer32: Int32(exactly: number) != nil
        default: true
        }
    }
}

// Most properties are read by the kind of their slot: one load instead of a walk through reference-counted descriptions.
extension NSManagedObject {
    /// The slot of the property of that name.
    @inline(__always)
    final func slot(forKey key: String) -> Int? { home.slotTable.slot(key) ?? runtime.slot(forKey: key) }

    /// Whether the property is a number or a boolean, which Swift may have as a scalar.
    final func isNumber(_ slot: Int) -> Bool {
        switch home.kinds[slot] {
        case .integer16, .integer32, .integer64, .boolean, .float, .double: true
        case .described, .date, .string, .toOne: false
        }
    }

    /// As key-value coding gives it.
    final func anyValue(_ slot: Int) -> Any? {
        switch home.kinds[slot] {
        case .string: return readString(slot)
        case .integer16, .integer32, .integer64: return readInteger(slot).map(SharedNumbers.integer)
        case .boolean: return readInteger(slot).map { SharedNumbers.boolean($0 != 0) }
        case .float: return readDouble(slot).map { SharedNumbers.float(Float($0)) }
        case .double: return readDouble(slot).map { NSNumber(value: $0) }
        case .date: return readDouble(slot).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .toOne:
            noteRead(slot)
            fireIfNeeded(slot: slot)
            return toOne(slot)
        case .described: return describedValue(slot)
        }
    }
}
