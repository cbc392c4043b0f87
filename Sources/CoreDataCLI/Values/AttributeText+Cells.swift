import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

// Values on their way to the output.
extension AttributeText {
    /// An object's value of the attribute.
    func cell(_ value: Any?) -> CellValue {
        guard let value, !(value is NSNull) else { return .null }
        if let composite = attribute as? NSCompositeAttributeDescription {
            guard let values = value as? [String: Any] ?? (value as? NSDictionary) as? [String: Any] else {
                return .null
            }
            return .object(
                composite.elements.sorted { $0.name < $1.name }.map {
                    .init(name: $0.name, value: AttributeText(attribute: $0).cell(values[$0.name]))
                })
        }
        switch kind {
        case .integer:
            return (value as? NSNumber).map { .integer($0.int64Value) } ?? Self.other(value)
        case .boolean: return (value as? NSNumber).map { .boolean($0.boolValue) } ?? Self.other(value)
        case .single:
            // The shortest digits of the float: 0.1, not 0.10000000149011612.
            return (value as? NSNumber).flatMap { Double("\($0.floatValue)") }.map { .real($0) } ?? Self.other(value)
        case .decimal:
            return (value as? NSNumber).map { .decimal($0.decimalValue) } ?? Self.other(value)
        default: return Self.other(value)
        }
    }

    /// A value whose attribute is not known, such as an element of a composite.
    static func other(_ value: Any) -> CellValue {
        switch value {
        case let value as String: .text(value)
        case let value as Date: .date(value)
        case let value as Data: .data(value)
        case let value as UUID: .text(value.uuidString)
        case let value as URL: .text(value.absoluteString)
        case let value as NSDecimalNumber: .decimal(value.decimalValue)
        case let value as NSNumber: .real(value.doubleValue)
        default: .text("\(value)")
        }
    }
}
