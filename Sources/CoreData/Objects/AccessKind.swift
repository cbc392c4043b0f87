import CoreDataModel
import CoreDataPrimitives

/// How a property is read without looking at its description.
enum AccessKind: UInt8 {
    /// By its description: every other kind.
    case described
    case shortInteger
    case mediumInteger
    case longInteger
    case boolean
    case single
    case real
    case date
    case string
    case toOne

    init(_ slot: EntityRuntime.Slot) {
        if slot.attribute == nil {
            self = slot.relationship != nil && !slot.isToMany ? .toOne : .described
            return
        }
        self =
            switch slot.kind {
            case .integer: Self.integer(within: slot.type.traits.range)
            case .boolean: .boolean
            case .single: .single
            case .real: .real
            case .date: .date
            case .text: .string
            case .decimal, .link, .identifier, .bytes, .object, .reference, .composite: .described
            }
    }

    private static func integer(within range: ClosedRange<Int64>?) -> Self {
        switch range?.upperBound {
        case Int64(Int16.max): .shortInteger
        case Int64(Int32.max): .mediumInteger
        default: .longInteger
        }
    }
}
